"""Steps, attempts and claims. A claim is locked before its step, always. Never commits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, insert, select, update

from orchestrator.contracts.payload import JsonObject, fingerprint
from orchestrator.domain.budgets import Limits, Spent
from orchestrator.domain.states import StepStatus
from orchestrator.store import statements, tables
from orchestrator.store.records import Lease, StepRow
from orchestrator.store.runs import NOW


@dataclass(frozen=True)
class NewStep:
    """What is needed to schedule a step."""

    name: str
    ordinal: int
    activity: str
    queue: str
    operation_id: str | None
    input: JsonObject
    limits: Limits


def schedule(connection: Connection, workflow_id: str, run_generation: int, new: NewStep) -> int:
    """Insert a due step with its claim and return its number. Needs the run's lock.

    The claim row is the step's publication: it becomes visible with the commit and not before.
    """
    highest = select(func.coalesce(func.max(tables.step.c.number), 0)).where(
        tables.step.c.workflow_id == workflow_id
    )
    number = int(connection.execute(highest).scalar_one()) + 1
    connection.execute(
        insert(tables.step).values(
            workflow_id=workflow_id,
            number=number,
            name=new.name,
            ordinal=new.ordinal,
            activity=new.activity,
            queue=new.queue,
            operation_id=new.operation_id,
            input=new.input,
            input_fingerprint=fingerprint(new.input),
            limits=new.limits.to_json(),
            spent={},
            status=StepStatus.DUE,
            generation=0,
            run_generation=run_generation,
            attempts=0,
            created_at=NOW,
        )
    )
    publish(connection, workflow_id, number, after_s=0.0)
    return number


def publish(connection: Connection, workflow_id: str, number: int, *, after_s: float) -> None:
    """Make a due step claimable after so many seconds. Its generation goes on, never resets."""
    step = tables.step
    source = select(
        step.c.workflow_id,
        step.c.number,
        step.c.queue,
        step.c.activity,
        func.outlast_now() + func.make_interval(0, 0, 0, 0, 0, 0, after_s),
        step.c.generation,
    ).where(step.c.workflow_id == workflow_id, step.c.number == number)
    columns = ["workflow_id", "step", "queue", "activity", "due_at", "generation"]
    connection.execute(insert(tables.claim).from_select(columns, source))


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
    connection: Connection, worker: str, leases: Sequence[Lease], lease_s: float
) -> dict[tuple[str, int, int], bool]:
    """Renew all these leases and return those still held; the value says `cancelled`."""
    found = statements.rows(
        connection,
        "renew_leases_if_held",
        worker=worker,
        workflow_ids=[lease.workflow_id for lease in leases],
        steps=[lease.step for lease in leases],
        generations=[lease.generation for lease in leases],
        lease_s=lease_s,
    )
    return {(row["workflow_id"], row["step"], row["generation"]): row["cancelled"] for row in found}


def keep_substate_if_leased(connection: Connection, lease: Lease, substate: JsonObject) -> bool:
    """Store what the next attempt may resume from, while this attempt holds the step."""
    step = tables.step
    changed = connection.execute(
        update(step)
        .where(
            step.c.workflow_id == lease.workflow_id,
            step.c.number == lease.step,
            step.c.status == StepStatus.LEASED,
            step.c.generation == lease.generation,
        )
        .values(substate=substate)
    )
    return changed.rowcount == 1


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
) -> str | None:
    """Take an expired lease away and return its late owner, or None when it is no longer so."""
    row = statements.row(
        connection,
        "release_claim_if_expired",
        workflow_id=workflow_id,
        step=step,
        generation=generation,
    )
    return None if row is None else str(row["owner"])


def close_if_leased(
    connection: Connection,
    workflow_id: str,
    number: int,
    generation: int,
    status: StepStatus,
    *,
    result: JsonObject | None = None,
    failure: JsonObject | None = None,
    spent: Spent | None = None,
) -> bool:
    """Move a leased step on; False means that the attempt or the run's generation is stale."""
    row = statements.row(
        connection,
        "close_step_if_leased",
        workflow_id=workflow_id,
        step=number,
        generation=generation,
        status=status,
        result=None if result is None else json.dumps(result),
        failure=None if failure is None else json.dumps(failure),
        spent=None if spent is None else json.dumps(spent.to_json()),
    )
    return row is not None


