"""What the host serves is exactly what GitHub describes: no route more, no status more."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute

from sandbox.host.connections import Connections
from sandbox.host.server import PARTS, build_app
from sandbox.host.tokens import BOT
from tests.host.conftest import Shop
from tests.host.judge import description

OWN = ("/outlast/", "/graphql", "/{owner}/{repo}.git/")
Readable = tuple[Shop, str, dict[str, str]]
WRITES: list[tuple[str, str, dict[str, Any] | None, int]] = [
    ("POST", "/issues/{n}/comments", {"body": "b"}, 201),
    ("PATCH", "/issues/{n}", {"title": "t"}, 403),
    ("PATCH", "/issues/comments/{c}", {"body": "b"}, 404),
    ("POST", "/git/refs", {"ref": "refs/heads/x", "sha": "{main}"}, 404),
    ("PATCH", "/git/refs/heads/topic", {"sha": "{main}"}, 404),
    ("DELETE", "/git/refs/heads/topic", None, 404),
    ("POST", "/pulls", {"title": "t", "head": "topic", "base": "main"}, 403),
    ("PATCH", "/pulls/{n}", {"title": "t"}, 403),
    ("POST", "/pulls/{n}/requested_reviewers", {"reviewers": []}, 403),
    ("PUT", "/pulls/{n}/merge", {}, 403),
]


def plain(path: str) -> str:
    """Return a path with its parameters nameless."""
    return re.sub(r"\{[^}]*\}", "{}", path)


def served() -> Iterator[tuple[str, str]]:
    """Yield (method, path) of every route in GitHub's dialect."""
    for part in PARTS:
        for route in part.router.routes:
            assert isinstance(route, APIRoute)
            if not route.path.startswith(OWN):
                yield from ((method.lower(), plain(route.path)) for method in route.methods or ())


def test_the_routes_served_are_the_routes_described() -> None:
    paths = description()["paths"].items()
    described = {(method, plain(path)) for path, methods in paths for method in methods}
    assert set(served()) == described


@pytest.fixture
def readable(shop: Shop) -> Readable:
    """Return a repository that the bot may only read, with something in it to be changed."""
    shop.branch("topic")
    api = f"{shop.api}-read"
    order = {
        "repository": f"demo/{shop.name}-read",
        "source": str(shop.bare.path),
        "collaborators": {BOT: "pull"},
    }
    assert shop.admin.post("/outlast/repositories", json=order).status_code == 201
    body = {"title": "t", "head": "topic", "base": "main"}
    number = str(shop.admin.post(f"{api}/pulls", json=body).json()["number"])
    comment = shop.admin.post(f"{api}/issues/{number}/comments", json={"body": "b"}).json()["id"]
    return shop, api, {"n": number, "c": str(comment), "main": shop.main}


@pytest.mark.parametrize(("method", "path", "body", "status"), WRITES)
def test_a_reader_is_refused_with_a_status_that_github_describes(
    readable: Readable,
    method: str,
    path: str,
    body: dict[str, Any] | None,
    status: int,
) -> None:
    shop, api, names = readable
    text = json.dumps(body) if body is not None else ""
    for name, value in names.items():
        path, text = path.replace(f"{{{name}}}", value), text.replace(f"{{{name}}}", value)
    before = shop.bare.refs()
    assert shop.bot.request(method, f"{api}{path}", content=text).status_code == status
    assert shop.bare.refs() == before


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", "/issues"),
        ("DELETE", "/pulls/1"),
        ("PUT", "/pulls/1/ready_for_review"),
        ("POST", "/pulls/1/ready_for_review"),
        ("GET", "/nothing"),
    ],
)
def test_what_github_does_not_serve_is_not_found(shop: Shop, method: str, path: str) -> None:
    answer = shop.admin.request(method, f"{shop.api}{path}", json={})
    assert (answer.status_code, answer.json()["message"]) == (404, "Not Found")


def test_the_journal_knows_each_body_by_its_hash(shop: Shop) -> None:
    body = json.dumps({"title": "hashed"}).encode()
    shop.bot.post(f"{shop.api}/issues", content=body)
    shop.bot.get(f"{shop.api}/issues")
    [posted, read] = shop.journal()[-2:]
    assert posted["body_sha256"] == hashlib.sha256(body).hexdigest()
    assert read["body_sha256"] is None


def test_a_folder_from_before_the_hash_is_served(tmp_path: Path) -> None:
    build_app(tmp_path, True, Connections())
    with sqlite3.connect(tmp_path / "host.sqlite3") as db:
        db.execute("ALTER TABLE journal DROP COLUMN body_sha256")
    db.close()
    build_app(tmp_path, True, Connections())
    with sqlite3.connect(tmp_path / "host.sqlite3") as db:
        names = {row[1] for row in db.execute("PRAGMA table_info(journal)")}
    db.close()
    assert "body_sha256" in names
