"""Ten thousand waiting runs cost a look at what is due what none cost (P14, R19)."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from orchestrator.clock import wait_for
from orchestrator.engine import due, expiry, inbox
from orchestrator.engine.database import Database
from orchestrator.store import claims, duties, messages
from orchestrator.workflows.catalogue import definitions

pytestmark = pytest.mark.engine
PARKED = 10_000
PARK = """
INSERT INTO workflow (id, definition, definition_version, status, phase, cleanup, cancel_stage,
                      state, state_version, position, generation, submitter, created_at,
                      updated_at, deadline)
SELECT 'parked-' || n, 'document', 1, 'waiting', 'awaiting-approval', 'none', 'none', '{}', 1, 1, 1,
       'alice', outlast_now(), outlast_now(), outlast_now() + interval '9 days'
FROM generate_series(1, :parked) n;
INSERT INTO timer (workflow_id, name, fires_at)
SELECT 'parked-' || n, 'remind', outlast_now() + interval '1 day'
FROM generate_series(1, :parked) n;
INSERT INTO approval (workflow_id, ordinal, status, scope, requested_at, expires_at)
SELECT 'parked-' || n, 1, 'pending', '{}', outlast_now(), outlast_now() + interval '2 days'
FROM generate_series(1, :parked) n;
INSERT INTO claim (workflow_id, step, queue, activity, due_at, gives_up_at)
SELECT 'parked-' || n, 1, 'tracker', 'create-ticket', outlast_now() + interval '1 hour',
       outlast_now() + interval '9 days'
FROM generate_series(1, :parked) n;
ANALYZE
"""
ROWS = """
SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)
FROM pg_stat_user_tables
WHERE relname IN ('workflow', 'timer', 'approval', 'claim', 'inbox', 'outbox')
"""
OTHERS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"


def read_rows(dsn: str) -> int:
    """Return how many rows all sessions have read so far, once none is left that could add any."""
    database = Database(dsn)
    try:

        def alone() -> bool:
            with database.read() as tx:
                return bool(tx.execute(text(OTHERS)).scalar_one() == 1)

        wait_for(alone, 10, "other sessions to end")
        with database.read() as tx:
            return int(tx.execute(text(ROWS)).scalar_one())
    finally:
        database.close()


def tick(dsn: str) -> None:
    """Do every duty of a worker and a reconciler once, and claim."""
    database, known = Database(dsn), definitions()
    with database.read() as tx:
        found = duties.look(tx)
        assert not messages.any_due(tx)
    assert found == duties.Waiting(False, False, False, False, False, False)
    done = inbox.decide_some(database, known) + due.fire_some(database, known)
    done += due.expire_some(database, known) + due.end_overdue_runs(database, known)
    done += expiry.expire_leases(database, known) + expiry.take_over_orphans(database, known)
    done += expiry.give_up_unstarted(database, known)
    with database.commit("claim") as tx:
        assert not claims.claim_due(tx, "w", "test", ["create-ticket"], batch=5, lease_s=9.0)
    assert done == 0
    database.close()


def test_a_look_reads_as_many_rows_with_ten_thousand_parked_as_with_none(database_url: str) -> None:
    before = read_rows(database_url)
    tick(database_url)
    with_none = read_rows(database_url) - before
    parking = Database(database_url)
    for statement in PARK.split(";\n"):
        with parking.commit("park") as tx:
            tx.execute(text(statement), {"parked": PARKED} if ":parked" in statement else {})
    parking.close()
    before = read_rows(database_url)
    tick(database_url)
    assert read_rows(database_url) - before <= with_none + 20
