"""Pull requests, reviews, drafts and merges, every REST answer judged by GitHub's description."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.host.tokens import BOT, REVIEWER
from tests.host.conftest import Shop, commit, git

STRICT = pytest.mark.parametrize("strict", [True], indirect=True)
LENIENT = pytest.mark.parametrize("strict", [False], indirect=True)
DRAFT = """
mutation Draft($input: ConvertPullRequestToDraftInput!) {
  convertPullRequestToDraft(input: $input) { clientMutationId pullRequest { id isDraft } }
}
"""
READY = """
mutation { ready: markPullRequestReadyForReview(input: {pullRequestId: "%s"}) {
  pullRequest { number isDraft state }  # what is wanted
} }
"""


def graphql(shop: Shop, query: str, variables: dict[str, Any] | None = None) -> dict[str, Any]:
    """Send a query as the bot, with a client that nobody judges: it is not REST."""
    body = {"query": query, "variables": variables}
    answer = shop.admin.post("/graphql", json=body, headers=dict(shop.bot.headers))
    assert answer.status_code == 200
    content: dict[str, Any] = answer.json()
    return content


def merge(shop: Shop, pull: dict[str, Any], **body: Any) -> tuple[int, dict[str, Any]]:
    """Try the merge of a pull request."""
    answer = shop.bot.put(f"{shop.api}/pulls/{pull['number']}/merge", json=body)
    return answer.status_code, answer.json()


def refused(shop: Shop, **fields: Any) -> str:
    """Open a pull request in vain and return what GitHub's errors say."""
    body = {"title": "t", "base": "main", **fields}
    answer = shop.bot.post(f"{shop.api}/pulls", json=body)
    assert answer.status_code == 422, answer.text
    error = answer.json()["errors"][0]
    return str(error.get("message") or f"{error['field']} {error['code']}")


def test_a_draft_pull_request_shows_both_ends(shop: Shop) -> None:
    sha = shop.branch("topic")
    pull = shop.open_pull("topic", draft=True, body="<!-- outlast:i:op -->")
    assert (pull["draft"], pull["head"]["sha"], pull["base"]["sha"]) == (True, sha, shop.main)
    assert (pull["mergeable_state"], pull["commits"], pull["changed_files"]) == ("draft", 1, 1)
    as_issue = shop.bot.get(f"{shop.api}/issues/{pull['number']}").json()
    assert as_issue["pull_request"]["merged_at"] is None
    assert [one["number"] for one in shop.bot.get(f"{shop.api}/issues").json()] == [pull["number"]]


def test_a_second_open_pull_request_of_the_same_ends_is_refused(shop: Shop) -> None:
    shop.branch("topic")
    first = shop.open_pull("topic")
    assert refused(shop, head="topic") == "A pull request already exists for demo:topic."
    shop.bot.patch(f"{shop.api}/pulls/{first['number']}", json={"state": "closed"})
    second = shop.open_pull("demo:topic")
    assert second["number"] == first["number"] + 1
    again = shop.bot.patch(f"{shop.api}/pulls/{first['number']}", json={"state": "open"})
    assert again.status_code == 422


def test_a_pull_request_needs_two_branches_and_commits_between(shop: Shop) -> None:
    shop.branch("topic")
    git(shop.folder, "push", shop.remote(), f"{shop.main}:refs/heads/same")
    assert refused(shop, head="same") == "No commits between main and same"
    assert refused(shop, head="none") == "head invalid"
    assert refused(shop, head="another:topic") == "head invalid"
    assert refused(shop, head="topic~0") == "head invalid"
    assert refused(shop, head="topic", base="none") == "base invalid"


def test_a_branch_of_another_history_is_shown_and_never_merged(shop: Shop) -> None:
    git(shop.folder, "checkout", "--quiet", "--orphan", "island")
    alone = commit(shop.folder, "page.txt", "alone\n")
    assert shop.push("island:refs/heads/island").returncode == 0
    assert "no history in common" in refused(shop, head="island")
    shop.branch("topic")
    pull = shop.open_pull("topic")
    assert shop.push("--force", "island:refs/heads/topic").returncode == 0
    shown = shop.bot.get(f"{shop.api}/pulls/{pull['number']}").json()
    assert (shown["head"]["sha"], shown["mergeable_state"]) == (alone, "dirty")
    assert merge(shop, pull, sha=alone)[0] == 405


def test_the_list_filters_by_head_base_and_state_and_ignores_a_bare_branch(shop: Shop) -> None:
    for name in ("one", "two"):
        shop.branch(name)
        number = shop.open_pull(name)["number"]
    shop.bot.patch(f"{shop.api}/pulls/{number}", json={"state": "closed"})

    def heads(**query: str) -> list[str]:
        found = shop.bot.get(f"{shop.api}/pulls", params=query).json()
        return [one["head"]["ref"] for one in found]

    assert heads() == ["one"]
    assert heads(head="demo:two") == []
    assert heads(head="demo:two", state="all") == ["two"]
    assert heads(head="two") == ["one"]
    assert heads(state="all") == ["two", "one"]
    assert heads(state="all", base="other") == []


