"""Runs and their history: lock, read, write. Never commits."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, insert, select, text, update

from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.failures import RunNotFound
from orchestrator.domain.states import RunStatus
from orchestrator.store import statements, tables
from orchestrator.store.records import Run

NOW = text("(SELECT outlast_now())")


def in_seconds(seconds: float) -> ColumnElement[datetime]:
    """Return the instant so many seconds from now, by the database's clock."""
    return func.outlast_now() + func.make_interval(0, 0, 0, 0, 0, 0, seconds)


def installation_id(connection: Connection) -> str:
    """Return this installation's random id, which every outside tag carries (R5)."""
    return str(connection.execute(select(tables.installation.c.id)).scalar_one())


def next_id(connection: Connection, definition: str) -> str:
    """Return a new run's id, `<definition>-<number>`; numbers may have gaps."""
    number = connection.execute(text("SELECT nextval('workflow_number')")).scalar_one()
    return f"{definition}-{number}"


def lock(connection: Connection, workflow_id: str) -> Run:
    """Take the run's row until the transaction ends. Raises RunNotFound."""
    row = statements.row(connection, "lock_run", workflow_id=workflow_id)
    if row is None:
        raise RunNotFound(workflow_id)
    return Run.of(row)


def lock_if_free(connection: Connection, workflow_id: str) -> Run | None:
    """Take the run's row, or return None when another transaction has it."""
    row = statements.row(connection, "lock_run_if_free", workflow_id=workflow_id)
    return None if row is None else Run.of(row)


def create(
    connection: Connection,
    workflow_id: str,
    definition: str,
    version: int,
    submitter: str,
    state: JsonObject,
    phase: str,
) -> None:
    """Insert a run at position 0, before its first event."""
    connection.execute(
        insert(tables.workflow).values(
            id=workflow_id,
            definition=definition,
            definition_version=version,
            status=RunStatus.RUNNING,
            phase=phase,
            cleanup="none",
            cancel_stage="none",
            state=state,
            state_version=state["version"],
            position=0,
            generation=1,
            submitter=submitter,
            created_at=NOW,
            updated_at=NOW,
        )
    )


def append_event(
    connection: Connection, run: Run, kind: str, payload: JsonObject, cause: str, code_version: str
) -> None:
    """Append the event at the run's next position; a position is taken once (P1)."""
    connection.execute(
        insert(tables.event).values(
            workflow_id=run.id,
            position=run.position + 1,
            kind=kind,
            payload=payload,
            cause=cause,
            code_version=code_version,
            recorded_at=NOW,
        )
    )


def write(connection: Connection, run: Run, **values: Any) -> None:
    """Write what the decision made of a locked run, guarded by its history position (R15).

    Raises RuntimeError when the position moved, which the lock makes impossible.
    """
    changed = connection.execute(
        update(tables.workflow)
        .where(tables.workflow.c.id == run.id, tables.workflow.c.position == run.position)
        .values(updated_at=NOW, **values)
    )
    if changed.rowcount != 1:
        raise RuntimeError(f"run {run.id} moved past position {run.position} under its lock")


def has_live_cause(connection: Connection, workflow_id: str) -> bool:
    """Return whether an open step, a timer or an undecided approval can still move the run."""
    step, timer, approval = tables.step, tables.timer, tables.approval
    causes = (
        select(step.c.number).where(
            step.c.workflow_id == workflow_id, step.c.status.in_(("due", "leased", "unsettled"))
        ),
        select(timer.c.name).where(timer.c.workflow_id == workflow_id),
        select(approval.c.ordinal).where(
            approval.c.workflow_id == workflow_id, approval.c.status == "pending"
        ),
    )
    return any(connection.execute(cause.limit(1)).first() is not None for cause in causes)


def open_steps(connection: Connection, workflow_id: str) -> int:
    """Return how many steps are due, leased or unsettled."""
    step = tables.step
    count = select(func.count()).where(
        step.c.workflow_id == workflow_id, step.c.status.in_(("due", "leased", "unsettled"))
    )
    return int(connection.execute(count).scalar_one())


def set_deadline(connection: Connection, workflow_id: str, seconds: float) -> None:
    """Set or move the run's deadline to so many seconds from now."""
    table = tables.workflow
    connection.execute(
        update(table).where(table.c.id == workflow_id).values(deadline=in_seconds(seconds))
    )


def extend_deadline(connection: Connection, workflow_id: str, seconds: float) -> bool:
    """Give a run more time, from its deadline or from now, whichever is later.

    False for a run without a deadline.
    """
    table = tables.workflow
    later = func.greatest(table.c.deadline, NOW) + func.make_interval(0, 0, 0, 0, 0, 0, seconds)
    moved = connection.execute(
        update(table)
        .where(table.c.id == workflow_id, table.c.deadline.is_not(None))
        .values(deadline=later)
    )
    return moved.rowcount == 1


def past_deadline(connection: Connection, limit: int) -> list[str]:
    """Return live runs whose deadline has passed, earliest first; locks nothing."""
    table = tables.workflow
    query = (
        select(table.c.id)
        .where(
            table.c.deadline.is_not(None),
            table.c.status.in_(("running", "waiting", "paused")),
            table.c.deadline <= NOW,
        )
        .order_by(table.c.deadline)
        .limit(limit)
    )
    return list(connection.execute(query).scalars())


def is_past_deadline(connection: Connection, workflow_id: str) -> bool:
    """Return whether the run's deadline has passed. Needs the run's lock to mean anything."""
    table = tables.workflow
    query = select(table.c.id).where(table.c.id == workflow_id, table.c.deadline <= NOW)
    return connection.execute(query).first() is not None
