"""What an operator adds to a run, ended or not: more of a budget, another try (R26)."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import Connection

from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.budgets import OF_STEPS, Budget
from orchestrator.domain.states import RUN, CancelStage, RunStatus, move
from orchestrator.engine.fold import fold
from orchestrator.store import claims, runs, steps
from orchestrator.store.records import Run
from orchestrator.workflows.decision import BudgetRaised, CorrectionGiven, EndRun, RetryRequested
from orchestrator.workflows.registry import Definitions

Offer = BudgetRaised | RetryRequested | CorrectionGiven
Said = tuple[Run, JsonObject]


def raise_budget(tx: Connection, definitions: Definitions, run: Run, event: BudgetRaised) -> Said:
    """Raise a budget; an ended run goes on if its definition can. Needs the run's lock."""
    if run.status is RunStatus.CANCELLING:
        return run, {"result": "too-late", "status": run.status}
    raised: JsonObject = {}
    if event.budget in OF_STEPS:
        raised["steps"] = steps.raise_limits(tx, run.id, event.budget, event.amount)
    if event.budget is Budget.WORKFLOW_TIME:
        raised["deadline"] = runs.extend_deadline(tx, run.id, event.amount)
    run, said = offer(tx, definitions, run, event)
    if any(raised.values()) and run.status is not RunStatus.ENDED:
        return run, {"result": "accepted", **raised}
    return run, said


def retry(
    tx: Connection, definitions: Definitions, run: Run, event: RetryRequested, name: str
) -> Said:
    """End the back-off of due steps of this name, or offer the retry to the definition."""
    if run.status in (RunStatus.RUNNING, RunStatus.WAITING):
        due = claims.make_due_now(tx, run.id, name) if name else []
        if due:
            return run, {"result": "accepted", "steps": due}
    return offer(tx, definitions, run, event)


def offer(tx: Connection, definitions: Definitions, run: Run, event: Offer) -> Said:
    """Fold the event if the definition has a use for it; else nothing is written, and that is said.

    An ended run is reopened only where the definition answers with effects that do not end it.
    """
    if run.status is RunStatus.SET_ASIDE:
        return run, {"result": "refused", "reason": "the run was set aside; resume it first"}
    definition = definitions.get(run.definition)
    state = definition.state_type.from_json(run.state)
    decision = definition.decide(state, event)
    is_of_use = bool(decision.effects) or decision.state != state
    ended = run.status is RunStatus.ENDED
    ends = any(isinstance(effect, EndRun) for effect in decision.effects)
    if not is_of_use or (ended and (ends or not decision.effects)):
        reason = f"a {run.definition} in phase {run.phase} ({run.status}) has no use for it"
        return run, {"result": "refused", "reason": reason}
    if ended:
        run = _reopen(tx, run)
    run = fold(tx, definitions, run, event, f"principal:{event.by}")
    return run, {"result": "accepted", "phase": run.phase, "reopened": ended}


def _reopen(tx: Connection, run: Run) -> Run:
    status = move(RUN, run.status, RunStatus.RUNNING)
    again = {"status": status, "cancel_stage": CancelStage.NONE}
    runs.write(
        tx,
        run,
        outcome=None,
        reason=None,
        ended_at=None,
        cleanup="none",
        cancel_by=None,
        cancel_because=None,
        **again,
    )
    return replace(run, status=status, cancel_stage=CancelStage.NONE)
