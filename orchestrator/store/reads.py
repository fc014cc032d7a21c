"""What people see of a run. Reads only, locks nothing; instants come out as ISO text."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, desc, select, text

from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.failures import RunNotFound
from orchestrator.store import tables


def ping(connection: Connection) -> str:
    """Return the schema revision that the database stands on."""
    return str(connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one())


def run(connection: Connection, workflow_id: str) -> JsonObject:
    """Return a run with its checkpoint. Raises RunNotFound."""
    table = tables.workflow
    row = connection.execute(select(table).where(table.c.id == workflow_id)).mappings().first()
    if row is None:
        raise RunNotFound(workflow_id)
    return _plain(row)


def list_runs(
    connection: Connection, *, status: str | None, before: str | None, limit: int
) -> list[JsonObject]:
    """Return runs without their checkpoints, newest first; `before` is the last id seen."""
    table = tables.workflow
    columns = [column for column in table.c if column.name != "state"]
    query = select(*columns).order_by(desc(table.c.created_at), desc(table.c.id)).limit(limit)
    if status is not None:
        query = query.where(table.c.status == status)
    if before is not None:
        seen = select(table.c.created_at, table.c.id).where(table.c.id == before).subquery()
        query = query.where(
            (table.c.created_at < select(seen.c.created_at).scalar_subquery())
            | (
                (table.c.created_at == select(seen.c.created_at).scalar_subquery())
                & (table.c.id < before)
            )
        )
    return _all(connection, query)


def history(
    connection: Connection, workflow_id: str, *, after: int, limit: int
) -> list[JsonObject]:
    """Return accepted events after a position, in order."""
    table = tables.event
    query = (
        select(table)
        .where(table.c.workflow_id == workflow_id, table.c.position > after)
        .order_by(table.c.position)
        .limit(limit)
    )
    return _all(connection, query)


def steps(connection: Connection, workflow_id: str) -> list[JsonObject]:
    """Return every step with its attempts."""
    table, tried = tables.step, tables.attempt
    found = _all(
        connection, select(table).where(table.c.workflow_id == workflow_id).order_by(table.c.number)
    )
    attempts = _all(
        connection,
        select(tried)
        .where(tried.c.workflow_id == workflow_id)
        .order_by(tried.c.step, tried.c.number),
    )
    for step in found:
        step["attempt_records"] = [each for each in attempts if each["step"] == step["number"]]
    return found


def operations(connection: Connection, workflow_id: str) -> list[JsonObject]:
    """Return every operation with what was observed of it."""
    table = tables.operation
    query = select(table).where(table.c.workflow_id == workflow_id).order_by(table.c.step)
    return _all(connection, query)


def resources(connection: Connection, workflow_id: str) -> list[JsonObject]:
    """Return everything that the run ever owned outside."""
    table = tables.resource
    query = select(table).where(table.c.workflow_id == workflow_id).order_by(table.c.kind)
    return _all(connection, query)


def artifacts(connection: Connection, workflow_id: str) -> list[JsonObject]:
    """Return the run's stored files, oldest first."""
    table = tables.artifact
    query = (
        select(table)
        .where(table.c.workflow_id == workflow_id)
        .order_by(table.c.step, table.c.recorded_at, table.c.name)
    )
    return _all(connection, query)


def artifact(connection: Connection, workflow_id: str, sha256: str) -> JsonObject | None:
    """Return one stored file's row, if the run has it."""
    table = tables.artifact
    query = select(table).where(table.c.workflow_id == workflow_id, table.c.sha256 == sha256)
    row = connection.execute(query.limit(1)).mappings().first()
    return None if row is None else _plain(row)


def approvals(
    connection: Connection, *, workflow_id: str | None = None, status: str | None = None
) -> list[JsonObject]:
    """Return requests for decisions, oldest first."""
    table = tables.approval
    query = select(table).order_by(table.c.requested_at).limit(500)
    if workflow_id is not None:
        query = query.where(table.c.workflow_id == workflow_id)
    if status is not None:
        query = query.where(table.c.status == status)
    return _all(connection, query)


def _all(connection: Connection, query: Select[Any]) -> list[JsonObject]:
    return [_plain(row) for row in connection.execute(query).mappings()]


def _plain(row: RowMapping) -> JsonObject:
    return dict(_iso(dict(row).items()))


def _iso(pairs: Iterable[tuple[str, Any]]) -> Iterable[tuple[str, Any]]:
    for name, value in pairs:
        yield name, value.isoformat() if isinstance(value, datetime) else value
