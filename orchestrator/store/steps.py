"""Steps and their attempts. A claim is locked before its step, always. Never commits."""

from __future__ import annotations

import json
from dataclasses import dataclass

from sqlalchemy import Connection, exists, func, insert, literal, select, update
from sqlalchemy.dialects.postgresql import JSONB

from orchestrator.contracts.payload import JsonObject, fingerprint
from orchestrator.domain.budgets import Budget, Limits, Spent
from orchestrator.domain.states import StepStatus
from orchestrator.store import claims, statements, tables
from orchestrator.store.records import Lease, StepRow
from orchestrator.store.runs import NOW, in_seconds


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
    claims.publish(connection, workflow_id, number, after_s=0.0)
    return number


def keep_substate_if_leased(connection: Connection, lease: Lease, substate: JsonObject) -> bool:
    """Store what the next attempt may resume from; it counts as progress.

    False when the attempt no longer holds the step.
    """
    claim, step = tables.claim, tables.step
    allowed = lease.limits.progress_s
    moved = connection.execute(
        update(claim)
        .where(
            claim.c.workflow_id == lease.workflow_id,
            claim.c.step == lease.step,
            claim.c.owner == lease.worker,
            claim.c.generation == lease.generation,
        )
        .values(progress_until=None if allowed is None else in_seconds(allowed))
    )
    if moved.rowcount != 1:
        return False
    connection.execute(
        update(step)
        .where(step.c.workflow_id == lease.workflow_id, step.c.number == lease.step)
        .values(substate=substate)
    )
    return True


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
    spent: Spent | None = None,
) -> bool:
    """Move a step that no attempt holds, if it still stands in `before`. Needs the run's lock."""
    step = tables.step
    charged = {} if spent is None else {"spent": spent.to_json()}
    ended = after in (StepStatus.SUCCEEDED, StepStatus.FAILED, StepStatus.CANCELLED)
    changed = connection.execute(
        update(step)
        .where(step.c.workflow_id == workflow_id, step.c.number == number, step.c.status == before)
        .values(
            status=after, result=result, failure=failure, ended_at=NOW if ended else None, **charged
        )
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
    """Keep what a superseded attempt still had to say, with who and when.

    It moves nothing (R12).
    """
    row = tables.attempt
    connection.execute(
        update(row)
        .where(
            row.c.workflow_id == lease.workflow_id,
            row.c.step == lease.step,
            row.c.number == lease.attempt,
        )
        .values(
            late=literal({**word, "by": lease.worker}, JSONB).op("||")(
                func.jsonb_build_object("at", func.outlast_now())
            )
        )
    )


def read(connection: Connection, workflow_id: str, number: int) -> StepRow:
    """Return one step."""
    step = tables.step
    query = select(step).where(step.c.workflow_id == workflow_id, step.c.number == number)
    return StepRow.of(connection.execute(query).mappings().one())


def cancel_due(connection: Connection, workflow_id: str) -> list[int]:
    """Cancel every step that no attempt holds, one held back by a pause too. Needs the run's lock.

    The claims go first, so that a worker that is taking one of them wins.
    """
    claims.hold_back(connection, workflow_id)
    step = tables.step
    cancelled = connection.execute(
        update(step)
        .where(step.c.workflow_id == workflow_id, step.c.status == StepStatus.DUE)
        .values(status=StepStatus.CANCELLED, ended_at=NOW)
        .returning(step.c.number)
    ).scalars()
    return sorted(cancelled)


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


def unclaimed(connection: Connection, workflow_id: str) -> list[StepRow]:
    """Return due and leased steps that have no claim, in order. Needs the run's lock."""
    claim, step = tables.claim, tables.step
    query = (
        select(step)
        .where(
            step.c.workflow_id == workflow_id,
            step.c.status.in_((StepStatus.DUE, StepStatus.LEASED)),
            ~exists().where(
                claim.c.workflow_id == step.c.workflow_id, claim.c.step == step.c.number
            ),
        )
        .order_by(step.c.number)
    )
    return [StepRow.of(row) for row in connection.execute(query).mappings()]


def raise_limits(connection: Connection, workflow_id: str, budget: Budget, by: int) -> list[int]:
    """Raise one budget of every step that has not ended; return their numbers."""
    step = tables.step
    open_steps = select(step).where(
        step.c.workflow_id == workflow_id,
        step.c.status.in_((StepStatus.DUE, StepStatus.LEASED, StepStatus.UNSETTLED)),
    )
    rows = [StepRow.of(row) for row in connection.execute(open_steps).mappings()]
    for row in rows:
        connection.execute(
            update(step)
            .where(step.c.workflow_id == workflow_id, step.c.number == row.number)
            .values(limits=row.limits.raised(budget, by).to_json())
        )
    return [row.number for row in rows]


def leased(connection: Connection, workflow_id: str) -> list[int]:
    """Return the numbers of steps that an attempt holds, sorted."""
    step = tables.step
    query = (
        select(step.c.number)
        .where(step.c.workflow_id == workflow_id, step.c.status == StepStatus.LEASED)
        .order_by(step.c.number)
    )
    return list(connection.execute(query).scalars())
