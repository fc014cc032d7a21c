"""The merge: the approved head on the approved base, or nothing; and what it joined is read."""

from __future__ import annotations

import pytest

from activities.github.merge import Merge
from activities.github.pull_requests import ClosePullRequest
from activities.github.pull_state import PullStates
from activities.github.readiness import convert_to_draft, mark_ready
from activities.mutation import (
    Absent,
    Applied,
    Conflicting,
    Found,
    NotSent,
    Outcome,
    Refused,
    Unreadable,
    Unsettled,
)
from orchestrator.contracts.payload import JsonObject
from orchestrator.contracts.work import Revalidate
from orchestrator.domain.failures import ActivityFailed, FailureKind
from tests.support.canned import Said, answering, shown_pull
from tests.support.desk import REPOSITORY, Desk, call, merge_request


def approved(desk: Desk, name: str) -> JsonObject:
    """Open a pull request that is ready and return the request to merge it."""
    number, head = desk.draft(name)
    request = {"repository": REPOSITORY, "number": number}
    assert isinstance(mark_ready(desk.host).perform(request, call(name)), Applied)
    return merge_request(desk, number, head)


def merge(desk: Desk, request: JsonObject, name: str) -> Outcome:
    """Merge it, as an operation of that run."""
    return Merge(desk.host, desk.remote).perform(request, call(name))


@pytest.mark.parametrize("method", ["merge", "squash"])
def test_a_merge_joins_the_approved_base_and_head(desk: Desk, method: str) -> None:
    name = f"joined-{method}"
    request = {**approved(desk, name), "method": method}
    outcome = merge(desk, request, name)
    assert isinstance(outcome, Applied)
    ends = [request["base_revision"], request["sha"]]
    assert outcome.facts["parents"] == ends[: 1 if method == "squash" else 2]
    assert outcome.reference == desk.main()


def test_a_merge_whose_parents_cannot_be_read_is_not_yet_called_merged(desk: Desk) -> None:
    request = approved(desk, "parents")
    desk.fault("error_after", "GET", "/commits/", times=2)
    assert isinstance(merge(desk, request, "parents"), Unsettled)
    mutation = Merge(desk.host, desk.remote)
    assert isinstance(mutation.observe(request, call("parents")), Unreadable)
    seen = mutation.observe(request, call("parents"))
    assert isinstance(seen, Found)
    assert seen.facts["parents"] == [request["base_revision"], request["sha"]]


def test_a_merge_of_what_the_host_does_not_show_waits_for_a_person(desk: Desk) -> None:
    """A token that may not see a repository is told 404, as for one that is not there."""
    request = merge_request(desk, 99_999, "a" * 40)
    seen = Merge(desk.host, desk.remote).observe(request, call("not-shown"))
    assert isinstance(seen, Unreadable)
    assert seen.kind is FailureKind.PERMANENT


def test_a_pull_request_that_was_turned_to_another_base_is_not_merged_there(desk: Desk) -> None:
    request = approved(desk, "turned")
    main = {"ref": "refs/heads/release", "sha": request["base_revision"]}
    desk.admin("POST", f"/repos/{REPOSITORY}/git/refs", main)
    pull = f"/repos/{REPOSITORY}/pulls/{request['number']}"
    desk.admin("PATCH", pull, {"base": "release"})
    refused = merge(desk, request, "turned")
    assert isinstance(refused, Refused)
    assert "targets release" in refused.reason
    assert desk.tip("release") == request["base_revision"]


def test_a_base_that_moved_is_refused_before_anything_is_sent(desk: Desk) -> None:
    request = approved(desk, "base")
    moved, before = desk.move("main"), desk.applied()
    refused = merge(desk, request, "base")
    assert isinstance(refused, Refused)
    assert (refused.kind, refused.facts) == (FailureKind.POLICY_BOUND, {"base_revision": moved})
    assert desk.applied() == before


def test_a_strict_host_refuses_a_base_that_moves_in_the_last_moment(strict: Desk) -> None:
    request = approved(strict, "last")
    fault = strict.fault("hold_before", "PUT", "/merge$")
    outcome: list[Outcome] = []
    with strict.aside(lambda: outcome.append(merge(strict, request, "last"))):
        strict.admin("GET", f"/outlast/faults/{fault}?wait=fired")
        moved = strict.move("main")
        strict.admin("POST", f"/outlast/faults/{fault}/release")
    assert isinstance(outcome[0], Refused)
    assert outcome[0].kind is FailureKind.POLICY_BOUND
    assert strict.main() == moved


