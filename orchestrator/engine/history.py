"""How an event reads in history: facts and references, never a large result."""

from __future__ import annotations

from typing import assert_never

from orchestrator.contracts.payload import JsonObject
from orchestrator.workflows.decision import (
    ApprovalDecided,
    ApprovalExpired,
    BudgetRaised,
    CancelRequested,
    CorrectionGiven,
    Event,
    RetryRequested,
    RunStarted,
    StepFailed,
    StepSucceeded,
    TimerFired,
)


def kind(event: Event) -> str:
    """Return the event's name in history."""
    match event:
        case RunStarted():
            return "run-started"
        case StepSucceeded():
            return "step-succeeded"
        case StepFailed():
            return "step-failed"
        case TimerFired():
            return "timer-fired"
        case ApprovalDecided():
            return "approval-decided"
        case ApprovalExpired():
            return "approval-expired"
        case CancelRequested():
            return "active-work-stopped"
        case CorrectionGiven():
            return "correction-given"
        case BudgetRaised():
            return "budget-raised"
        case RetryRequested():
            return "retry-requested"
        case _:
            assert_never(event)


def payload(event: Event) -> JsonObject:
    """Return what history keeps; a step's result stays with its step."""
    match event:
        case RunStarted():
            return {}
        case StepSucceeded(_, name, ordinal, _, reference):
            return {"step": name, "ordinal": ordinal, "reference": reference}
        case StepFailed(_, name, ordinal, failure, reason, exhausted):
            return {
                "step": name,
                "ordinal": ordinal,
                "failure": failure,
                "reason": reason[:2000],
                "exhausted": exhausted,
            }
        case TimerFired(_, name):
            return {"timer": name}
        case ApprovalDecided(_, ordinal, approved, by, comment):
            return {"approval": ordinal, "approved": approved, "by": by, "comment": comment[:2000]}
        case ApprovalExpired(_, ordinal):
            return {"approval": ordinal}
        case CancelRequested(_, by, because):
            return {"by": by, "because": because}
        case CorrectionGiven(_, by, text):
            return {"by": by, "text": text[:2000]}
        case BudgetRaised(_, by, budget, amount):
            return {"by": by, "budget": budget, "amount": amount}
        case RetryRequested(_, by):
            return {"by": by}
        case _:
            assert_never(event)
