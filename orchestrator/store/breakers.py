"""One breaker per receiver: a thousand runs that meet one outage make no storm. Never commits."""

from __future__ import annotations

from sqlalchemy import Connection, case, delete, func, select
from sqlalchemy.dialects.postgresql import insert

from orchestrator.contracts.payload import JsonObject
from orchestrator.store import tables
from orchestrator.store.runs import NOW, in_seconds

FAILURES_BEFORE_OPEN = 5
FIRST_OPEN_S = 1.0
LONGEST_OPEN_S = 60.0


def failed(
    connection: Connection, receiver: str, reason: str, *, asked_wait_s: float | None
) -> None:
    """Count a refusal or an outage of the receiver; open its breaker when there are too many.

    A receiver that says when to come back opens it at once, for so long. While it is open no step
    of that receiver is claimed; afterwards each further failure opens it for twice the time.
    """
    table = tables.breaker
    first = in_seconds(asked_wait_s) if asked_wait_s is not None else NOW
    new = insert(table).values(receiver=receiver, failures=1, open_until=first, reason=reason[:500])
    more = table.c.failures + 1
    doubled = FIRST_OPEN_S * func.power(2, func.least(more - FAILURES_BEFORE_OPEN, 10))
    pause = func.make_interval(0, 0, 0, 0, 0, 0, func.least(LONGEST_OPEN_S, doubled))
    counted = case((more >= FAILURES_BEFORE_OPEN, func.outlast_now() + pause), else_=NOW)
    connection.execute(
        new.on_conflict_do_update(
            index_elements=["receiver"],
            set_={
                "failures": more,
                "open_until": func.greatest(table.c.open_until, new.excluded.open_until, counted),
                "reason": new.excluded.reason,
            },
        )
    )


def answered(connection: Connection, receiver: str) -> None:
    """Forget the receiver's failures: it has done something again."""
    connection.execute(delete(tables.breaker).where(tables.breaker.c.receiver == receiver))


def list_all(connection: Connection) -> list[JsonObject]:
    """Return every receiver that failed since it last answered, with `is_open`."""
    table = tables.breaker
    query = select(table, (table.c.open_until > NOW).label("is_open")).order_by(table.c.receiver)
    return [
        {**row, "open_until": row["open_until"].isoformat()}
        for row in connection.execute(query).mappings()
    ]
