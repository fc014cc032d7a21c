"""General operators on what things are called: keys, names, attributes, columns, fields."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from activities.repair.edits import Edit
from activities.repair.source import WORD, Source

MOST_ALIKE = 4
SQL = re.compile(r"\b(select|update|insert|delete|where|order\s+by)\b", re.I)
SQL_TURNS = (
    (re.compile(r"(?<![<>=!])<(?![=>])"), "<=", 0.7),
    (re.compile(r"<="), "<", 0.7),
    (re.compile(r"(?<![<=])>(?!=)"), ">=", 0.7),
    (re.compile(r">="), ">", 0.7),
    (re.compile(r"\basc\b", re.I), "DESC", 0.7),
    (re.compile(r"\bdesc\b", re.I), "ASC", 0.7),
    (re.compile(r"(?<=\s)\+(?=\s)"), "-", 0.6),
    (re.compile(r"(?<=\s)-(?=\s)"), "+", 0.6),
    (re.compile(r"\band\b", re.I), "OR", 0.4),
    (re.compile(r"\bor\b", re.I), "AND", 0.4),
    (re.compile(r"(?<!left )\bjoin\b", re.I), "LEFT JOIN", 0.4),
    (re.compile(r"\bsum\b", re.I), "COUNT", 0.3),
    (re.compile(r"\bcount\b", re.I), "SUM", 0.3),
    (re.compile(r"\bmin\b", re.I), "MAX", 0.4),
    (re.compile(r"\bmax\b", re.I), "MIN", 0.4),
)


@dataclass(frozen=True)
class Vocabulary:
    """What the application calls things: keys and columns in code, fields in templates."""

    words: frozenset[str]

    def alike(self, word: str) -> list[tuple[str, float]]:
        """Return the most similar other words with how alike they are, best first."""
        plain = _plain(word)
        scored = [
            (other, difflib.SequenceMatcher(None, plain, _plain(other)).ratio())
            for other in self.words
            if other != word
        ]
        near = sorted((pair for pair in scored if pair[1] >= 0.55), key=lambda p: (-p[1], p[0]))
        return near[:MOST_ALIKE]


def keys(source: Source, node: ast.AST, vocabulary: Vocabulary) -> Iterator[Edit]:
    """Put a similar key in a key's place."""
    if (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and WORD.match(node.value)
        and source.text(node)[:1] in "\"'"
    ):
        quote = source.text(node)[0]
        for other, ratio in vocabulary.alike(node.value):
            prior = 0.3 + 0.7 * ratio
            yield source.replace(node, f"{quote}{other}{quote}", "similar-key", prior)


def attributes(source: Source, node: ast.AST, vocabulary: Vocabulary) -> Iterator[Edit]:
    """Put a similar attribute in an attribute's place."""
    if isinstance(node, ast.Attribute):
        for other, ratio in vocabulary.alike(node.attr):
            if other.isidentifier():
                new = f"{source.text(node.value)}.{other}"
                yield source.replace(node, new, "similar-attribute", 0.4 * ratio)


