"""Inbox: outside messages, accepted once. Outbox: published after a commit. Never commits."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, RowMapping, func, select, update
from sqlalchemy.dialects.postgresql import insert

from orchestrator.contracts.payload import JsonObject, fingerprint
from orchestrator.domain.states import OutboxStatus
from orchestrator.store import statements, tables
from orchestrator.store.runs import NOW


@dataclass(frozen=True)
class MessageKey:
    """What makes a message the same message (R17): run, subject, principal, message id."""

    workflow_id: str
    subject: str
    principal: str
    message_id: str


def accept(connection: Connection, key: MessageKey, kind: str, payload: JsonObject) -> RowMapping:
    """Store the raw message once, without reading the run, and return the stored row.

    The row's fingerprint tells the caller whether a repeat says the same.
    """
    table = tables.inbox
    statement = insert(table).values(
        workflow_id=key.workflow_id,
        subject=key.subject,
        principal=key.principal,
        message_id=key.message_id,
        kind=kind,
        fingerprint=fingerprint({"kind": kind, "payload": payload}),
        payload=payload,
        received_at=NOW,
    )
    connection.execute(statement.on_conflict_do_nothing())
    row = find(connection, key)
    if row is None:
        raise RuntimeError(f"message {key.message_id} vanished within its own transaction")
    return row


def find(connection: Connection, key: MessageKey) -> RowMapping | None:
    """Return the stored message with its answer, or None."""
    table = tables.inbox
    query = select(table).where(
        table.c.workflow_id == key.workflow_id,
        table.c.subject == key.subject,
        table.c.principal == key.principal,
        table.c.message_id == key.message_id,
    )
    return connection.execute(query).mappings().one_or_none()


def undecided_runs(connection: Connection, limit: int) -> list[str]:
    """Return runs that have undecided messages, oldest message first; locks nothing."""
    table = tables.inbox
    query = (
        select(table.c.workflow_id)
        .where(table.c.answer.is_(None))
        .group_by(table.c.workflow_id)
        .order_by(func.min(table.c.serial))
        .limit(limit)
    )
    return list(connection.execute(query).scalars())


def undecided(connection: Connection, workflow_id: str) -> list[RowMapping]:
    """Return the run's undecided messages in order of arrival. Needs the run's lock."""
    table = tables.inbox
    query = (
        select(table)
        .where(table.c.workflow_id == workflow_id, table.c.answer.is_(None))
        .order_by(table.c.serial)
    )
    return list(connection.execute(query).mappings())


def answer(connection: Connection, message: RowMapping, said: JsonObject) -> None:
    """Give a message its one answer, which lives as long as the run."""
    table = tables.inbox
    connection.execute(
        update(table)
        .where(table.c.serial == message["serial"], table.c.answer.is_(None))
        .values(answer=said, decided_at=NOW)
    )


def publish_later(
    connection: Connection, workflow_id: str, message_id: str, topic: str, payload: JsonObject
) -> None:
    """Put a message into the outbox; it leaves after the commit, at least once."""
    statement = insert(tables.outbox).values(
        workflow_id=workflow_id,
        message_id=message_id,
        topic=topic,
        payload=payload,
        status=OutboxStatus.PENDING,
        due_at=NOW,
        attempts=0,
    )
    connection.execute(statement.on_conflict_do_nothing(index_elements=["message_id"]))


def take_due(connection: Connection, batch: int, hold_s: float) -> list[RowMapping]:
    """Take due messages for so many seconds; whoever takes them publishes and says so."""
    return list(statements.rows(connection, "take_due_outbox", batch=batch, hold_s=hold_s))


def published(connection: Connection, message_id: str) -> None:
    """Mark a message published."""
    table = tables.outbox
    connection.execute(
        update(table)
        .where(table.c.message_id == message_id)
        .values(status=OutboxStatus.PUBLISHED, published_at=NOW)
    )


def any_due(connection: Connection) -> bool:
    """Return whether a message is due, without locking it."""
    table = tables.outbox
    earliest = select(func.min(table.c.due_at)).where(table.c.status != OutboxStatus.PUBLISHED)
    query = select(func.coalesce(earliest.scalar_subquery() <= NOW, False))
    return bool(connection.execute(query).scalar_one())