def move_if(
    connection: Connection,
    workflow_id: str,
    number: int,
    before: StepStatus,
    after: StepStatus,
    *,
    result: JsonObject | None = None,
    failure: JsonObject | None = None,
) -> bool:
    """Move a step that no attempt holds, if it still stands in `before`. Needs the run's lock."""
    step = tables.step
    ended = after in (StepStatus.SUCCEEDED, StepStatus.FAILED, StepStatus.CANCELLED)
    changed = connection.execute(
        update(step)
        .where(step.c.workflow_id == workflow_id, step.c.number == number, step.c.status == before)
        .values(status=after, result=result, failure=failure, ended_at=NOW if ended else None)
    )
    return changed.rowcount == 1


def raise_generation(connection: Connection, workflow_id: str, number: int) -> None:
    """Take a step over from its lost attempt: what that one shows as its token is now too low."""
    step = tables.step
    connection.execute(
        update(step)
        .where(step.c.workflow_id == workflow_id, step.c.number == number)
        .values(generation=step.c.generation + 1)
    )


def end_attempt(
    connection: Connection,
    workflow_id: str,
    number: int,
    attempt: int,
    outcome: str,
    failure: JsonObject | None = None,
) -> None:
    """Record how a running attempt ended; an attempt that already ended keeps its first end."""
    row = tables.attempt
    connection.execute(
        update(row)
        .where(
            row.c.workflow_id == workflow_id,
            row.c.step == number,
            row.c.number == attempt,
            row.c.outcome == "running",
        )
        .values(outcome=outcome, failure=failure, ended_at=NOW)
    )


def keep_late_word(connection: Connection, lease: Lease, word: JsonObject) -> None:
    """Keep what a superseded attempt still had to say; it moves nothing (R12)."""
    row = tables.attempt
    connection.execute(
        update(row)
        .where(
            row.c.workflow_id == lease.workflow_id,
            row.c.step == lease.step,
            row.c.number == lease.attempt,
        )
        .values(late=word)
    )


def read(connection: Connection, workflow_id: str, number: int) -> StepRow:
    """Return one step."""
    step = tables.step
    query = select(step).where(step.c.workflow_id == workflow_id, step.c.number == number)
    return StepRow.of(connection.execute(query).mappings().one())


def cancel_due(connection: Connection, workflow_id: str) -> list[int]:
    """Cancel every step that no attempt holds yet; their claims go first. Needs the run's lock."""
    claim, step = tables.claim, tables.step
    freed = connection.execute(
        delete(claim)
        .where(claim.c.workflow_id == workflow_id, claim.c.owner.is_(None))
        .returning(claim.c.step)
    ).scalars()
    numbers = sorted(freed)
    connection.execute(
        update(step)
        .where(
            step.c.workflow_id == workflow_id,
            step.c.number.in_(numbers),
            step.c.status == StepStatus.DUE,
        )
        .values(status=StepStatus.CANCELLED, ended_at=NOW)
    )
    return numbers


def active_of_older_generation(
    connection: Connection, workflow_id: str, generation: int, looks: int
) -> int:
    """Return how many steps of earlier run generations are still active.

    Active means leased, or unsettled with fewer than `looks` observations of its operation.
    """
    step, operation = tables.step, tables.operation
    seen = func.coalesce(func.jsonb_array_length(operation.c.observations), 0)
    query = (
        select(func.count())
        .select_from(step.outerjoin(operation, operation.c.id == step.c.operation_id))
        .where(
            step.c.workflow_id == workflow_id,
            step.c.run_generation < generation,
            (step.c.status == StepStatus.LEASED)
            | ((step.c.status == StepStatus.UNSETTLED) & (seen < looks)),
        )
    )
    return int(connection.execute(query).scalar_one())


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
