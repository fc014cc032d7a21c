"""A person holds a run still, and lets it go on. Facts are accepted meanwhile; no step starts."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import Connection

from orchestrator.domain.states import RUN, RunStatus, StepStatus, move
from orchestrator.engine import unheld
from orchestrator.engine.fold import note
from orchestrator.store import claims, runs, steps
from orchestrator.store.records import Run, StepRow


def pause(tx: Connection, run: Run, by: str) -> Run:
    """Hold the run: what is running ends and is accepted, what would follow waits.

    Needs the run's lock. Timers, approvals and a deadline go on by the clock.
    """
    status = move(RUN, run.status, RunStatus.PAUSED)
    held = claims.hold_back(tx, run.id)
    runs.write(tx, run, status=status, paused_by=by)
    return note(tx, replace(run, status=status), "paused", {"held_steps": held}, by)


def resume(tx: Connection, run: Run, by: str) -> Run:
    """Let a paused run go on, or one that was set aside and can be read now. Needs its lock."""
    idle = runs.open_steps(tx, run.id) == 0
    status = move(RUN, run.status, RunStatus.WAITING if idle else RunStatus.RUNNING)
    runs.write(tx, run, status=status, paused_by=None, reason=None)
    run = note(tx, replace(run, status=status), "resumed", {}, by)
    for step in steps.unclaimed(tx, run.id):
        _publish(tx, step)
    return run


def _publish(tx: Connection, step: StepRow) -> None:
    """Make a step claimable again; what its last attempt may have sent is observed first."""
    if unheld.leave_to_the_reconciler(tx, step):
        return
    if step.status is StepStatus.LEASED:
        steps.move_if(tx, step.workflow_id, step.number, step.status, StepStatus.DUE)
    claims.publish(tx, step.workflow_id, step.number, after_s=0.0)
