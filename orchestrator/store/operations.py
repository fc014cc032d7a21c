"""The idempotency table: one row per logical mutation outside. Never commits."""

from __future__ import annotations

import json
from dataclasses import dataclass

from sqlalchemy import Connection, func, select, update
from sqlalchemy.dialects.postgresql import insert

from orchestrator.contracts.payload import JsonObject, fingerprint
from orchestrator.domain.failures import OperationMismatch
from orchestrator.domain.operations import Guarantee
from orchestrator.domain.states import OperationStatus
from orchestrator.store import statements, tables
from orchestrator.store.records import Lease, OperationRow
from orchestrator.store.runs import NOW

OPEN = (OperationStatus.SENT, OperationStatus.AMBIGUOUS)


def refuse_other_parameters(connection: Connection, operation_id: str, request: JsonObject) -> None:
    """Raise OperationMismatch if the id stands with another fingerprint (P7)."""
    query = select(tables.operation.c.fingerprint).where(tables.operation.c.id == operation_id)
    found = connection.execute(query).scalar_one_or_none()
    if found is not None and found != fingerprint(request):
        raise OperationMismatch(operation_id)


@dataclass(frozen=True)
class Intent:
    """One logical mutation as it is wanted: what to send, what it needs, what it makes or cleans.

    `makes` and `cleans` name an owned resource as {kind, tag}.
    """

    id: str
    activity: str
    request: JsonObject
    approval: int | None = None
    makes: JsonObject | None = None
    cleans: JsonObject | None = None


def intend(connection: Connection, workflow_id: str, step: int, intent: Intent) -> None:
    """Commit the intent with its canonical request, stored once (P6, R3)."""
    connection.execute(
        insert(tables.operation).values(
            id=intent.id,
            workflow_id=workflow_id,
            step=step,
            activity=intent.activity,
            request=intent.request,
            fingerprint=fingerprint(intent.request),
            approval=intent.approval,
            makes=intent.makes,
            cleans=intent.cleans,
            status=OperationStatus.INTENDED,
            version=1,
            observations=[],
        )
    )


def read(connection: Connection, operation_id: str) -> OperationRow:
    """Return the operation."""
    query = select(tables.operation).where(tables.operation.c.id == operation_id)
    return OperationRow.of(connection.execute(query).mappings().one())


def mark_sent_if_leased(
    connection: Connection, lease: Lease, guarantee: Guarantee, needs_s: float
) -> bool:
    """Mark the operation sent, before its first byte; False when a guard refused (R1, R2, R10)."""
    held = statements.row(
        connection,
        "hold_lease_for_send",
        workflow_id=lease.workflow_id,
        step=lease.step,
        worker=lease.worker,
        generation=lease.generation,
        needs_s=needs_s,
    )
    if held is None:
        return False
    sent = statements.row(
        connection,
        "mark_sent_if_leased",
        operation_id=lease.operation_id,
        guarantee=guarantee,
        attempt=lease.attempt,
        generation=lease.generation,
    )
    return sent is not None


def settle_if_version(
    connection: Connection,
    operation: OperationRow,
    status: OperationStatus,
    settled_by: str,
    *,
    reference: str | None = None,
    facts: JsonObject | None = None,
) -> bool:
    """Move an operation on from exactly the version that was read (R18)."""
    row = statements.row(
        connection,
        "settle_operation_if_version",
        operation_id=operation.id,
        version=operation.version,
        status=status,
        reference=reference,
        facts=None if facts is None else json.dumps(facts),
        settled_by=settled_by,
        observe_at=None,
    )
    return row is not None


def refuse_intended(connection: Connection, operation_id: str, by: str, facts: JsonObject) -> bool:
    """Refuse an operation that was never sent, as its receiver or our own guard said."""
    operation = tables.operation
    changed = connection.execute(
        update(operation)
        .where(operation.c.id == operation_id, operation.c.status == OperationStatus.INTENDED)
        .values(
            status=OperationStatus.REFUSED,
            facts=facts,
            version=operation.c.version + 1,
            settled_by=by,
            settled_at=NOW,
        )
    )
    return changed.rowcount == 1


def abandon_intended(
    connection: Connection, workflow_id: str, steps: list[int]
) -> list[JsonObject]:
    """Abandon intents that were never sent; return what they would have made.

    `intended` proves that nothing left, so what they name never came to be.
    """
    operation = tables.operation
    abandoned = connection.execute(
        update(operation)
        .where(
            operation.c.workflow_id == workflow_id,
            operation.c.step.in_(steps),
            operation.c.status == OperationStatus.INTENDED,
        )
        .values(
            status=OperationStatus.ABANDONED,
            version=operation.c.version + 1,
            settled_by="engine",
            settled_at=NOW,
        )
        .returning(operation.c.makes)
    ).scalars()
    return [makes for makes in abandoned if makes is not None]


def note_observation(
    connection: Connection, operation: OperationRow, observed: JsonObject, again_in_s: float
) -> bool:
    """Append what was observed and when to look again; the status stays `ambiguous`."""
    table = tables.operation
    kept = [*operation.observations[-19:], observed]
    changed = connection.execute(
        update(table)
        .where(
            table.c.id == operation.id,
            table.c.version == operation.version,
            table.c.status == OperationStatus.AMBIGUOUS,
        )
        .values(
            observations=kept,
            version=table.c.version + 1,
            observe_at=func.outlast_now() + func.make_interval(0, 0, 0, 0, 0, 0, again_in_s),
        )
    )
    return changed.rowcount == 1


def due_for_observation(connection: Connection, limit: int) -> list[OperationRow]:
    """Return ambiguous operations whose next look is due, oldest first; locks nothing."""
    table = tables.operation
    query = (
        select(table)
        .where(
            table.c.status == OperationStatus.AMBIGUOUS,
            func.coalesce(table.c.observe_at, NOW) <= NOW,
        )
        .order_by(table.c.observe_at.nulls_first())
        .limit(limit)
    )
    return [OperationRow.of(row) for row in connection.execute(query).mappings()]


def open_ids(connection: Connection, workflow_id: str) -> list[str]:
    """Return the run's operations whose outcome is open, sorted."""
    table = tables.operation
    query = (
        select(table.c.id)
        .where(table.c.workflow_id == workflow_id, table.c.status.in_(OPEN))
        .order_by(table.c.id)
    )
    return list(connection.execute(query).scalars())