def test_title_and_text_are_set_and_draft_is_not(shop: Shop) -> None:
    shop.branch("topic")
    number = shop.open_pull("topic", draft=True)["number"]
    body = {"title": "new", "body": "text", "draft": False}
    changed = shop.bot.patch(f"{shop.api}/pulls/{number}", json=body).json()
    assert (changed["title"], changed["body"], changed["draft"]) == ("new", "text", True)


def test_a_reviewer_leaves_the_requested_list_by_reviewing(shop: Shop) -> None:
    sha = shop.branch("topic")
    address = f"{shop.api}/pulls/{shop.open_pull('topic')['number']}"

    def requested() -> list[str]:
        users = shop.bot.get(f"{address}/requested_reviewers").json()["users"]
        return [one["login"] for one in users]

    for _ in range(2):
        body = {"reviewers": [REVIEWER]}
        assert shop.bot.post(f"{address}/requested_reviewers", json=body).status_code == 201
    assert requested() == [REVIEWER]
    for login in ("stranger", BOT):
        body = {"reviewers": [login]}
        assert shop.bot.post(f"{address}/requested_reviewers", json=body).status_code == 422
    made = shop.reviewer.post(f"{address}/reviews", json={"event": "APPROVE"})
    assert (made.status_code, made.json()["state"], made.json()["commit_id"]) == (
        200,
        "APPROVED",
        sha,
    )
    assert requested() == []
    assert [one["user"]["login"] for one in shop.bot.get(f"{address}/reviews").json()] == [REVIEWER]


def test_nobody_approves_their_own_pull_request(shop: Shop) -> None:
    shop.branch("topic")
    address = f"{shop.api}/pulls/{shop.open_pull('topic')['number']}/reviews"
    assert shop.bot.post(address, json={"event": "APPROVE"}).status_code == 422
    assert shop.bot.post(address, json={"event": "NONSENSE"}).status_code == 422
    assert shop.bot.get(address).json() == []


def test_a_draft_is_made_ready_and_a_draft_again_by_graphql_only(shop: Shop) -> None:
    shop.branch("topic")
    pull = shop.open_pull("topic", draft=True)
    number, node = pull["number"], pull["node_id"]
    assert graphql(shop, READY % node) == {
        "data": {"ready": {"pullRequest": {"number": number, "isDraft": False, "state": "OPEN"}}}
    }
    assert shop.bot.get(f"{shop.api}/pulls/{number}").json()["draft"] is False
    sent = {"input": {"pullRequestId": node, "clientMutationId": "mine"}}
    assert graphql(shop, DRAFT, sent) == {
        "data": {
            "convertPullRequestToDraft": {
                "clientMutationId": "mine",
                "pullRequest": {"id": node, "isDraft": True},
            }
        }
    }
    assert shop.bot.get(f"{shop.api}/pulls/{number}").json()["draft"] is True


def test_graphql_says_what_it_cannot_do(shop: Shop) -> None:
    lost = graphql(shop, READY % "PR_none")
    assert lost["data"] == {"ready": None}
    assert (lost["errors"][0]["type"], lost["errors"][0]["path"]) == ("NOT_FOUND", ["ready"])
    shop.branch("topic")
    pull = shop.open_pull("topic", draft=True)
    unknown_field = READY.replace("isDraft", "colour") % pull["node_id"]
    for query in ("{ viewer { login } }", "mutation { deleteRef { id } }", "mutation {", "\\"):
        assert list(graphql(shop, query)) == ["errors"]
    assert "colour" in graphql(shop, unknown_field)["errors"][0]["message"]
    assert shop.bot.get(f"{shop.api}/pulls/{pull['number']}").json()["draft"] is True
    shop.bot.patch(f"{shop.api}/pulls/{pull['number']}", json={"state": "closed"})
    closed = graphql(shop, READY % pull["node_id"])
    assert closed["errors"][0]["type"] == "UNPROCESSABLE"


def test_a_merge_is_a_commit_with_both_parents(shop: Shop) -> None:
    sha = shop.branch("topic")
    pull = shop.open_pull("topic")
    assert shop.bot.get(f"{shop.api}/pulls/{pull['number']}/merge").status_code == 404
    status, body = merge(shop, pull, sha=sha, merge_method="merge")
    assert (status, body["merged"]) == (200, True)
    assert shop.bare.tip("main") == body["sha"]
    assert shop.bare.read_commit(body["sha"]).parents == (shop.main, sha)
    assert shop.bare.run("show", "main:page.txt") == "changed\n"
    shown = shop.bot.get(f"{shop.api}/pulls/{pull['number']}").json()
    assert (shown["merged"], shown["state"], shown["merge_commit_sha"]) == (
        True,
        "closed",
        body["sha"],
    )
    assert (shown["head"]["sha"], shown["base"]["sha"]) == (sha, shop.main)
    assert shop.bot.get(f"{shop.api}/pulls/{pull['number']}/merge").status_code == 204
    assert merge(shop, pull, sha=sha)[0] == 405
    assert shop.bare.tip("main") == body["sha"]


