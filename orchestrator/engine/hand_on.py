"""An attempt failed and nothing of it took effect: try again within a budget, or tell the run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, assert_never

from sqlalchemy import Connection

from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.budgets import (
    GiveUp,
    Move,
    Retry,
    TimeLimit,
    after_failure,
    after_time_limit,
)
from orchestrator.domain.failures import FailureKind
from orchestrator.domain.states import OperationStatus, StepStatus
from orchestrator.engine.fold import fold, note
from orchestrator.store import breakers, claims, operations, resources, steps
from orchestrator.store.records import Run, StepRow
from orchestrator.workflows.decision import StepFailed
from orchestrator.workflows.registry import Definitions


@dataclass(frozen=True)
class Failure:
    """Why an attempt failed; for a mutation, nothing took effect outside.

    `limit` is set when a time limit ended it: then the limit decides what follows, not the kind.
    """

    kind: FailureKind
    reason: str
    retry_after_s: float | None = None
    facts: JsonObject = field(default_factory=dict)
    limit: TimeLimit | None = None

    def to_json(self) -> JsonObject:
        """Return what is kept with the attempt and the step."""
        said = {"kind": self.kind, "reason": self.reason[:4000], "facts": self.facts}
        return said if self.limit is None else {**said, "limit": self.limit}


def hand_on(
    tx: Connection, definitions: Definitions, run: Run, step: StepRow, failure: Failure, cause: str
) -> bool:
    """Schedule another attempt, or fail the step and tell the definition. Needs the run's lock.

    False when the step has moved on meanwhile: then nothing was written.
    """
    next_move = _next(step, failure)
    match next_move:
        case Retry(spent=spent):
            if not _close(tx, step, StepStatus.DUE, spent=spent):
                return False
            unsend(tx, step.operation_id, cause)
            pause = next_move.pause(f"{run.id}:{step.number}:{step.attempts}")
            claims.publish(tx, run.id, step.number, after_s=pause)
            _tell_breaker(tx, step, failure)
            note_limit(tx, run, step, failure, "another attempt", cause)
        case GiveUp(exhausted):
            if not _close(tx, step, StepStatus.FAILED, failure=failure.to_json()):
                return False
            refuse(tx, step.operation_id, failure)
            _tell_breaker(tx, step, failure)
            run = note_limit(tx, run, step, failure, "the definition decides", cause)
            event = StepFailed(
                at=run.now,
                name=step.name,
                ordinal=step.ordinal,
                kind=failure.kind,
                reason=failure.reason,
                exhausted=exhausted,
                facts=failure.facts,
            )
            fold(tx, definitions, run, event, cause)
        case _:
            assert_never(next_move)
    return True


def overdue(step: StepRow, limit: TimeLimit, who: str) -> Failure:
    """Return the failure of a step whose time limit was reached; `who` is what stopped moving."""
    allowed = {
        TimeLimit.QUEUE: step.limits.queue_s,
        TimeLimit.ATTEMPT: step.limits.attempt_s,
        TimeLimit.PROGRESS: step.limits.progress_s,
        TimeLimit.TOTAL: step.limits.total_s,
    }.get(limit)
    within = "" if allowed is None else f" of {allowed:g} s"
    return Failure(FailureKind.ENVIRONMENTAL, f"{limit} limit{within}: {who}", limit=limit)


def unsend(tx: Connection, operation_id: str | None, by: str) -> None:
    """Put a sent operation back to intended: it is proved that nothing was done (R8)."""
    if operation_id is None:
        return
    operation = operations.read(tx, operation_id)
    if operation.status is OperationStatus.SENT:
        operations.settle_if_version(tx, operation, OperationStatus.INTENDED, by)


def refuse(tx: Connection, operation_id: str | None, failure: Failure) -> None:
    """Refuse an operation for good, sent or not."""
    if operation_id is None:
        return
    operation = operations.read(tx, operation_id)
    facts = {"reason": failure.reason[:2000], **failure.facts}
    if operation.makes is not None:
        resources.never_came_to_be(tx, operation.workflow_id, [operation.makes])
    if operation.status is OperationStatus.INTENDED:
        operations.refuse_intended(tx, operation_id, "engine", facts)
    else:
        operations.settle_if_version(
            tx, operation, OperationStatus.REFUSED, "receiver", facts=facts
        )


def note_limit(
    tx: Connection, run: Run, step: StepRow, failure: Failure, follows: str, cause: str
) -> Run:
    """Say in the history which clock ran out, on what, and what follows, if one did."""
    if failure.limit is None:
        return run
    said = {
        "step": step.name,
        "ordinal": step.ordinal,
        "attempt": step.attempts,
        "reason": failure.reason[:2000],
        "next": follows,
    }
    return note(tx, run, f"{failure.limit}-limit-reached", said, cause)


def _next(step: StepRow, failure: Failure) -> Move:
    if failure.limit is not None:
        return after_time_limit(failure.limit, step.limits, step.spent)
    return after_failure(failure.kind, step.limits, step.spent, asked_wait_s=failure.retry_after_s)


def _close(tx: Connection, step: StepRow, after: StepStatus, **values: Any) -> bool:
    """Move the step on: one that an attempt holds under its generation, a waiting one as it is."""
    if step.status is StepStatus.DUE:
        return steps.move_if(tx, step.workflow_id, step.number, step.status, after, **values)
    return steps.close_if_leased(
        tx, step.workflow_id, step.number, step.generation, after, **values
    )


def _tell_breaker(tx: Connection, step: StepRow, failure: Failure) -> None:
    if failure.kind is FailureKind.TRANSIENT and failure.limit is None:
        breakers.failed(tx, step.queue, failure.reason, asked_wait_s=failure.retry_after_s)
