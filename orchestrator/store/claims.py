"""Claims: what is due, who holds it and until when; small, hot, apart from steps. Never commits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, select, text, update

from orchestrator.domain.budgets import Limits, TimeLimit
from orchestrator.store import statements, tables
from orchestrator.store.records import Lease
from orchestrator.store.runs import NOW


@dataclass(frozen=True)
class Renewal:
    """The answer to a heartbeat: the run has moved on, or a time limit is over, or neither."""

    cancelled: bool
    reached: TimeLimit | None


def publish(connection: Connection, workflow_id: str, number: int, *, after_s: float) -> None:
    """Make a due step claimable after so many seconds, unless a person holds its run."""
    statements.row(
        connection,
        "publish_step_unless_paused",
        workflow_id=workflow_id,
        step=number,
        after_s=after_s,
    )


def claim_due(
    connection: Connection,
    worker: str,
    code_version: str,
    activities: Sequence[str],
    *,
    batch: int,
    lease_s: float,
) -> list[Lease]:
    """Lease up to `batch` due steps of these activities; each attempt is recorded."""
    found = statements.rows(
        connection,
        "claim_due_steps",
        worker=worker,
        code_version=code_version,
        activities=list(activities),
        batch=batch,
        lease_s=lease_s,
    )
    return [
        Lease(
            workflow_id=row["workflow_id"],
            step=row["number"],
            name=row["name"],
            ordinal=row["ordinal"],
            activity=row["activity"],
            queue=row["queue"],
            on_trial=row["on_trial"],
            operation_id=row["operation_id"],
            input=row["input"],
            limits=Limits.from_json(row["limits"]),
            generation=row["generation"],
            run_generation=row["run_generation"],
            attempt=row["attempts"],
            worker=worker,
            substate=row["substate"],
        )
        for row in found
    ]


def renew_if_held(
    connection: Connection, leases: Sequence[Lease], lease_s: float, grace_s: float
) -> dict[tuple[str, int, int], Renewal]:
    """Renew all these leases and return those still held, with what their activities must hear.

    A lease is never renewed further than `grace_s` past a time limit that it has reached.
    """
    found = statements.rows(
        connection,
        "renew_leases_if_held",
        workflow_ids=[lease.workflow_id for lease in leases],
        steps=[lease.step for lease in leases],
        generations=[lease.generation for lease in leases],
        owners=[lease.worker for lease in leases],
        lease_s=lease_s,
        grace_s=grace_s,
    )
    return {
        (row["workflow_id"], row["step"], row["generation"]): Renewal(
            cancelled=row["cancelled"],
            reached=None if row["reached"] is None else TimeLimit(row["reached"]),
        )
        for row in found
    }


def release_if_held(connection: Connection, lease: Lease) -> bool:
    """Give the claim back; False means that the attempt was superseded."""
    row = statements.row(
        connection,
        "release_claim_if_held",
        workflow_id=lease.workflow_id,
        step=lease.step,
        worker=lease.worker,
        generation=lease.generation,
    )
    return row is not None


def release_if_expired(
    connection: Connection, workflow_id: str, step: int, generation: int
) -> tuple[str, TimeLimit] | None:
    """Take an expired lease away; return its late owner and what stopped moving, or None."""
    row = statements.row(
        connection,
        "release_claim_if_expired",
        workflow_id=workflow_id,
        step=step,
        generation=generation,
    )
    return None if row is None else (str(row["owner"]), TimeLimit(row["reached"]))


def release_if_orphaned(
    connection: Connection, workflow_id: str, step: int, generation: int
) -> str | None:
    """Take a lease away whose worker's session is gone; return the owner, or None (R11)."""
    row = statements.row(
        connection,
        "release_claim_if_orphaned",
        workflow_id=workflow_id,
        step=step,
        generation=generation,
    )
    return None if row is None else str(row["owner"])


def release_if_overdue(connection: Connection, workflow_id: str, step: int) -> TimeLimit | None:
    """Take an unstarted step's claim away for good, if its time is still over; say which time."""
    row = statements.row(connection, "release_claim_if_overdue", workflow_id=workflow_id, step=step)
    return None if row is None else TimeLimit(row["reached"])


def expired_claims(connection: Connection, limit: int) -> list[tuple[str, int, int]]:
    """Return (workflow, step, generation) of leases past their time; locks nothing."""
    claim = tables.claim
    query = (
        select(claim.c.workflow_id, claim.c.step, claim.c.generation)
        .where(claim.c.owner.is_not(None), claim.c.expires_at <= NOW)
        .order_by(claim.c.expires_at)
        .limit(limit)
    )
    return [(row[0], row[1], row[2]) for row in connection.execute(query)]


def orphaned_claims(connection: Connection, limit: int) -> list[tuple[str, int, int]]:
    """Return (workflow, step, generation) of leases whose worker's session is gone; locks nothing.

    What is returned is a hint: the statement that takes a lease away looks again.
    """
    query = text(
        "SELECT claim.workflow_id, claim.step, claim.generation "
        "FROM claim JOIN worker ON worker.id = claim.owner AND worker.holds_session "
        "WHERE claim.owner IS NOT NULL AND NOT EXISTS ("
        " SELECT 1 FROM pg_locks"
        " WHERE locktype = 'advisory' AND granted AND objsubid = 1"
        " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        " AND ((classid::bigint << 32) | objid::bigint) = outlast_session_key(worker.id)) "
        "ORDER BY claim.workflow_id, claim.step LIMIT :limit"
    )
    return [(row[0], row[1], row[2]) for row in connection.execute(query, {"limit": limit})]


def overdue_claims(connection: Connection, limit: int) -> list[tuple[str, int]]:
    """Return (workflow, step) of due steps whose time is over, unstarted; locks nothing."""
    claim = tables.claim
    query = (
        select(claim.c.workflow_id, claim.c.step)
        .where(claim.c.owner.is_(None), claim.c.gives_up_at <= NOW)
        .order_by(claim.c.gives_up_at)
        .limit(limit)
    )
    return [(row[0], row[1]) for row in connection.execute(query)]


def hold_back(connection: Connection, workflow_id: str) -> list[int]:
    """Take the claims of steps that nobody has started; they stay due. Needs the run's lock."""
    claim = tables.claim
    taken = connection.execute(
        delete(claim)
        .where(claim.c.workflow_id == workflow_id, claim.c.owner.is_(None))
        .returning(claim.c.step)
    ).scalars()
    return sorted(taken)


def make_due_now(connection: Connection, workflow_id: str, name: str) -> list[int]:
    """End the back-off of a run's due steps of this name; return their numbers."""
    claim, step = tables.claim, tables.step
    named = select(step.c.number).where(step.c.workflow_id == workflow_id, step.c.name == name)
    moved = connection.execute(
        update(claim)
        .where(
            claim.c.workflow_id == workflow_id,
            claim.c.owner.is_(None),
            claim.c.step.in_(named),
        )
        .values(due_at=NOW)
        .returning(claim.c.step)
    ).scalars()
    return sorted(moved)