def test_a_squash_has_one_parent(shop: Shop) -> None:
    shop.branch("topic")
    status, body = merge(shop, shop.open_pull("topic"), merge_method="squash", commit_title="One")
    assert status == 200
    facts = shop.bare.read_commit(body["sha"])
    assert (facts.parents, facts.message.splitlines()[0]) == ((shop.main,), "One")


def test_a_merge_names_the_head_it_has_seen(shop: Shop) -> None:
    seen = shop.branch("topic")
    pull = shop.open_pull("topic")
    order = {"repository": f"demo/{shop.name}", "branch": "topic"}
    moved = shop.admin.post("/outlast/move", json=order).json()
    assert moved["previous"] == seen
    status, body = merge(shop, pull, sha=seen)
    assert (status, body["message"]) == (
        409,
        "Head branch was modified. Review and try the merge again.",
    )
    assert shop.bare.tip("main") == shop.main
    shown = shop.bot.get(f"{shop.api}/pulls/{pull['number']}").json()
    assert shown["head"]["sha"] == moved["revision"]
    assert merge(shop, pull, sha=moved["revision"])[0] == 200


def test_a_draft_is_not_merged(shop: Shop) -> None:
    sha = shop.branch("topic")
    status, body = merge(shop, shop.open_pull("topic", draft=True), sha=sha)
    assert (status, body["message"]) == (405, "Pull Request is still a draft")
    assert shop.bare.tip("main") == shop.main


@STRICT
def test_a_strict_base_that_moved_refuses_the_merge(shop: Shop) -> None:
    sha = shop.branch("topic")
    pull = shop.open_pull("topic")
    order = {"repository": f"demo/{shop.name}", "branch": "main"}
    moved = shop.admin.post("/outlast/move", json=order).json()["revision"]
    assert shop.bot.get(f"{shop.api}/pulls/{pull['number']}").json()["mergeable_state"] == "behind"
    assert merge(shop, pull, sha=sha)[0] == 405
    assert shop.bare.tip("main") == moved


@LENIENT
def test_a_lenient_base_that_moved_takes_the_merge(shop: Shop) -> None:
    sha = shop.branch("topic")
    pull = shop.open_pull("topic")
    order = {"repository": f"demo/{shop.name}", "branch": "main"}
    moved = shop.admin.post("/outlast/move", json=order).json()["revision"]
    status, body = merge(shop, pull, sha=sha)
    assert status == 200
    assert shop.bare.read_commit(body["sha"]).parents == (moved, sha)


@LENIENT
def test_a_conflict_is_not_mergeable(shop: Shop) -> None:
    shop.branch("topic")
    pull = shop.open_pull("topic")
    order = {"repository": f"demo/{shop.name}", "branch": "main", "path": "page.txt"}
    moved = shop.admin.post("/outlast/move", json={**order, "content": "else\n"}).json()
    shown = shop.bot.get(f"{shop.api}/pulls/{pull['number']}").json()
    assert (shown["mergeable"], shown["mergeable_state"]) == (False, "dirty")
    assert merge(shop, pull)[1]["message"] == "Pull Request is not mergeable"
    assert shop.bare.tip("main") == moved["revision"]


def test_a_closed_pull_request_is_not_merged_until_reopened(shop: Shop) -> None:
    sha = shop.branch("topic")
    pull = shop.open_pull("topic")
    address = f"{shop.api}/pulls/{pull['number']}"
    assert shop.bot.patch(address, json={"state": "closed"}).json()["state"] == "closed"
    assert merge(shop, pull, sha=sha)[0] == 405
    assert shop.bot.patch(address, json={"state": "open"}).json()["state"] == "open"
    assert merge(shop, pull, sha=sha)[0] == 200
    assert shop.bot.patch(address, json={"state": "open"}).status_code == 422


def test_a_pull_request_closes_when_its_branch_is_deleted(shop: Shop) -> None:
    shop.branch("topic")
    address = f"{shop.api}/pulls/{shop.open_pull('topic')['number']}"
    assert shop.bot.delete(f"{shop.api}/git/refs/heads/topic").status_code == 204
    assert shop.bot.get(address).json()["state"] == "closed"
    assert shop.bot.patch(address, json={"state": "open"}).status_code == 422


def test_a_pull_request_follows_a_push(shop: Shop) -> None:
    shop.branch("topic")
    address = f"{shop.api}/pulls/{shop.open_pull('topic')['number']}"
    later = commit(shop.folder, "page.txt", "again\n")
    assert shop.push("topic:refs/heads/topic").returncode == 0
    shown = shop.bot.get(address).json()
    assert (shown["head"]["sha"], shown["commits"]) == (later, 2)
