"""The REST dialect, every answer judged by GitHub's description."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from sandbox.host.tokens import BOT, REVIEWER
from tests.host.conftest import Shop, client_of, commit, git


def test_an_account_learns_its_own_login(shop: Shop) -> None:
    assert shop.bot.get("/user").json()["login"] == BOT
    assert shop.reviewer.get("/user").json()["login"] == REVIEWER


def test_a_wrong_token_is_told_so(shop: Shop) -> None:
    with client_of(shop.host, BOT) as stranger:
        stranger.headers["Authorization"] = "Bearer wrong"
        assert stranger.get("/user").status_code == 401
        assert stranger.get(shop.api).status_code == 401


def test_an_unknown_repository_is_not_found(shop: Shop) -> None:
    for path in ("", "/issues", "/pulls", "/branches/main", "/git/ref/heads/main"):
        assert shop.bot.get(f"/repos/demo/nothing{path}").status_code == 404


def test_a_repository_names_its_default_branch(shop: Shop) -> None:
    shown = shop.bot.get(shop.api).json()
    assert (shown["full_name"], shown["default_branch"]) == (f"demo/{shop.name}", "main")


def test_an_issue_is_opened_changed_and_closed(shop: Shop) -> None:
    made = shop.bot.post(f"{shop.api}/issues", json={"title": "Broken", "body": "steps"})
    assert (made.status_code, made.json()["user"]["login"]) == (201, BOT)
    number = made.json()["number"]
    changed = shop.bot.patch(
        f"{shop.api}/issues/{number}",
        json={"body": None, "state": "closed", "state_reason": "not_planned"},
    ).json()
    assert (changed["title"], changed["body"], changed["state"]) == ("Broken", None, "closed")
    assert changed["state_reason"] == "not_planned"
    assert changed["closed_at"] is not None
    opened = shop.bot.patch(f"{shop.api}/issues/{number}", json={"state": "open"}).json()
    assert (opened["state"], opened["closed_at"]) == ("open", None)


def test_an_issue_without_a_title_is_refused(shop: Shop) -> None:
    for body in ({}, {"title": ""}, {"title": 3}):
        answer = shop.bot.post(f"{shop.api}/issues", json=body)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "title")
    assert shop.bot.get(f"{shop.api}/issues", params={"state": "all"}).json() == []


def test_issues_are_listed_in_pages_that_link_to_each_other(shop: Shop) -> None:
    for title in "abcde":
        shop.bot.post(f"{shop.api}/issues", json={"title": title})
    shop.reviewer.post(f"{shop.api}/issues", json={"title": "another's"})
    titles, address = [], f"{shop.api}/issues?creator={BOT}&state=all&per_page=2"
    while address:
        page = shop.bot.get(address)
        titles.append([one["title"] for one in page.json()])
        address = page.links.get("next", {}).get("url", "")
    assert titles == [["e", "d"], ["c", "b"], ["a"]]
    oldest = shop.bot.get(f"{shop.api}/issues?direction=asc&per_page=1").json()
    assert [one["title"] for one in oldest] == ["a"]


def test_only_open_issues_are_listed_unless_asked_otherwise(shop: Shop) -> None:
    for title in ("stays", "goes"):
        number = shop.bot.post(f"{shop.api}/issues", json={"title": title}).json()["number"]
    shop.bot.patch(f"{shop.api}/issues/{number}", json={"state": "closed"})
    titles = {
        state: [one["title"] for one in shop.bot.get(f"{shop.api}/issues{state}").json()]
        for state in ("", "?state=closed", "?state=all", "?state=all&since=2999-01-01T00:00:00Z")
    }
    assert list(titles.values()) == [["stays"], ["goes"], ["goes", "stays"], []]


def test_issues_changed_since_an_instant_are_found_in_any_time_zone(shop: Shop) -> None:
    made = shop.bot.post(f"{shop.api}/issues", json={"title": "t"}).json()
    changed = datetime.fromisoformat(made["updated_at"]).astimezone(timezone(timedelta(hours=9)))

    def count(instant: datetime) -> int:
        query = {"since": instant.isoformat()}
        return len(shop.bot.get(f"{shop.api}/issues", params=query).json())

    assert (count(changed), count(changed + timedelta(seconds=1))) == (1, 0)


def test_comments_are_kept_in_order_and_edited_in_place(shop: Shop) -> None:
    number = shop.bot.post(f"{shop.api}/issues", json={"title": "t"}).json()["number"]
    address = f"{shop.api}/issues/{number}/comments"
    first = shop.bot.post(address, json={"body": "one"}).json()
    shop.reviewer.post(address, json={"body": "two"})
    changed = shop.bot.patch(f"{shop.api}/issues/comments/{first['id']}", json={"body": "1"})
    assert changed.json()["id"] == first["id"]
    assert [one["body"] for one in shop.bot.get(address).json()] == ["1", "two"]
    assert shop.bot.post(address, json={"body": ""}).status_code == 422
    assert shop.bot.post(f"{shop.api}/issues/99/comments", json={"body": "x"}).status_code == 404


def test_a_ref_is_created_once_moved_forward_and_deleted(shop: Shop) -> None:
    later = shop.branch("ahead")
    body = {"ref": "refs/heads/topic", "sha": shop.main}
    assert shop.bot.post(f"{shop.api}/git/refs", json=body).status_code == 201
    again = shop.bot.post(f"{shop.api}/git/refs", json=body)
    assert (again.status_code, again.json()["message"]) == (422, "Reference already exists")
    address = f"{shop.api}/git/refs/heads/topic"
    assert shop.bot.patch(address, json={"sha": later}).json()["object"]["sha"] == later
    back = shop.bot.patch(address, json={"sha": shop.main})
    assert (back.status_code, "fast forward" in back.json()["message"]) == (422, True)
    assert shop.bot.patch(address, json={"sha": shop.main, "force": True}).status_code == 200
    assert shop.bot.delete(address).status_code == 204
    assert shop.bot.delete(address).status_code == 422
    assert shop.bot.get(f"{shop.api}/git/ref/heads/topic").status_code == 404


@pytest.mark.parametrize("ref", ["topic", "refs/topic", "refs/heads/a..b", "refs/heads/ "])
def test_a_name_that_git_would_not_take_is_refused(shop: Shop, ref: str) -> None:
    answer = shop.bot.post(f"{shop.api}/git/refs", json={"ref": ref, "sha": shop.main})
    assert answer.status_code == 422


def test_a_ref_to_nothing_is_refused(shop: Shop) -> None:
    for sha in ("a" * 40, "main", shop.main[:10]):
        body = {"ref": "refs/heads/topic", "sha": sha}
        assert shop.bot.post(f"{shop.api}/git/refs", json=body).status_code == 422


def test_matching_refs_match_by_prefix_and_a_single_ref_by_name(shop: Shop) -> None:
    for name in ("feature", "featureA"):
        shop.branch(name)
    found = shop.bot.get(f"{shop.api}/git/matching-refs/heads/feature").json()
    assert [one["ref"] for one in found] == ["refs/heads/feature", "refs/heads/featureA"]
    assert shop.bot.get(f"{shop.api}/git/ref/heads/featur").status_code == 404


def test_the_default_branch_is_protected_and_others_are_not(shop: Shop) -> None:
    later = shop.branch("topic/one")
    assert shop.bot.get(f"{shop.api}/branches/main").json()["protected"] is True
    shown = shop.bot.get(f"{shop.api}/branches/topic/one").json()
    assert (shown["protected"], shown["commit"]["sha"]) == (False, later)
    rules = shop.bot.get(f"{shop.api}/branches/main/protection").json()
    assert rules["required_status_checks"]["strict"] is True
    assert shop.bot.get(f"{shop.api}/branches/topic/one/protection").status_code == 404
    assert shop.bot.get(f"{shop.api}/branches/none").status_code == 404
    moved = shop.bot.patch(f"{shop.api}/git/refs/heads/main", json={"sha": later})
    assert moved.status_code == 422
    assert shop.bot.delete(f"{shop.api}/git/refs/heads/main").status_code == 422
    assert shop.bare.tip("main") == shop.main


def test_a_commit_is_shown_by_id_and_by_branch(shop: Shop) -> None:
    later = shop.branch("topic")
    for name in (later, "topic", "heads/topic"):
        shown = shop.bot.get(f"{shop.api}/commits/{name}").json()
        assert (shown["sha"], shown["parents"][0]["sha"]) == (later, shop.main)
    for name in ("none", "-p", "a" * 40):
        assert shop.bot.get(f"{shop.api}/commits/{name}").status_code == 422


def test_a_login_that_may_only_read_cannot_write(shop: Shop) -> None:
    order = {
        "repository": f"demo/{shop.name}-read",
        "source": str(shop.folder),
        "collaborators": {BOT: "pull"},
    }
    assert shop.admin.post("/outlast/repositories", json=order).status_code == 201
    api = f"{shop.api}-read"
    assert shop.bot.get(api).json()["permissions"]["push"] is False
    body = {"title": "t", "head": "main", "base": "main"}
    assert shop.bot.post(f"{api}/pulls", json=body).status_code == 403
    assert shop.reviewer.get(api).status_code == 404
    git(shop.folder, "checkout", "--quiet", "-B", "topic")
    commit(shop.folder, "page.txt", "x")
    refused = git(
        shop.folder, "push", f"{shop.remote().removesuffix('.git')}-read.git", "topic", check=False
    )
    assert refused.returncode == 128
    assert "403" in refused.stderr
