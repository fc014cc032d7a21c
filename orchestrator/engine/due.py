"""What has come due by the database's clock: timers, and approvals that nobody decided."""

from __future__ import annotations

from functools import partial

from orchestrator.domain.states import ApprovalStatus
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
        if run is None or not timers.take_if_due(tx, workflow_id, name):
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
        if run is None or not approvals.decide_if_pending(
            tx, workflow_id, ordinal, ApprovalStatus.EXPIRED, None
        ):
            return 0
        fold(tx, definitions, run, ApprovalExpired(at=run.now, ordinal=ordinal), "timer")
        return 1
