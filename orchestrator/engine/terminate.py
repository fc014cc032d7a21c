"""Termination: stop at once, and list what stays uncertain. No definition is asked."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import Connection

from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.states import RUN, Cleanup, OperationStatus, RunStatus, StepStatus, move
from orchestrator.engine import unheld
from orchestrator.engine.fold import note
from orchestrator.store import approvals, operations, resources, runs, steps, timers
from orchestrator.store.records import Run

OUTCOME = "terminated"


def terminate(tx: Connection, run: Run, by: str, reason: str) -> tuple[Run, JsonObject]:
    """End the run now. What attempts still bring back is kept as a record and moves nothing.

    Needs the run's lock and a run that has not ended; it may be one that nobody can read. Returns
    what is left: operations whose outcome is open (observed further by the reconciler), resources
    that may remain, attempts that may still run.
    """
    dropped = steps.cancel_due(tx, run.id)
    made = operations.abandon_intended(tx, run.id, dropped)
    resources.never_came_to_be(tx, run.id, made)
    if run.status is RunStatus.SET_ASIDE:
        unheld.cancel(tx, run.id)
    timers.cancel_all(tx, run.id)
    approvals.supersede_open(tx, run.id)
    left: JsonObject = {
        "open_operations": _open_operations(tx, run),
        "resources": [" ".join(row) for row in resources.remaining(tx, run.id)],
        "running_steps": steps.leased(tx, run.id),
    }
    status = move(RUN, run.status, RunStatus.ENDED)
    remains = bool(left["open_operations"] or left["resources"])
    runs.write(
        tx,
        run,
        status=status,
        outcome=OUTCOME,
        reason=f"terminated by {by}{': ' if reason else ''}{reason}"[:2000],
        cleanup=Cleanup.INCOMPLETE if remains else Cleanup.NONE,
        generation=run.generation + 1,
        ended_at=runs.NOW,
        paused_by=None,
    )
    run = replace(run, status=status, generation=run.generation + 1)
    return note(tx, run, "terminated", {"by": by, **left}, by), left


def _open_operations(tx: Connection, run: Run) -> list[str]:
    """Return what was sent and never answered; the reconciler goes on looking at each."""
    names = operations.open_ids(tx, run.id)
    for name in names:
        operation = operations.read(tx, name)
        if operation.status is OperationStatus.SENT:
            operations.settle_if_version(tx, operation, OperationStatus.AMBIGUOUS, "engine")
            steps.move_if(tx, run.id, operation.step, StepStatus.LEASED, StepStatus.UNSETTLED)
            steps.raise_generation(tx, run.id, operation.step)
    return names
