"""The flagship is stopped, corrected, given more: what follows is decided without a database."""

from __future__ import annotations

from orchestrator.contracts.checkpoint import Outcome
from orchestrator.domain.budgets import Budget
from orchestrator.domain.states import StopCause
from orchestrator.workflows.decision import (
    ApprovalDecided,
    BudgetRaised,
    CancelRequested,
    CorrectionGiven,
    Mutate,
    RunActivity,
)
from tests.support.flagship import AT, HEAD, MERGE, PROPOSED, SEEN, VERIFIED, Run


def test_a_run_past_its_deadline_closes_its_draft_and_says_so() -> None:
    run = Run(deadline_s=3600.0).asked()
    run.tell(CancelRequested(AT, "deadline", StopCause.DEADLINE))
    done, end = run.close()
    assert done == ["close-pull-request", "tear-down-environment", "update-ticket"]
    assert end.outcome == Outcome.DEADLINE_EXCEEDED
    assert "3600 s, in phase awaiting-review" in end.reason


def test_a_stop_while_closing_goes_on_under_new_intents() -> None:
    """The first closing's intents were dropped; the same names come again with another ordinal."""
    run = Run().asked()
    run.tell(ApprovalDecided(AT, 1, False, "rita", "no"))
    assert run.tell(CancelRequested(AT, "olga")) == ["close-pull-request"]
    [effect] = run.last.effects
    assert isinstance(effect, Mutate)
    assert effect.ordinal == 2
    assert run.close()[1].outcome == Outcome.REJECTED


def exhausted(**contract: object) -> Run:
    """Return a run that ended because no candidate passed."""
    run = Run(repair_attempts=1, **contract).reproduced()
    run.ok("propose-candidate", PROPOSED)
    run.ok("verify-candidate", {**VERIFIED, "passed": False, "why": "red"})
    assert run.close()[1].outcome == Outcome.REPAIR_BUDGET_EXHAUSTED
    return run


def test_a_raised_repair_budget_goes_on_from_the_next_candidate() -> None:
    run = exhausted()
    before = run.last.state
    assert run.tell(BudgetRaised(AT, "olga", Budget.REPAIR, 2)) == ["propose-candidate"]
    [effect] = run.last.effects
    assert isinstance(effect, RunActivity)
    assert (effect.ordinal, len(effect.input["prior"])) == (2, 1)
    assert run.last.state.candidates == before.candidates
    assert run.last.state.contract.repair_attempts == 3


def test_other_budgets_and_other_endings_are_not_reopened_by_it() -> None:
    run = exhausted()
    assert run.tell(BudgetRaised(AT, "olga", Budget.TOOL, 2)) == []
    assert run.tell(BudgetRaised(AT, "olga", Budget.ESCALATION, 2)) == []
    assert run.last.state.closing is not None
    cancelled = Run().asked()
    cancelled.tell(CancelRequested(AT, "olga"))
    cancelled.close()
    assert cancelled.tell(BudgetRaised(AT, "olga", Budget.REPAIR, 2)) == []


def test_a_correction_leads_to_the_next_candidate_and_voids_what_was_asked() -> None:
    run = Run().asked()
    told = run.tell(CorrectionGiven(AT, "rita", "keep the old name of the field"))
    assert told == ["WithdrawApproval", "propose-candidate"]
    effect = run.last.effects[1]
    assert isinstance(effect, RunActivity)
    assert "keep the old name of the field" in str(effect.input["prior"])
    assert run.last.state.pending_approval is None
    run.ok("propose-candidate", PROPOSED)
    assert run.ok("verify-candidate", VERIFIED) == ["push-branch"]
    [push] = run.last.effects
    assert isinstance(push, Mutate)
    assert (push.ordinal, push.request["expected"]) == (2, HEAD)


def test_a_corrected_candidate_that_fails_is_followed_by_another() -> None:
    run = Run().asked()
    run.tell(CorrectionGiven(AT, "rita", "not so"))
    run.ok("propose-candidate", PROPOSED)
    said = run.ok("verify-candidate", {**VERIFIED, "passed": False, "why": "red"})
    assert said == ["propose-candidate"]


def test_a_correction_without_a_budget_or_a_question_changes_nothing() -> None:
    spent = Run(repair_attempts=1).asked()
    before = spent.last.state
    assert spent.tell(CorrectionGiven(AT, "rita", "not so")) == []
    assert spent.last.state == before
    early = Run()
    assert early.tell(CorrectionGiven(AT, "rita", "not so")) == []


def test_a_merge_whose_parents_nobody_tells_is_not_called_ours() -> None:
    """R24: the merge's parents are checked afterwards, not assumed."""
    run = Run().asked()
    run.approve()
    run.ok("revalidate", SEEN)
    run.ok("mark-ready")
    run.ok("merge", {"merge_commit": MERGE}, MERGE)
    end = run.close()[1]
    assert end.outcome == Outcome.NEEDS_HUMAN_REVIEW
    assert "nobody told us" in end.reason
