"""The workers' code knows nothing of the sample shop: no route, table or template word of it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import chain
from pathlib import Path

import pytest

from sandbox.app_repository import APP

ROOT = Path(__file__).parents[2]
ACTIVITIES = ROOT / "activities"
SHOP = APP / "shop"
SHORTEST_WORD = 4

GENERIC_ROUTES = {
    "/": "the root of any application",
    "/ready": "the readiness path that the documentation of .outlast.toml uses",
    "/static": "where many frameworks serve files",
}
GENERIC_WORDS = {
    "plain English": "anything back days have here known like nothing that this time together "
    "within your",
    "any sign-in form, which the report grammar has to fill": "account password sign signed "
    "username",
    "any web page": "find main next page pages previous save search update",
    "words of programs": "address code contents delivery empty lines number order post remove "
    "then total",
}
ALLOWED = set(" ".join(GENERIC_WORDS.values()).split())


def collect_routes() -> set[str]:
    """Read the decorators and rules of the shop's Python files; parameters end a route."""
    found = set()
    for file in SHOP.rglob("*.py"):
        tree = ast.parse(file.read_text())
        prefix = "".join(_prefixes(tree))
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        for call in calls:
            name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            if name in {"get", "post", "add_url_rule"} and call.args:
                first = call.args[0]
                if isinstance(first, ast.Constant) and str(first.value).startswith("/"):
                    found.add(prefix + str(first.value).split("/<")[0])
    return found


def _prefixes(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "url_prefix":
            assert isinstance(node.value, ast.Constant)
            yield str(node.value.value)


def collect_tables() -> set[str]:
    schema = (SHOP / "schema.sql").read_text()
    return set(re.findall(r"CREATE TABLE IF NOT EXISTS (\w+)", schema))


class TemplateWords(HTMLParser):
    """The words a visitor or a form sees: text, and the values of naming attributes."""

    NAMING = {"id", "name", "aria-label", "for", "value", "placeholder", "title"}

    def __init__(self) -> None:
        super().__init__()
        self.words: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "meta":
            for name, value in attrs:
                if name in self.NAMING:
                    self.handle_data(value or "")

    def handle_data(self, data: str) -> None:
        self.words |= {word.lower() for word in re.findall(r"[A-Za-z_]+", data)}


def collect_template_words() -> set[str]:
    parser = TemplateWords()
    for file in SHOP.rglob("*.html"):
        parser.feed(re.sub(r"\{[{%].*?[%}]\}", " ", file.read_text(), flags=re.DOTALL))
    return {word for word in parser.words if len(word) >= SHORTEST_WORD}


def collect_ware_names() -> set[str]:
    wares = json.loads((APP / "fixtures" / "wares.json").read_text())
    return set(chain.from_iterable((ware["slug"], ware["name"].lower()) for ware in wares))


def find_leaks(text: str) -> set[str]:
    """Return the shop's own words in a text: whole words, whatever their case."""
    words = (collect_tables() | collect_template_words() | collect_ware_names()) - ALLOWED
    routes = collect_routes() - set(GENERIC_ROUTES)
    low = text.lower()
    found = {word for word in words if re.search(rf"(?<![a-z]){re.escape(word)}(?![a-z])", low)}
    return found | {route for route in routes if re.search(rf"{re.escape(route)}(?![\w-])", low)}


def worker_files() -> list[Path]:
    kinds = {".py", ".md", ".toml", ".json", ".js", ".sql", ".txt", ".html", ".lark"}
    return sorted(file for file in ACTIVITIES.rglob("*") if file.suffix in kinds)


def test_the_shops_words_are_really_collected() -> None:
    assert {"/wares", "/basket/lines", "/account/sign-in", "/account/address"} <= collect_routes()
    assert {"ware", "shopper", "basket_line", "depot_turn"} <= collect_tables()
    assert {"larder", "wrapping", "quantity", "post_code", "purchases"} <= collect_template_words()
    assert "copper kettle" in collect_ware_names()


def test_the_workers_code_has_none_of_them() -> None:
    files = worker_files()
    assert files
    leaks = {str(file.relative_to(ROOT)): find_leaks(file.read_text()) for file in files}
    assert {name: sorted(words) for name, words in leaks.items() if words} == {}


@pytest.mark.parametrize(
    ("text", "leak"),
    [
        ("open('/account/address')", "/account/address"),
        ("SELECT * FROM shopper", "shopper"),
        ("PRICE_TABLE = 1", "price"),
        ("click 'Gift'", "gift"),
        ("the Blue  mug, the blue mug", "blue mug"),
        ("/basket/lines/x", "/basket/lines"),
    ],
)
def test_a_planted_word_is_found(text: str, leak: str) -> None:
    assert leak in find_leaks(text)


def test_the_generic_words_are_few_and_all_of_them_are_template_words_or_tables() -> None:
    known = collect_template_words() | collect_tables()
    assert ALLOWED - known == set()
    assert len(ALLOWED) <= 45
