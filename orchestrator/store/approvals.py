"""Requests for a person's decision. Never commits."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, RowMapping, func, select, update
from sqlalchemy.dialects.postgresql import insert

from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.states import APPROVAL, ApprovalStatus, OperationStatus, sources
from orchestrator.store import tables
from orchestrator.store.runs import NOW


def ask(
    connection: Connection, workflow_id: str, ordinal: int, scope: JsonObject, expires_s: float
) -> None:
    """Ask anew; an earlier request that is still pending or unused is superseded."""
    table = tables.approval
    supersede_open(connection, workflow_id)
    connection.execute(
        insert(table).values(
            workflow_id=workflow_id,
            ordinal=ordinal,
            status=ApprovalStatus.PENDING,
            scope=scope,
            requested_at=NOW,
            expires_at=func.outlast_now() + func.make_interval(0, 0, 0, 0, 0, 0, expires_s),
        )
    )


def supersede_open(connection: Connection, workflow_id: str) -> None:
    """Close every request that could still be decided or used."""
    _close(connection, workflow_id, ApprovalStatus.SUPERSEDED)


def mark_used_by_confirmed(connection: Connection, workflow_id: str) -> None:
    """Mark approvals used whose action took effect: an operation under them was confirmed."""
    table, operation = tables.approval, tables.operation
    acted_on = select(operation.c.approval).where(
        operation.c.workflow_id == workflow_id,
        operation.c.status == OperationStatus.CONFIRMED,
        operation.c.approval.is_not(None),
    )
    connection.execute(
        update(table)
        .where(
            table.c.workflow_id == workflow_id,
            table.c.ordinal.in_(acted_on),
            table.c.status == ApprovalStatus.APPROVED,
        )
        .values(status=ApprovalStatus.USED)
    )


def _close(connection: Connection, workflow_id: str, after: ApprovalStatus) -> None:
    table = tables.approval
    connection.execute(
        update(table)
        .where(table.c.workflow_id == workflow_id, table.c.status.in_(sources(APPROVAL, after)))
        .values(status=after)
    )


def read(connection: Connection, workflow_id: str, ordinal: int) -> RowMapping | None:
    """Return the request with `live` (still within its time), or None."""
    table = tables.approval
    query = select(table, (table.c.expires_at > NOW).label("live")).where(
        table.c.workflow_id == workflow_id, table.c.ordinal == ordinal
    )
    return connection.execute(query).mappings().one_or_none()


def decide_if_pending(
    connection: Connection,
    workflow_id: str,
    ordinal: int,
    after: ApprovalStatus,
    by: str | None,
    comment: str = "",
) -> bool:
    """Decide a pending request; False when it was decided, superseded or expired before."""
    table = tables.approval
    changed = connection.execute(
        update(table)
        .where(
            table.c.workflow_id == workflow_id,
            table.c.ordinal == ordinal,
            table.c.status == ApprovalStatus.PENDING,
        )
        .values(status=after, decided_by=by, decided_at=NOW, comment=comment)
    )
    return changed.rowcount == 1


def expired_pending(connection: Connection, limit: int) -> Sequence[tuple[str, int]]:
    """Return (workflow, ordinal) of pending requests past their time; locks nothing."""
    table = tables.approval
    query = (
        select(table.c.workflow_id, table.c.ordinal)
        .where(table.c.status == ApprovalStatus.PENDING, table.c.expires_at <= NOW)
        .order_by(table.c.expires_at)
        .limit(limit)
    )
    return [(row[0], row[1]) for row in connection.execute(query)]
