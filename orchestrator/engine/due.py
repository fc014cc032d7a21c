"""What has come due by the database's clock: timers, undecided approvals, deadlines."""

from __future__ import annotations

from functools import partial

from orchestrator.domain.states import ApprovalStatus, RunStatus, StopCause
from orchestrator.engine import cancel
from orchestrator.engine.database import Database
from orchestrator.engine.fold import fold
from orchestrator.engine.set_aside import guarded
from orchestrator.store import approvals, runs, timers
from orchestrator.workflows.decision import ApprovalExpired, TimerFired
from orchestrator.workflows.registry import Definitions


def fire_some(database: Database, definitions: Definitions, limit: int = 20) -> int:
    """Fire up to `limit` due timers; return how many fired here."""
    with database.read() as tx:
        due = timers.due(tx, limit)
    return sum(
        guarded(database, run, partial(_fire, database, definitions, run, name), 0)
        for run, name in due
    )


def _fire(database: Database, definitions: Definitions, workflow_id: str, name: str) -> int:
    with database.commit("fire-timer") as tx:
        run = runs.lock_if_free(tx, workflow_id)
        if run is None or run.status is RunStatus.SET_ASIDE:
            return 0
        if not timers.take_if_due(tx, workflow_id, name):
            return 0
        fold(tx, definitions, run, TimerFired(at=run.now, name=name), "timer")
        return 1


def expire_some(database: Database, definitions: Definitions, limit: int = 20) -> int:
    """Expire up to `limit` approvals past their time; return how many expired here."""
    with database.read() as tx:
        due = approvals.expired_pending(tx, limit)
    return sum(
        guarded(database, run, partial(_expire, database, definitions, run, ordinal), 0)
        for run, ordinal in due
    )


def _expire(database: Database, definitions: Definitions, workflow_id: str, ordinal: int) -> int:
    with database.commit("expire-approval") as tx:
        run = runs.lock_if_free(tx, workflow_id)
        if run is None or run.status is RunStatus.SET_ASIDE:
            return 0
        if not approvals.decide_if_pending(tx, workflow_id, ordinal, ApprovalStatus.EXPIRED, None):
            return 0
        fold(tx, definitions, run, ApprovalExpired(at=run.now, ordinal=ordinal), "timer")
        return 1


def end_overdue_runs(database: Database, definitions: Definitions, limit: int = 20) -> int:
    """Stop runs whose deadline has passed; their work is stopped and cleaned as a cancellation."""
    with database.read() as tx:
        late = runs.past_deadline(tx, limit)
    return sum(
        guarded(database, run, partial(_stop_late, database, definitions, run), 0) for run in late
    )


def _stop_late(database: Database, definitions: Definitions, workflow_id: str) -> int:
    with database.commit("reach-deadline") as tx:
        run = runs.lock_if_free(tx, workflow_id)
        live = (RunStatus.RUNNING, RunStatus.WAITING, RunStatus.PAUSED)
        if run is None or run.status not in live or not runs.is_past_deadline(tx, workflow_id):
            return 0
        cancel.begin(tx, definitions, run, "deadline", StopCause.DEADLINE)
        return 1