def test_a_lenient_host_merges_on_a_base_that_moved_and_the_parents_tell(desk: Desk) -> None:
    request = approved(desk, "lenient")
    fault = desk.fault("hold_before", "PUT", "/merge$")
    outcome: list[Outcome] = []
    with desk.aside(lambda: outcome.append(merge(desk, request, "lenient"))):
        desk.admin("GET", f"/outlast/faults/{fault}?wait=fired")
        moved = desk.move("main")
        desk.admin("POST", f"/outlast/faults/{fault}/release")
    assert isinstance(outcome[0], Applied)
    assert outcome[0].facts["parents"] == [moved, request["sha"]]


def test_a_merge_in_flight_is_refused_once_the_pull_request_is_a_draft_again(desk: Desk) -> None:
    request = approved(desk, "flight")
    fault = desk.fault("hold_before", "PUT", "/merge$")
    outcome: list[Outcome] = []
    with desk.aside(lambda: outcome.append(merge(desk, request, "flight"))):
        desk.admin("GET", f"/outlast/faults/{fault}?wait=fired")
        draft = {"repository": REPOSITORY, "number": request["number"]}
        assert isinstance(convert_to_draft(desk.host).perform(draft, call("flight")), Applied)
        desk.admin("POST", f"/outlast/faults/{fault}/release")
    assert isinstance(outcome[0], Refused)
    seen = Merge(desk.host, desk.remote).observe(request, call("flight"))
    assert isinstance(seen, Absent)
    assert seen.conclusive


def test_what_people_closed_or_merged_with_another_head_is_a_conflict(desk: Desk) -> None:
    closed, other = approved(desk, "closed"), approved(desk, "other")
    pull = {"repository": REPOSITORY, "number": closed["number"]}
    assert isinstance(ClosePullRequest(desk.host).perform(pull, call("closed")), Applied)
    desk.move("other")
    path = f"/repos/{REPOSITORY}/pulls/{other['number']}/merge"
    theirs = desk.admin("PUT", path, {"merge_method": "merge"})["sha"]
    for request, facts in ((closed, {}), (other, {"merge_commit": theirs})):
        seen = Merge(desk.host, desk.remote).observe(request, call("c"))
        assert isinstance(seen, Conflicting)
        assert seen.facts == facts
        assert isinstance(merge(desk, request, "c"), Refused)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("Base branch was modified. Review and try the merge again.", NotSent),
        ("Pull Request is not mergeable", Refused),
        ("Required status check is expected.", Refused),
    ],
)
def test_a_405_is_read_by_its_words(desk: Desk, words: str, kind: type) -> None:
    request = merge_request(desk, 1, "1" * 40)

    def answer(method: str, _path: str) -> Said:
        if method == "GET":
            return Said(200, shown_pull(1, "", draft=False))
        return Said(405, {"message": words})

    with answering(answer) as url:
        host = type(desk.host)(url, desk.host.secrets)
        outcome = Merge(host, desk.remote).perform(request, call("405"))
    assert isinstance(outcome, kind)


def test_a_merged_pull_request_can_no_longer_be_closed(desk: Desk) -> None:
    request = approved(desk, "merged")
    done = merge(desk, request, "merged")
    assert isinstance(done, Applied)
    pull = {"repository": REPOSITORY, "number": request["number"]}
    refused = ClosePullRequest(desk.host).perform(pull, call("merged"))
    assert isinstance(refused, Refused)
    assert refused.facts == {"merge_commit": done.reference}


def asked(number: int, branch: str) -> Revalidate:
    """Return the question about a pull request."""
    return Revalidate(repository=REPOSITORY, number=number, branch=branch, base="main")


def test_a_pull_request_is_read_with_its_branch_and_base_as_the_repository_says(
    desk: Desk,
) -> None:
    number, head = desk.draft("state")
    seen = PullStates(desk.host, desk.remote).read(asked(number, "state"))
    assert (seen.state, seen.draft, seen.merged) == ("open", True, False)
    assert (seen.head, seen.base, seen.base_revision) == (head, "main", desk.main())


def test_a_pull_request_that_lags_behind_its_branch_is_not_known(desk: Desk) -> None:
    desk.branch("lags")
    with answering(lambda *_: Said(200, shown_pull(1, "", head="lags"))) as url:
        host = type(desk.host)(url, desk.host.secrets)
        with pytest.raises(ActivityFailed) as raised:
            PullStates(host, desk.remote).read(asked(1, "lags"))
    assert raised.value.kind is FailureKind.TRANSIENT
