"""The judge itself: what GitHub would never say is found."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.host.conftest import Shop
from tests.host.judge import EXTRACT, NotLikeGitHub, judge, route_of


def doctored(answer: httpx.Response, status: int | None = None, **change: Any) -> httpx.Response:
    """Return the same answer with another status or other fields; DROP leaves a field out."""
    content = answer.json()
    body = [*content] if isinstance(content, list) else {**content, **change}
    if isinstance(body, dict):
        body = {name: value for name, value in body.items() if value is not DROP}
    return httpx.Response(status or answer.status_code, json=body, request=answer.request)


DROP = object()


@pytest.mark.parametrize(
    "change",
    [
        {"number": "1"},
        {"node_id": DROP},
        {"user": {"login": "somebody"}},
        {"created_at": None},
        {"state_reason": "bored"},
        {"comments": None},
    ],
)
def test_a_doctored_issue_is_found(shop: Shop, change: dict[str, Any]) -> None:
    made = shop.bot.post(f"{shop.api}/issues", json={"title": "t"})
    judge(doctored(made))
    with pytest.raises(NotLikeGitHub):
        judge(doctored(made, **change))


@pytest.mark.parametrize(
    "change", [{"draft": "yes"}, {"merged": DROP}, {"head": {"ref": "topic"}}, {"state": "merged"}]
)
def test_a_doctored_pull_request_is_found(shop: Shop, change: dict[str, Any]) -> None:
    shop.branch("topic")
    shown = shop.bot.get(f"{shop.api}/pulls/{shop.open_pull('topic')['number']}")
    judge(doctored(shown))
    with pytest.raises(NotLikeGitHub):
        judge(doctored(shown, **change))


def test_a_status_or_route_that_github_lacks_is_found(shop: Shop) -> None:
    made = shop.bot.post(f"{shop.api}/issues", json={"title": "t"})
    for status in (200, 202, 409, 418):
        with pytest.raises(NotLikeGitHub):
            judge(doctored(made, status))
    for method, path in (("GET", "/outlast/extensions"), ("PUT", f"{shop.api}/issues")):
        with pytest.raises(NotLikeGitHub):
            shop.bot.request(method, path)


def test_a_body_where_github_sends_none_is_found(shop: Shop) -> None:
    shop.branch("topic")
    gone = shop.bot.delete(f"{shop.api}/git/refs/heads/topic")
    with pytest.raises(NotLikeGitHub):
        judge(httpx.Response(204, content=b"{}", request=gone.request))


def test_paths_belong_to_the_most_exact_route() -> None:
    api = "/repos/{owner}/{repo}"
    for path, route in (
        ("/repos/a/b/issues/comments/1", f"{api}/issues/comments/{{comment_id}}"),
        ("/repos/a/b/branches/x/y/protection", f"{api}/branches/{{branch}}/protection"),
        ("/repos/a/b/branches/x/y", f"{api}/branches/{{branch}}"),
        ("/repos/a/b/git/refs/heads/x/y", f"{api}/git/refs/{{ref}}"),
        ("/repos/a/b/nothing", None),
    ):
        assert route_of(path) == route


def test_the_extract_is_small_and_whole() -> None:
    text = EXTRACT.read_text(encoding="utf-8")
    content = json.loads(text)
    named = {part.split('"')[0] for part in text.split('"#/components/schemas/')[1:]}
    assert named <= set(content["components"]["schemas"])
    assert len(text) < 400_000
