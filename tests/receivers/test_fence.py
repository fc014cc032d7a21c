"""The run's fence: a push that was on its way lands nowhere once the run has moved on (R21)."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

import pytest

from activities.git import command
from activities.git.fence import Fence, ref_of, shut_revision
from activities.git.mirror import mirrored, read_ref
from activities.mutation import Absent, Applied, Found, NotSent, Outcome, Refused, Unsettled
from orchestrator.contracts.payload import JsonObject
from tests.support.desk import REPOSITORY, Desk, call

PUSH = {"method": "POST", "path": "git-receive-pack$"}


def deletion(push: JsonObject) -> JsonObject:
    """Return the request that cleans up after a push."""
    return {"repository": REPOSITORY, "branch": push["branch"], "expected": push["revision"]}


def on_its_way(
    desk: Desk, pool: ThreadPoolExecutor, push: JsonObject, run: str
) -> tuple[Future[Outcome], int]:
    """Start a push and return once the host has it in hand, not yet applied."""
    fault = desk.fault("hold_before", **PUSH)
    sent = pool.submit(desk.push().perform, push, call(run))
    assert desk.admin("GET", f"/outlast/faults/{fault}?wait=fired")["fired"] == 1
    return sent, fault


@pytest.mark.parametrize("pushed_before", [False, True])
def test_a_push_that_lands_after_the_cleanup_changes_nothing(
    desk: Desk, pushed_before: bool
) -> None:
    run = f"late-{pushed_before}"
    first = desk.push_request(f"repair/{run}", "first")
    late, clean = first, deletion(first)
    if pushed_before:
        assert isinstance(desk.push().perform(first, call(run)), Applied)
        late = desk.push_request(first["branch"], "second", expected=first["revision"])
    with ThreadPoolExecutor(1) as pool:
        sent, fault = on_its_way(desk, pool, late, run)
        assert isinstance(desk.delete().perform(clean, call(run, 2)), Applied)
        desk.admin("POST", f"/outlast/faults/{fault}/release")
        assert isinstance(sent.result(60), Refused | NotSent)
    assert desk.tip(first["branch"]) is None
    assert isinstance(desk.delete().observe(clean, call(run, 2)), Found)


def test_without_a_fence_the_same_push_would_have_brought_the_branch_back(desk: Desk) -> None:
    """Show that the lease of the branch alone does not do it: absent is absent again."""
    run = "unfenced"
    push = desk.push_request("repair/unfenced")
    fault = desk.fault("hold_before", **PUSH)
    with mirrored(desk.remote, REPOSITORY, desk.mirrors) as mirror:
        kept = desk.artifacts.read(push["bundle_sha256"])
        (mirror / "b").write_bytes(kept)
        command.must(["fetch", "-q", str(mirror / "b"), "refs/heads/candidate"], folder=mirror)
        plain = [
            "push",
            f"--force-with-lease=refs/heads/{push['branch']}:",
            desk.remote.address(REPOSITORY),
            f"{push['revision']}:refs/heads/{push['branch']}",
        ]
        with ThreadPoolExecutor(1) as pool:
            sent = pool.submit(command.call, plain, desk.token, folder=mirror, name="push")
            desk.admin("GET", f"/outlast/faults/{fault}?wait=fired")
            assert isinstance(desk.delete().perform(deletion(push), call(run)), Applied)
            desk.admin("POST", f"/outlast/faults/{fault}/release")
            assert sent.result(60).is_ok
    assert desk.tip(push["branch"]) == push["revision"]


def test_a_cleanup_whose_answer_was_lost_is_found_and_one_that_was_cut_is_not(desk: Desk) -> None:
    push = desk.push_request("repair/cleaned")
    assert isinstance(desk.push().perform(push, call("cleaned")), Applied)
    clean, who = deletion(push), call("cleaned", 2)
    desk.fault("cut_before", **PUSH)
    assert isinstance(desk.delete().perform(clean, who), Unsettled)
    assert isinstance(desk.delete().observe(clean, who), Absent)
    desk.fault("drop_after", **PUSH)
    assert isinstance(desk.delete().perform(clean, who), Unsettled)
    assert isinstance(desk.delete().observe(clean, who), Found)


def test_a_branch_that_is_merely_gone_is_not_clean_until_the_fence_is_shut(desk: Desk) -> None:
    push = desk.push_request("repair/merely")
    assert isinstance(desk.push().perform(push, call("merely")), Applied)
    desk.admin("DELETE", f"/repos/{REPOSITORY}/git/refs/heads/{push['branch']}")
    assert isinstance(desk.delete().observe(deletion(push), call("merely", 2)), Absent)
    assert isinstance(desk.delete().perform(deletion(push), call("merely", 2)), Applied)
    fence = read_ref(desk.remote, REPOSITORY, ref_of(call("merely").run_tag))
    assert fence == shut_revision(call("merely").run_tag)


def test_nothing_is_pushed_through_a_shut_fence(desk: Desk) -> None:
    push = desk.push_request("repair/shut")
    assert isinstance(desk.delete().perform(deletion(push), call("shut")), Applied)
    refused = desk.push().perform(push, call("shut", 2, fence=9))
    assert isinstance(refused, Refused)
    assert "cleaned up" in refused.reason
    assert desk.tip(push["branch"]) is None


def test_an_earlier_attempt_and_an_earlier_operation_do_not_push_after_a_later_one(
    desk: Desk,
) -> None:
    first = desk.push_request("repair/ranks", "one")
    assert isinstance(desk.push().perform(first, call("ranks", 2, fence=3)), Applied)
    second = desk.push_request("repair/ranks", "two", expected=first["revision"])
    for who in (call("ranks", 2, fence=2), call("ranks", 1, fence=7)):
        assert isinstance(desk.push().perform(second, who), Refused)
    assert desk.tip("repair/ranks") == first["revision"]
    assert isinstance(desk.push().perform(second, call("ranks", 3, fence=1)), Applied)


def test_one_run_never_touches_the_fence_of_another(desk: Desk) -> None:
    one, other = desk.push_request("repair/one"), desk.push_request("repair/other")
    assert isinstance(desk.delete().perform(deletion(one), call("one-run")), Applied)
    assert isinstance(desk.push().perform(other, call("other-run")), Applied)


def test_a_fence_that_somebody_else_wrote_stops_the_push(desk: Desk) -> None:
    who = call("foreign")
    body = {"ref": ref_of(who.run_tag), "sha": desk.main()}
    desk.admin("POST", f"/repos/{REPOSITORY}/git/refs", body)
    refused = desk.push().perform(desk.push_request("repair/foreign"), who)
    assert isinstance(refused, Refused)
    assert "none of our pushes" in refused.reason


def test_the_revision_of_a_shut_fence_is_known_without_a_repository(desk: Desk) -> None:
    with mirrored(desk.remote, REPOSITORY, desk.mirrors) as mirror:
        assert Fence(mirror, "outlast-i-any").shut() == shut_revision("outlast-i-any")


def test_a_bundle_without_the_intended_commit_is_never_pushed(desk: Desk) -> None:
    push = {**desk.push_request("repair/bundle", "x"), "revision": "1" * 40}
    outcome = desk.push().perform(push, replace(call("bundle")))
    assert isinstance(outcome, NotSent)
    assert "bundle holds" in outcome.reason
