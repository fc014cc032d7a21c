"""Pushes against the real host with real git: applied, lost, cut, contested, and never doubled."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from activities.git.branches import PushBranch
from activities.git.command import Completed
from activities.git.mirror import Remote
from activities.git.pushes import Move, Push
from activities.mutation import (
    Absent,
    Applied,
    Conflicting,
    Found,
    NotSent,
    Outcome,
    Refused,
    Unsettled,
)
from tests.support.desk import REPOSITORY, Desk, call

PUSH = {"method": "POST", "path": "git-receive-pack$"}


def test_a_branch_is_created_once_and_a_repeat_finds_it(desk: Desk) -> None:
    request = desk.push_request("repair/once")
    assert isinstance(desk.push().perform(request, call("once")), Applied)
    assert isinstance(desk.push().perform(request, call("once")), Applied)
    assert desk.tip("repair/once") == request["revision"]


@pytest.mark.parametrize("action", ["drop_after", "error_after"])
def test_a_lost_answer_is_unsettled_and_looking_finds_it(desk: Desk, action: str) -> None:
    request = desk.push_request(f"repair/{action.replace('_', '-')}")
    desk.fault(action, **PUSH)
    assert isinstance(desk.push().perform(request, call(action)), Unsettled)
    seen = desk.push().observe(request, call(action))
    assert seen == Found(request["revision"], {"revision": request["revision"]})


def test_a_push_that_was_cut_before_it_applied_is_conclusively_absent(desk: Desk) -> None:
    request = desk.push_request("repair/cut")
    desk.fault("cut_before", **PUSH)
    assert isinstance(desk.push().perform(request, call("cut")), Unsettled)
    seen = desk.push().observe(request, call("cut"))
    assert isinstance(seen, Absent)
    assert seen.conclusive
    assert isinstance(desk.push().perform(request, call("cut")), Applied)


def test_a_strangers_commit_on_our_branch_is_never_pushed_over(desk: Desk) -> None:
    first, second = (
        desk.push_request("repair/theirs", "ours"),
        desk.push_request("repair/theirs", "new"),
    )
    assert isinstance(desk.push().perform(first, call("theirs")), Applied)
    refused = desk.push().perform(second, call("theirs"))
    assert isinstance(refused, Refused)
    assert isinstance(desk.push().observe(second, call("theirs")), Conflicting)
    assert desk.tip("repair/theirs") == first["revision"]


def test_a_branch_moves_only_from_the_expected_revision(desk: Desk) -> None:
    first = desk.push_request("repair/moves", "one")
    desk.push().perform(first, call("moves"))
    second = desk.push_request("repair/moves", "two", expected=first["revision"])
    assert isinstance(desk.push().perform(second, call("moves")), Applied)
    third = desk.push_request("repair/moves", "three", expected=first["revision"])
    assert isinstance(desk.push().perform(third, call("moves")), Refused)
    assert desk.tip("repair/moves") == second["revision"]


def test_of_four_pushers_with_one_lease_exactly_one_wins(desk: Desk) -> None:
    requests = [desk.push_request("repair/contested", f"pusher {number}") for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        outcomes = list(
            pool.map(lambda each: desk.push().perform(each, call("contested")), requests)
        )
    winners = [r for r, o in zip(requests, outcomes, strict=True) if isinstance(o, Applied)]
    assert len(winners) == 1
    assert desk.tip("repair/contested") == winners[0]["revision"]
    assert sum(isinstance(outcome, Refused) for outcome in outcomes) == 3


def test_a_branch_is_deleted_only_from_the_expected_revision(desk: Desk) -> None:
    request = desk.push_request("repair/gone")
    desk.push().perform(request, call("gone"))
    delete = desk.delete()
    wanted = {"repository": REPOSITORY, "branch": "repair/gone"}
    kept = delete.perform({**wanted, "expected": desk.base}, call("gone"))
    assert isinstance(kept, Refused)
    assert desk.tip("repair/gone") == request["revision"]
    assert isinstance(
        delete.perform({**wanted, "expected": request["revision"]}, call("gone")), Applied
    )
    assert desk.tip("repair/gone") is None


def test_a_host_that_is_down_was_sent_nothing_and_the_token_is_in_no_word(desk: Desk) -> None:
    request = desk.push_request("repair/down")
    down = Remote("http://127.0.0.1:1", desk.remote.secrets)
    outcome = PushBranch(down, desk.artifacts, desk.folder / "other").perform(request, call("down"))
    assert isinstance(outcome, NotSent)
    token = desk.token
    assert token not in repr(outcome)
    for file in desk.folder.rglob("config"):
        assert token not in file.read_text()


def said(output: str, returncode: int | None, errors: str = "") -> Completed:
    """Return git's own words on a push."""
    return Completed(returncode, output, errors)


def judged(desk: Desk, done: Completed, wanted: str | None) -> Outcome:
    """Return what a push of main is said to have come to, main standing where it stands."""
    move = Move("refs/heads/main", desk.base, wanted)
    return Push(desk.remote, REPOSITORY, (move,), {move.ref: wanted}).settle(done)


DONE = " \trefs/heads/x:refs/heads/main\taaa..bbb\nDone\n"
STALE = "!\trefs/heads/x:refs/heads/main\t[rejected] (stale info)\nDone\n"
DECLINED = "!\trefs/heads/x:refs/heads/main\t[remote rejected] (pre-receive hook declined)\nDone\n"


@pytest.mark.parametrize(
    ("done", "kind"),
    [
        (said(DONE, 0), Applied),
        (said("Done\n", 0), Unsettled),
        (said(DONE, 1), Unsettled),
        (said(DONE, None), Unsettled),
        (said("Done\n", 1, "RPC failed; HTTP 502"), Unsettled),
        (said("", 128, "the receiving end does not support push options"), Unsettled),
        (said("", 128, "The requested URL returned error: 403"), Refused),
        (said(STALE, 1), Applied),
        (said(DECLINED, 1), Applied),
    ],
)
def test_a_push_succeeds_with_an_end_a_line_and_the_ref_itself(
    desk: Desk, done: Completed, kind: type
) -> None:
    assert isinstance(judged(desk, done, desk.base), kind)


@pytest.mark.parametrize(
    ("done", "kind"),
    [(said(DONE, 0), Unsettled), (said(STALE, 1), NotSent), (said(DECLINED, 1), Refused)],
)
def test_a_word_of_git_that_the_ref_contradicts_is_not_believed(
    desk: Desk, done: Completed, kind: type
) -> None:
    assert isinstance(judged(desk, done, "1" * 40), kind)
