"""Workers as they announce themselves. Knowing of one proves nothing about its life."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, update
from sqlalchemy.dialects.postgresql import insert

from orchestrator.store import tables
from orchestrator.store.runs import NOW


def announce(
    connection: Connection, worker_id: str, queues: Sequence[str], code_version: str
) -> None:
    """Record a worker at its start."""
    statement = insert(tables.worker).values(
        id=worker_id,
        queues=sorted(queues),
        code_version=code_version,
        started_at=NOW,
        seen_at=NOW,
    )
    connection.execute(statement.on_conflict_do_nothing())


def seen(connection: Connection, worker_id: str) -> None:
    """Record that the worker still talks to the database."""
    table = tables.worker
    connection.execute(update(table).where(table.c.id == worker_id).values(seen_at=NOW))