def siblings(source: Source, function: ast.AST) -> Iterator[Edit]:
    """Put another name of the same function in a name's place, where it is read."""
    known = sorted(
        {
            node.id
            for node in ast.walk(function)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        | {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    )
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in known:
            for other in known:
                if other not in (node.id, "self", "cls"):
                    yield source.replace(node, other, "sibling-name", 0.25)


def terms(source: Source, function: ast.AST) -> Iterator[Edit]:
    """Bring a number of the same function into a sum or a product that lacks it."""
    known = sorted(
        {
            source.text(node)
            for node in ast.walk(function)
            if isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Load)
        }
    )[:12]
    for node in ast.walk(function):
        if isinstance(node, ast.BinOp) and type(node.op) in (ast.Add, ast.Sub, ast.Mult):
            present = {source.text(each) for each in ast.walk(node) if isinstance(each, ast.expr)}
            for other in known:
                if other not in present:
                    for sign in ("+", "-", "*"):
                        new = f"{source.text(node)} {sign} {other}"
                        yield source.replace(node, new, "term-added", 0.12)


def lists(source: Source, node: ast.AST, vocabulary: Vocabulary) -> Iterator[Edit]:
    """Add a key that a list of keys, a dictionary or a call's keywords may lack."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set) and len(node.elts) >= 2:
        present = {e.value for e in node.elts if isinstance(e, ast.Constant)}
        if len(present) == len(node.elts) and all(isinstance(p, str) for p in present):
            for other in sorted(vocabulary.words - present):
                last = node.elts[-1]
                new = f'{source.text(last)}, "{other}"'
                yield source.replace(last, new, "key-added", 0.3)
    if isinstance(node, ast.Dict) and len(node.keys) >= 2:
        yield from _entries(source, node, vocabulary)


def _entries(source: Source, node: ast.Dict, vocabulary: Vocabulary) -> Iterator[Edit]:
    """Add an entry made like its last one, with another key in it."""
    key, value = node.keys[-1], node.values[-1]
    if not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
        return
    present = {k.value for k in node.keys if isinstance(k, ast.Constant)}
    for other in sorted(vocabulary.words - present):
        made = source.text(value).replace(key.value, other)
        new = f'{source.text(value)}, "{other}": {made}'
        yield source.replace(value, new, "entry-added", 0.3)


def sql(source: Source, node: ast.AST, vocabulary: Vocabulary) -> Iterator[Edit]:
    """Turn an operator, an order or a column inside of a statement."""
    if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        return
    if not SQL.search(node.value) or isinstance(node.value, bytes):
        return
    text = source.text(node)
    for pattern, new, prior in SQL_TURNS:
        for match in pattern.finditer(text):
            changed = text[: match.start()] + new + text[match.end() :]
            yield source.replace(node, changed, "sql-operator", prior)
    for match in re.finditer(r"\b[a-z_]{3,}\b", text):
        for other, ratio in vocabulary.alike(match.group()):
            changed = text[: match.start()] + other + text[match.end() :]
            yield source.replace(node, changed, "sql-column", 0.5 * ratio)


def template_edits(path: str, data: bytes, vocabulary: Vocabulary) -> Iterator[Edit]:
    """Put a similar name into a field or an expression of a template; move its boundaries."""
    text = data.decode(errors="replace")
    for match in re.finditer(r'\b(?:name|for)="([\w-]+)"|\{\{[^}]*?([a-z_]\w{2,})\s*[|}]', text):
        group = 1 if match.group(1) else 2
        for other, ratio in vocabulary.alike(match.group(group)):
            yield _text_edit(
                path, text, match.span(group), other, ("template-name", 0.3 + 0.4 * ratio)
            )
    for match in re.finditer(r"\{%[^%]*?(\s<=?\s|\s>=?\s|\s==\s|\s!=\s)[^%]*%\}", text):
        word = match.group(1).strip()
        turned = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}[word]
        yield _text_edit(path, text, match.span(1), f" {turned} ", ("template-comparison", 0.8))


def vocabulary_of(sources: Iterable[Source], templates: Iterable[str]) -> Vocabulary:
    """Collect what an application calls things."""
    words = {word for source in sources for word in source.words()}
    statements = [
        node.value
        for source in sources
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.search(node.value)
    ]
    for statement in statements:
        words |= set(re.findall(r"\b[a-z_]{3,}\b", statement))
    for text in templates:
        words |= set(re.findall(r'\b(?:name|id|for)="([A-Za-z_][\w-]+)"', text))
    return Vocabulary(frozenset(words))


def _text_edit(
    path: str, text: str, span: tuple[int, int], new: str, how: tuple[str, float]
) -> Edit:
    begin = len(text[: span[0]].encode())
    end = begin + len(text[span[0] : span[1]].encode())
    return Edit(path, begin, end, new, how[0], text.count("\n", 0, span[0]) + 1, how[1])


def _plain(word: str) -> str:
    return word.lower().replace("_", "").replace("-", "")
