"""What a run owns outside: registered before it exists, listed until it is gone. Never commits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, select, update
from sqlalchemy.dialects.postgresql import insert

from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.states import RESOURCE, ResourceStatus, sources
from orchestrator.store import tables
from orchestrator.store.runs import NOW

SETTLED = (ResourceStatus.GONE, ResourceStatus.KEPT)


def register(
    connection: Connection, workflow_id: str, kind: str, tag: str, generation: int
) -> None:
    """Register a thing before it is made; a second registration changes nothing."""
    statement = insert(tables.resource).values(
        workflow_id=workflow_id,
        kind=kind,
        tag=tag,
        status=ResourceStatus.REGISTERED,
        generation=generation,
        registered_at=NOW,
        changed_at=NOW,
    )
    connection.execute(statement.on_conflict_do_nothing())


def move(
    connection: Connection,
    workflow_id: str,
    kind: str,
    tag: str,
    after: ResourceStatus,
    *,
    reference: str | None = None,
    note: str | None = None,
) -> bool:
    """Move a resource on, where its table allows; False when it stands elsewhere already."""
    table = tables.resource
    values: dict[str, Any] = {"status": after, "changed_at": NOW, "note": note}
    if reference is not None:
        values["reference"] = reference
    changed = connection.execute(
        update(table)
        .where(
            table.c.workflow_id == workflow_id,
            table.c.kind == kind,
            table.c.tag == tag,
            table.c.status.in_(sources(RESOURCE, after)),
        )
        .values(**values)
    )
    return changed.rowcount == 1


def remaining(connection: Connection, workflow_id: str) -> list[tuple[str, str, str]]:
    """Return (kind, tag, status) of what the run still owns outside."""
    table = tables.resource
    query = (
        select(table.c.kind, table.c.tag, table.c.status)
        .where(table.c.workflow_id == workflow_id, table.c.status.not_in(SETTLED))
        .order_by(table.c.kind, table.c.tag)
    )
    return [(row[0], row[1], row[2]) for row in connection.execute(query)]


def count(connection: Connection, workflow_id: str) -> int:
    """Return how many things the run ever registered."""
    query = select(tables.resource.c.tag).where(tables.resource.c.workflow_id == workflow_id)
    return len(connection.execute(query).all())


def never_came_to_be(connection: Connection, workflow_id: str, named: Iterable[JsonObject]) -> None:
    """Mark registered things gone, because it is proved that nobody asked for them outside."""
    for thing in named:
        move(connection, workflow_id, thing["kind"], thing["tag"], ResourceStatus.GONE)
