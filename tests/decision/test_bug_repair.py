"""The flagship's decisions, without database or time: what follows from each event."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.contracts.checkpoint import BugRepairState, Outcome, Phase
from orchestrator.domain.failures import FailureKind
from orchestrator.workflows.decision import (
    ApprovalDecided,
    ApprovalExpired,
    AskApproval,
    CancelRequested,
    Mutate,
    RunActivity,
    StepSucceeded,
)
from tests.support.flagship import (
    AT,
    BASE,
    HEAD,
    IDENTITY,
    MERGE,
    MOVED,
    PROPOSED,
    REPLAY,
    SEEN,
    SHA,
    VERIFIED,
    Run,
    name,
)


def test_every_arrow_of_the_job_leads_to_the_next() -> None:
    run = Run()
    assert [name(effect) for effect in run.last.effects] == ["SetDeadline", "create-ticket"]
    assert run.ok("create-ticket", {}, "12") == ["derive-procedure"]
    assert run.ok("derive-procedure", {"procedure_sha256": SHA}) == ["resolve-revision"]
    assert run.ok("resolve-revision", {"revision": BASE}) == ["provision-environment"]
    spec = {"spec_sha256": SHA, "environment_sha256": "env", "tier": "plain"}
    assert run.ok("provision-environment", spec) == ["reproduce"]
    assert run.ok("reproduce", {**REPLAY, "verdict": "failed"}) == ["propose-candidate"]
    assert run.ok("propose-candidate", PROPOSED) == ["verify-candidate"]
    assert run.ok("verify-candidate", VERIFIED) == ["push-branch"]
    assert run.ok("push-branch", {}, HEAD) == ["create-draft-pull-request"]
    assert run.ok("create-draft-pull-request", {}, "13") == ["attach-evidence"]
    assert run.ok("attach-evidence") == ["ask 1", "notify review-requested"]
    assert run.approve() == ["revalidate"]
    assert run.ok("revalidate", SEEN) == ["mark-ready"]
    assert run.ok("mark-ready") == ["merge"]
    run.ok("merge", {"merge_commit": MERGE, "parents": [BASE, HEAD]}, MERGE)
    done, end = run.close()
    assert done == ["tear-down-environment", "update-ticket", "close-ticket"]
    assert end.outcome == Outcome.MERGED


def test_the_environment_is_registered_as_the_runs_own_before_it_is_asked_for() -> None:
    run = Run()
    run.ok("create-ticket", {}, "12")
    run.ok("derive-procedure", {"procedure_sha256": SHA})
    run.ok("resolve-revision", {"revision": BASE})
    [effect] = run.last.effects
    assert isinstance(effect, Mutate)
    assert effect.makes is not None
    assert effect.makes.tag == IDENTITY.tag


@pytest.mark.parametrize(
    ("verdict", "reason"),
    [("passed", "not-reproduced"), ("flaky", "flaky"), ("inconclusive", "inconclusive")],
)
def test_what_was_not_reproduced_ends_in_triage_and_says_so(verdict: str, reason: str) -> None:
    """P21."""
    run = Run()
    run.ok("create-ticket", {}, "12")
    run.ok("derive-procedure", {"procedure_sha256": SHA})
    run.ok("resolve-revision", {"revision": BASE})
    run.ok("provision-environment", {"spec_sha256": SHA, "environment_sha256": "e", "tier": "p"})
    run.ok("reproduce", {**REPLAY, "verdict": verdict})
    done, end = run.close()
    assert (end.outcome, end.reason) == (Outcome.NEEDS_HUMAN_TRIAGE, reason)
    assert done == ["tear-down-environment", "update-ticket"]


def test_a_report_without_steps_ends_in_triage_before_any_environment() -> None:
    run = Run()
    run.ok("create-ticket", {}, "12")
    run.ok("derive-procedure", {"missing": ["numbered steps"]})
    done, end = run.close()
    assert "numbered steps" in end.reason
    assert done == ["update-ticket"]


@pytest.mark.parametrize("wrong", [{"revision": MOVED}, {"procedure_sha256": "0" * 64}])
def test_evidence_of_another_revision_or_procedure_is_not_accepted(wrong: dict[str, str]) -> None:
    """P17."""
    run = Run()
    run.ok("create-ticket", {}, "12")
    run.ok("derive-procedure", {"procedure_sha256": SHA})
    run.ok("resolve-revision", {"revision": BASE})
    run.ok("provision-environment", {"spec_sha256": SHA, "environment_sha256": "e", "tier": "p"})
    run.ok("reproduce", {**REPLAY, "verdict": "failed", **wrong})
    assert run.state.closing is not None
    assert run.state.closing.outcome == Outcome.NEEDS_HUMAN_TRIAGE


def test_a_failed_candidate_leads_to_another_until_the_budget_is_spent() -> None:
    run = Run(repair_attempts=3).reproduced()
    failed = {**VERIFIED, "passed": False, "why": "still B"}
    for attempt in (1, 2, 3):
        assert run.state.repair_attempt == attempt
        run.ok("propose-candidate", {**PROPOSED, "patch_sha256": str(attempt) * 64})
        run.ok("verify-candidate", failed)
    done, end = run.close()
    assert end.outcome == Outcome.REPAIR_BUDGET_EXHAUSTED
    assert "push-branch" not in done
    assert [each.verification_status for each in run.state.candidates] == ["failed"] * 3


def test_the_next_proposal_knows_the_earlier_candidates_and_why_they_failed() -> None:
    run = Run().reproduced()
    run.ok("propose-candidate", PROPOSED)
    run.ok("verify-candidate", {**VERIFIED, "passed": False, "why": "still B"})
    [effect] = run.last.effects
    assert isinstance(effect, RunActivity)
    assert effect.input["prior"] == [["9" * 64, "still B"]]
    assert effect.ordinal == 2


def test_nothing_is_published_where_the_contract_does_not_permit_it() -> None:
    """P11."""
    run = Run(may_publish_draft=False).reproduced()
    run.ok("propose-candidate", PROPOSED)
    run.ok("verify-candidate", VERIFIED)
    done, end = run.close()
    assert end.outcome == Outcome.NEEDS_HUMAN_REVIEW
    assert "push-branch" not in done


def test_nothing_is_published_without_complete_evidence() -> None:
    run = Run().reproduced()
    run.ok("propose-candidate", PROPOSED)
    run.ok("verify-candidate", {**VERIFIED, "replay_sha256": None})
    assert run.state.closing is not None
    assert run.state.closing.outcome == Outcome.NEEDS_HUMAN_REVIEW


def test_the_approval_names_head_base_evidence_and_policy() -> None:
    run = Run().asked()
    [ask, _] = run.last.effects
    assert isinstance(ask, AskApproval)
    publication = run.state.publication
    assert publication is not None
    assert ask.scope["head"] == HEAD
    assert ask.scope["base_revision"] == BASE
    assert ask.scope["manifest_sha256"] == publication.manifest_sha256
    assert ask.scope["policy_version"] == "1"


def test_a_merge_carries_the_approved_head_and_its_approval() -> None:
    run = Run().asked()
    run.approve()
    run.ok("revalidate", SEEN)
    run.ok("mark-ready")
    [merge] = run.last.effects
    assert isinstance(merge, Mutate)
    assert (merge.request["sha"], merge.approval) == (HEAD, 1)


def test_a_rejection_closes_the_draft_and_keeps_the_branch() -> None:
    run = Run().asked()
    run.tell(ApprovalDecided(AT, 1, False, "rita", "not like this"))
    done, end = run.close()
    assert done == ["close-pull-request", "tear-down-environment", "update-ticket"]
    assert (end.outcome, "not like this" in end.reason) == (Outcome.REJECTED, True)


def test_a_decision_on_another_ordinal_changes_nothing() -> None:
    run = Run().asked()
    assert run.approve(ordinal=9) == []
    assert run.state.phase is Phase.AWAITING_REVIEW


def test_a_moved_base_is_verified_anew_and_asked_anew() -> None:
    run = Run().asked()
    run.approve()
    assert run.ok("revalidate", {**SEEN, "base_revision": MOVED}) == ["verify-candidate"]
    [verify] = run.last.effects
    assert isinstance(verify, RunActivity)
    assert (verify.input["revision"], verify.input["patch_sha256"]) == (MOVED, "9" * 64)
    again = {**VERIFIED, "base_revision": MOVED, "commit": "f" * 40}
    assert run.ok("verify-candidate", again) == ["push-branch"]
    [push] = run.last.effects
    assert isinstance(push, Mutate)
    assert (push.request["expected"], push.ordinal) == (HEAD, 2)
    assert run.ok("push-branch") == ["attach-evidence"]
    assert run.ok("attach-evidence") == ["ask 2", "notify review-requested"]


def test_a_moved_head_is_verified_as_it_stands_and_never_pushed_over() -> None:
    run = Run().asked()
    run.approve()
    assert run.ok("revalidate", {**SEEN, "head": MOVED}) == ["verify-candidate"]
    theirs = {**VERIFIED, "base_revision": MOVED, "commit": MOVED, "bundle_sha256": None}
    assert run.ok("verify-candidate", theirs) == ["attach-evidence"]
    assert run.ok("attach-evidence") == ["ask 2", "notify review-requested"]
    assert run.state.pending_approval is not None
    assert run.state.pending_approval.head == MOVED
    run.approve(2)
    run.ok("revalidate", {**SEEN, "head": MOVED, "base_revision": "f" * 40})
    assert run.state.closing is not None
    assert run.state.closing.outcome == Outcome.NEEDS_HUMAN_REVIEW


@pytest.mark.parametrize(
    "seen",
    [{"merged": True, "state": "closed"}, {"state": "closed"}, {"head": None}, {"base": "other"}],
)
def test_an_outside_that_others_changed_is_a_persons(seen: dict[str, Any]) -> None:
    run = Run().asked()
    run.approve()
    run.ok("revalidate", {**SEEN, **seen})
    assert run.close()[1].outcome == Outcome.NEEDS_HUMAN_REVIEW


def test_a_refused_merge_is_made_impossible_before_anything_else() -> None:
    """R22."""
    run = Run().asked()
    run.approve()
    run.ok("revalidate", SEEN)
    run.ok("mark-ready")
    assert run.fail("merge", FailureKind.POLICY_BOUND, "409") == ["convert-to-draft"]
    assert run.ok("convert-to-draft") == ["revalidate"]
    assert run.ok("revalidate", SEEN) == ["ask 2", "notify review-requested"]


def test_a_merge_on_another_base_than_approved_is_not_called_merged() -> None:
    """R24."""
    run = Run().asked()
    run.approve()
    run.ok("revalidate", SEEN)
    run.ok("mark-ready")
    run.ok("merge", {"merge_commit": MERGE, "parents": [MOVED, HEAD]}, MERGE)
    end = run.close()[1]
    assert end.outcome == Outcome.NEEDS_HUMAN_REVIEW
    assert MOVED in end.reason


def test_an_expired_approval_is_asked_again_until_the_escalation_budget_ends() -> None:
    run = Run(escalations=2).asked()
    assert run.tell(ApprovalExpired(AT, 1)) == ["ask 2", "notify review-requested"]
    run.tell(ApprovalExpired(AT, 2))
    assert run.close()[1].outcome == Outcome.NEEDS_HUMAN_REVIEW


def test_a_cancel_closes_the_draft_and_tears_down() -> None:
    run = Run().asked()
    run.tell(CancelRequested(AT, "olga"))
    done, end = run.close()
    assert done == ["close-pull-request", "tear-down-environment", "update-ticket"]
    assert end.outcome == Outcome.CANCELLED


def test_a_cancel_after_the_merge_landed_is_too_late() -> None:
    run = Run().asked()
    run.approve()
    run.ok("revalidate", SEEN)
    run.ok("mark-ready")
    run.ok("merge", {"merge_commit": MERGE, "parents": [BASE, HEAD]}, MERGE)
    run.tell(CancelRequested(AT, "olga"))
    end = run.close()[1]
    assert (end.outcome, "too late" in end.reason) == (Outcome.MERGED, True)


def test_a_cancel_before_anything_exists_owes_nothing_outside() -> None:
    run = Run()
    assert run.tell(CancelRequested(AT, "olga")) == ["notify run-ended", "end cancelled"]


def test_a_closing_step_that_fails_is_said_and_does_not_stop_the_others() -> None:
    run = Run().asked()
    run.tell(CancelRequested(AT, "olga"))
    run.ok("close-pull-request")
    run.fail("tear-down-environment", FailureKind.ENVIRONMENTAL, "busy")
    done, end = run.close()
    assert done == ["update-ticket"]
    assert "tear-down-environment failed: busy" in end.reason


def test_a_decision_is_pure() -> None:
    """P2: the same state and event give the same decision, and neither is changed."""
    run = Run().reproduced()
    before = run.state.to_json()
    event = StepSucceeded(AT, "propose-candidate", 1, PROPOSED)
    first = run.definition.decide(run.state, event)
    assert first == run.definition.decide(run.state, event)
    assert run.state.to_json() == before


def test_a_checkpoint_survives_its_json_form() -> None:
    run = Run().asked()
    assert BugRepairState.from_json(run.state.to_json()) == run.state
