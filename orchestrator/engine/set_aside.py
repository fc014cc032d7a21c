"""A run that this code cannot decide is set aside visibly and never blocks others (P18)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import structlog
from sqlalchemy import delete

from orchestrator.domain.failures import OutlastError, StaleAttempt
from orchestrator.domain.states import RUN, RunStatus, move
from orchestrator.engine.database import Database
from orchestrator.engine.fold import note
from orchestrator.store import runs, tables

T = TypeVar("T")
log = structlog.get_logger()


def set_aside(database: Database, workflow_id: str, reason: str) -> None:
    """Stop deciding for a run; its state and history stay as they were, with the reason."""
    with database.commit("set-aside") as tx:
        run = runs.lock(tx, workflow_id)
        if run.status in (RunStatus.ENDED, RunStatus.SET_ASIDE):
            return
        tx.execute(delete(tables.claim).where(tables.claim.c.workflow_id == workflow_id))
        status = move(RUN, run.status, RunStatus.SET_ASIDE)
        runs.write(tx, run, status=status, reason=reason[:2000])
        note(tx, run, "set-aside", {"reason": reason[:2000]}, "engine")


def guarded(database: Database, workflow_id: str, call: Callable[[], T], otherwise: T) -> T:
    """Run a decision; when the definition or its data is at fault, set that run aside.

    Faults of the database or the process are not the run's: they are raised.
    """
    try:
        return call()
    except StaleAttempt:
        raise
    except (
        OutlastError,
        LookupError,
        TypeError,
        ValueError,
        ArithmeticError,
        AttributeError,
    ) as fault:
        log.error("run set aside", workflow_id=workflow_id, fault=repr(fault)[:500])
        set_aside(database, workflow_id, repr(fault))
        return otherwise
