"""A step's time is over or its worker is gone: hand it on, or what was sent to the reconciler."""

from __future__ import annotations

from functools import partial

from sqlalchemy import Connection

from orchestrator.domain.budgets import TimeLimit
from orchestrator.domain.states import OperationStatus, StepStatus
from orchestrator.engine import cancel
from orchestrator.engine.database import Database
from orchestrator.engine.fold import note
from orchestrator.engine.hand_on import Failure, hand_on, note_limit, overdue
from orchestrator.engine.set_aside import guarded
from orchestrator.store import claims, operations, resources, runs, steps
from orchestrator.store.records import Run, StepRow
from orchestrator.workflows.registry import Definitions

CAUSE = "engine"


def expire_leases(database: Database, definitions: Definitions, limit: int = 50) -> int:
    """Hand on what leases past their time held; return how many were handed on here."""
    with database.read() as tx:
        found = claims.expired_claims(tx, limit)
    return sum(
        guarded(database, run, partial(expire_if_due, database, definitions, run, *claim), False)
        for run, *claim in found
    )


def take_over_orphans(database: Database, definitions: Definitions, limit: int = 50) -> int:
    """Hand on what workers held whose session is gone; return how many were handed on here.

    The lease stays the fallback wherever a session tells nothing (R11).
    """
    with database.read() as tx:
        found = claims.orphaned_claims(tx, limit)
    return sum(
        guarded(database, run, partial(_take_over, database, definitions, run, *claim), False)
        for run, *claim in found
    )


def give_up_unstarted(database: Database, definitions: Definitions, limit: int = 50) -> int:
    """Fail due steps that nobody started in time, or whose attempts used up their time."""
    with database.read() as tx:
        found = claims.overdue_claims(tx, limit)
    return sum(
        guarded(database, run, partial(_give_up, database, definitions, run, step), False)
        for run, step in found
    )


def expire_if_due(
    database: Database, definitions: Definitions, workflow_id: str, number: int, generation: int
) -> bool:
    """Take one expired lease away; False when it was renewed or closed, or its run is busy."""
    with database.commit("expire-lease") as tx:
        run = runs.lock_if_free(tx, workflow_id)
        if run is None:
            return False
        taken = claims.release_if_expired(tx, workflow_id, number, generation)
        if taken is None:
            return False
        owner, reached = taken
        step = steps.read(tx, workflow_id, number)
        who = _silent(step, owner) if reached is TimeLimit.HEARTBEAT else f"{owner} went past it"
        _lost(tx, definitions, run, step, overdue(step, reached, who))
    return True


def _take_over(
    database: Database, definitions: Definitions, workflow_id: str, number: int, generation: int
) -> bool:
    with database.commit("take-over") as tx:
        run = runs.lock_if_free(tx, workflow_id)
        if run is None:
            return False
        owner = claims.release_if_orphaned(tx, workflow_id, number, generation)
        if owner is None:
            return False
        step = steps.read(tx, workflow_id, number)
        run = note(tx, run, "worker-lost", {"step": step.name, "worker": owner}, CAUSE)
        _lost(tx, definitions, run, step, overdue(step, TimeLimit.HEARTBEAT, _silent(step, owner)))
    return True


def _give_up(database: Database, definitions: Definitions, workflow_id: str, number: int) -> bool:
    with database.commit("give-up-step") as tx:
        run = runs.lock_if_free(tx, workflow_id)
        if run is None:
            return False
        reached = claims.release_if_overdue(tx, workflow_id, number)
        if reached is None:
            return False
        step = steps.read(tx, workflow_id, number)
        who = "no worker started it" if reached is TimeLimit.QUEUE else "its attempts together"
        return hand_on(tx, definitions, run, step, overdue(step, reached, who), CAUSE)


def _silent(step: StepRow, owner: str) -> str:
    return f"its worker was lost {step.spent.lost + 1} times, last {owner}"


def _lost(
    tx: Connection, definitions: Definitions, run: Run, step: StepRow, failure: Failure
) -> None:
    """Go on without the attempt. What it may have sent is looked at before anything is sent."""
    outcome = "lost" if failure.limit is TimeLimit.HEARTBEAT else "overdue"
    steps.end_attempt(tx, run.id, step.number, step.attempts, outcome, failure.to_json())
    if _became_ambiguous(tx, step):
        note_limit(tx, run, step, failure, "the outside is observed", CAUSE)
    elif step.run_generation != run.generation:
        run = note_limit(tx, run, step, failure, "the run is being stopped", CAUSE)
        steps.move_if(tx, run.id, step.number, StepStatus.LEASED, StepStatus.CANCELLED)
        made = operations.abandon_intended(tx, run.id, [step.number])
        resources.never_came_to_be(tx, run.id, made)
        cancel.go_on(tx, definitions, run)
    else:
        hand_on(tx, definitions, run, step, failure, CAUSE)


def _became_ambiguous(tx: Connection, step: StepRow) -> bool:
    """Hand a sent operation to the reconciler; the lost attempt's token is now too low."""
    if step.operation_id is None:
        return False
    operation = operations.read(tx, step.operation_id)
    if operation.status is not OperationStatus.SENT:
        return False
    operations.settle_if_version(tx, operation, OperationStatus.AMBIGUOUS, CAUSE)
    steps.move_if(tx, step.workflow_id, step.number, StepStatus.LEASED, StepStatus.UNSETTLED)
    steps.raise_generation(tx, step.workflow_id, step.number)
    return True
