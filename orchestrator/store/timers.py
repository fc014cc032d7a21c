"""Timers by the database's clock. Never commits."""

from __future__ import annotations

from sqlalchemy import Connection, delete, func, select
from sqlalchemy.dialects.postgresql import insert

from orchestrator.store import tables
from orchestrator.store.runs import NOW


def start(connection: Connection, workflow_id: str, name: str, seconds: float) -> None:
    """Start or replace a timer."""
    fires_at = func.outlast_now() + func.make_interval(0, 0, 0, 0, 0, 0, seconds)
    statement = insert(tables.timer).values(workflow_id=workflow_id, name=name, fires_at=fires_at)
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["workflow_id", "name"], set_={"fires_at": statement.excluded.fires_at}
        )
    )


def cancel(connection: Connection, workflow_id: str, name: str) -> None:
    """Forget a timer, if there is one."""
    table = tables.timer
    connection.execute(
        delete(table).where(table.c.workflow_id == workflow_id, table.c.name == name)
    )


def cancel_all(connection: Connection, workflow_id: str) -> None:
    """Forget every timer of the run."""
    connection.execute(delete(tables.timer).where(tables.timer.c.workflow_id == workflow_id))


def take_if_due(connection: Connection, workflow_id: str, name: str) -> bool:
    """Delete the timer if it is due; False when it was moved, fired or cancelled before."""
    table = tables.timer
    gone = connection.execute(
        delete(table).where(
            table.c.workflow_id == workflow_id, table.c.name == name, table.c.fires_at <= NOW
        )
    )
    return gone.rowcount == 1


def due(connection: Connection, limit: int) -> list[tuple[str, str]]:
    """Return (workflow, name) of due timers, earliest first; locks nothing."""
    table = tables.timer
    query = (
        select(table.c.workflow_id, table.c.name)
        .where(table.c.fires_at <= NOW)
        .order_by(table.c.fires_at)
        .limit(limit)
    )
    return [(row[0], row[1]) for row in connection.execute(query)]
