"""Fold one event into a run: decide, then write state, history and effects in one transaction."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version
from typing import Any

from sqlalchemy import Connection

from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.failures import OutlastError
from orchestrator.domain.states import (
    CANCELLATION,
    RUN,
    CancelStage,
    Cleanup,
    RunStatus,
    move,
)
from orchestrator.engine import effects, history
from orchestrator.store import approvals, operations, resources, runs, steps, timers
from orchestrator.store.records import Run
from orchestrator.workflows.decision import EndRun, Event
from orchestrator.workflows.registry import Definitions

CODE_VERSION = f"outlast {version('outlast')}"


class RunSetAside(OutlastError):
    """An event was brought to a run that nobody can decide for now."""

    def __init__(self, workflow_id: str) -> None:
        super().__init__(f"run {workflow_id} was set aside; resume it first")


class NoCauseToMove(OutlastError):
    """A decision left a run with nothing that could ever move it again (P22)."""

    def __init__(self, workflow_id: str) -> None:
        super().__init__(
            f"run {workflow_id} would have no step, timer or approval left; its definition is wrong"
        )


def fold(
    connection: Connection, definitions: Definitions, run: Run, event: Event, cause: str
) -> Run:
    """Fold the event and return the run as written. Needs the run's lock.

    While a cancellation is stopping active work, facts are kept and effects are dropped: what
    came back late is known to the cleanup, and nothing new starts.
    """
    if run.status is RunStatus.SET_ASIDE:
        raise RunSetAside(run.id)
    definition = definitions.get(run.definition)
    decision = definition.decide(definition.state_type.from_json(run.state), event)
    position = run.position + 1
    runs.append_event(
        connection, run, history.kind(event), history.payload(event), cause, CODE_VERSION
    )
    stopping = run.cancel_stage in (CancelStage.REQUESTED, CancelStage.STOPPING)
    wanted = () if stopping else decision.effects
    end = effects.write_all(connection, effects.Place(run, position), wanted)
    state = decision.state.to_json()
    values: dict[str, Any] = {
        "position": position,
        "state": state,
        "state_version": state["version"],
        "phase": definition.phase(decision.state),
    }
    values |= _ending(connection, run, end) if end else _going_on(connection, run)
    runs.write(connection, run, **values)
    return replace(
        run,
        position=position,
        state=state,
        phase=values["phase"],
        status=RunStatus(values["status"]),
        cancel_stage=CancelStage(values.get("cancel_stage", run.cancel_stage)),
    )


def note(connection: Connection, run: Run, kind: str, payload: JsonObject, cause: str) -> Run:
    """Append an event of the engine's own, which no definition decides on."""
    runs.append_event(connection, run, kind, payload, cause, CODE_VERSION)
    runs.write(connection, run, position=run.position + 1)
    return replace(run, position=run.position + 1)


def _going_on(connection: Connection, run: Run) -> dict[str, Any]:
    if run.status in (RunStatus.CANCELLING, RunStatus.PAUSED):
        return {"status": run.status}
    if not runs.has_live_cause(connection, run.id):
        raise NoCauseToMove(run.id)
    idle = runs.open_steps(connection, run.id) == 0
    return {"status": RunStatus.WAITING if idle else RunStatus.RUNNING}


def _ending(connection: Connection, run: Run, end: EndRun) -> dict[str, Any]:
    dropped = steps.cancel_due(connection, run.id)
    made = operations.abandon_intended(connection, run.id, dropped)
    resources.never_came_to_be(connection, run.id, made)
    timers.cancel_all(connection, run.id)
    approvals.mark_used_by_confirmed(connection, run.id)
    approvals.supersede_open(connection, run.id)
    cleanup, left = _cleanup(connection, run.id)
    values: dict[str, Any] = {
        "status": move(RUN, run.status, RunStatus.ENDED),
        "outcome": end.outcome,
        "reason": "; ".join(part for part in (end.reason, left) if part) or None,
        "cleanup": cleanup,
        "generation": run.generation + 1,
        "ended_at": runs.NOW,
        "paused_by": None,
    }
    if run.cancel_stage is CancelStage.CLEANING:
        values["cancel_stage"] = move(CANCELLATION, run.cancel_stage, CancelStage.DONE)
    return values


def _cleanup(connection: Connection, workflow_id: str) -> tuple[Cleanup, str]:
    """Return what became of what the run owned, and a line that lists what remains."""
    remaining = [
        f"{kind} {tag} ({status})"
        for kind, tag, status in resources.remaining(connection, workflow_id)
    ]
    remaining += [
        f"operation {name} (open)" for name in operations.open_ids(connection, workflow_id)
    ]
    if remaining:
        return Cleanup.INCOMPLETE, "remains: " + ", ".join(remaining)
    if resources.count(connection, workflow_id):
        return Cleanup.CLEAN, ""
    return Cleanup.NONE, ""
