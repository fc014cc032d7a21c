"""Cancellation through its named stages: stop active work, keep evidence, clean, end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import Connection

from orchestrator.domain.operations import QUICK_LOOKS
from orchestrator.domain.states import CANCELLATION, RUN, CancelStage, RunStatus, StopCause, move
from orchestrator.engine import unheld
from orchestrator.engine.fold import fold, note
from orchestrator.store import approvals, operations, resources, runs, steps, timers
from orchestrator.store.records import Run
from orchestrator.workflows.decision import CancelRequested
from orchestrator.workflows.registry import Definitions


def begin(
    connection: Connection,
    definitions: Definitions,
    run: Run,
    by: str,
    because: StopCause = StopCause.PERSON,
) -> Run:
    """Start cancelling: nothing new starts, and active attempts lose the right to write.

    The run's generation goes up, so that heartbeats answer "cancelled" and late results are
    refused. Needs the run's lock and a run that is neither ended nor cancelling.
    """
    status = move(RUN, run.status, RunStatus.CANCELLING)
    stage = move(CANCELLATION, run.cancel_stage, CancelStage.REQUESTED)
    dropped = steps.cancel_due(connection, run.id)
    made = operations.abandon_intended(connection, run.id, dropped)
    resources.never_came_to_be(connection, run.id, made)
    if run.status is RunStatus.SET_ASIDE:
        unheld.cancel(connection, run.id)
    timers.cancel_all(connection, run.id)
    approvals.supersede_open(connection, run.id)
    generation = run.generation + 1
    stop: dict[str, Any] = {
        "status": status,
        "cancel_stage": stage,
        "cancel_by": by,
        "cancel_because": because,
        "generation": generation,
    }
    runs.write(connection, run, paused_by=None, **stop)
    run = replace(run, **stop)
    kind = "deadline-reached" if because is StopCause.DEADLINE else "cancellation-requested"
    run = note(connection, run, kind, {"dropped_steps": dropped}, by)
    return go_on(connection, definitions, _enter(connection, run, CancelStage.STOPPING))


def go_on(connection: Connection, definitions: Definitions, run: Run) -> Run:
    """Leave `stopping` once no attempt is active and open outcomes were looked at.

    Evidence needs no work of its own: accepted results and their artifacts are durable already.
    An operation that stays ambiguous does not hold the cleanup for ever; it is listed in it (R20).
    """
    if run.cancel_stage is not CancelStage.STOPPING:
        return run
    if steps.active_of_older_generation(connection, run.id, run.generation, QUICK_LOOKS):
        return run
    run = _enter(connection, run, CancelStage.PRESERVING)
    run = _enter(connection, run, CancelStage.CLEANING)
    event = CancelRequested(at=run.now, by=run.cancel_by or "", because=run.cancel_because)
    return fold(connection, definitions, run, event, "engine")


def _enter(connection: Connection, run: Run, stage: CancelStage) -> Run:
    entered = move(CANCELLATION, run.cancel_stage, stage)
    runs.write(connection, run, cancel_stage=entered)
    run = replace(run, cancel_stage=entered)
    return note(connection, run, "cancellation-stage", {"stage": entered}, "engine")
