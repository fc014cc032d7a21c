"""Workers as they announce themselves. Knowing of one proves nothing about its life."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, func, update
from sqlalchemy.dialects.postgresql import insert

from orchestrator.store import tables
from orchestrator.store.runs import NOW


def announce(
    connection: Connection,
    worker_id: str,
    queues: Sequence[str],
    code_version: str,
    *,
    holds_session: bool,
) -> None:
    """Record a worker at its start, before its first claim.

    `holds_session` says that its own session holds its lock already: the lock's freedom then means
    its end (R11).
    """
    statement = insert(tables.worker).values(
        id=worker_id,
        queues=sorted(queues),
        code_version=code_version,
        started_at=NOW,
        seen_at=NOW,
        holds_session=holds_session,
        server_started_at=func.pg_postmaster_start_time(),
    )
    connection.execute(statement.on_conflict_do_nothing())


def seen(connection: Connection, worker_id: str) -> None:
    """Record that the worker still talks to the database."""
    table = tables.worker
    connection.execute(update(table).where(table.c.id == worker_id).values(seen_at=NOW))
