"""A lease ended without a word: hand the step on, or what was sent to the reconciler."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import Connection

from orchestrator.domain.budgets import GiveUp, Retry, after_lost_worker
from orchestrator.domain.failures import FailureKind
from orchestrator.domain.states import OperationStatus, StepStatus
from orchestrator.engine import cancel
from orchestrator.engine.database import Database
from orchestrator.engine.fold import fold, note
from orchestrator.engine.results import Failure, refuse
from orchestrator.store import operations, resources, runs, steps
from orchestrator.store.records import Run, StepRow
from orchestrator.workflows.decision import StepFailed
from orchestrator.workflows.registry import Definitions


def expire_if_due(
    database: Database, definitions: Definitions, workflow_id: str, number: int, generation: int
) -> bool:
    """Take one expired lease away; False when it was renewed or closed, or its run is busy.

    A mutation that was sent becomes ambiguous and is observed; anything else goes to another
    attempt while the small budget for lost workers lasts (R14).
    """
    with database.commit("expire-lease") as tx:
        run = runs.lock_if_free(tx, workflow_id)
        if run is None:
            return False
        owner = steps.release_if_expired(tx, workflow_id, number, generation)
        if owner is None:
            return False
        step = steps.read(tx, workflow_id, number)
        steps.end_attempt(
            tx, workflow_id, number, step.attempts, "lost", {"reason": f"lease of {owner} ran out"}
        )
        said = {"step": step.name, "ordinal": step.ordinal, "worker": owner}
        run = note(tx, run, "lease-expired", said, "reconciler")
        _hand_on(tx, definitions, run, step, owner)
    return True


def _hand_on(tx: Connection, definitions: Definitions, run: Run, step: StepRow, owner: str) -> None:
    if step.operation_id is not None:
        operation = operations.read(tx, step.operation_id)
        if operation.status is OperationStatus.SENT:
            operations.settle_if_version(tx, operation, OperationStatus.AMBIGUOUS, "reconciler")
            steps.move_if(tx, run.id, step.number, StepStatus.LEASED, StepStatus.UNSETTLED)
            steps.raise_generation(tx, run.id, step.number)
            return
    if step.run_generation != run.generation:
        steps.move_if(tx, run.id, step.number, StepStatus.LEASED, StepStatus.CANCELLED)
        made = operations.abandon_intended(tx, run.id, [step.number])
        resources.never_came_to_be(tx, run.id, made)
        cancel.go_on(tx, definitions, run)
        return
    _try_again(tx, definitions, run, step, owner)


def _try_again(
    tx: Connection, definitions: Definitions, run: Run, step: StepRow, owner: str
) -> None:
    match after_lost_worker(step.limits, step.spent):
        case Retry(after_s, spent):
            steps.close_if_leased(
                tx, run.id, step.number, step.generation, StepStatus.DUE, spent=spent
            )
            steps.publish(tx, run.id, step.number, after_s=after_s)
        case GiveUp(exhausted):
            reason = f"its worker was lost {step.spent.lost + 1} times, last {owner}"
            failure = Failure(FailureKind.ENVIRONMENTAL, reason)
            steps.close_if_leased(
                tx,
                run.id,
                step.number,
                step.generation,
                StepStatus.FAILED,
                failure={"kind": failure.kind, "reason": reason},
            )
            refuse(tx, step.operation_id, failure)
            event = StepFailed(
                at=run.now,
                name=step.name,
                ordinal=step.ordinal,
                kind=failure.kind,
                reason=reason,
                exhausted=exhausted,
            )
            fold(tx, definitions, replace(run), event, "reconciler")
