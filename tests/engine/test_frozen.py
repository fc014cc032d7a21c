"""A process that was frozen in a transaction holds others' rows only for a while (R16)."""

from __future__ import annotations

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from orchestrator.clock import wait_for
from orchestrator.engine.database import IDLE_IN_TRANSACTION_S, Database
from orchestrator.store import runs
from tests.support.line import LEASE_S, Line

pytestmark = pytest.mark.engine


def test_what_a_frozen_process_held_comes_free_and_its_commit_is_a_lost_connection(
    line: Line, database_url: str
) -> None:
    run = line.start()
    frozen = Database(database_url, idle_s=0.2)
    with pytest.raises(OperationalError):
        hold_for_too_long(line, frozen, run)
    frozen.close()


def hold_for_too_long(line: Line, frozen: Database, run: str) -> None:
    """Lock the run's row, say nothing until the server has enough of it, and then commit."""
    with frozen.commit("frozen") as tx:
        pid = tx.execute(text("SELECT pg_backend_pid()")).scalar_one()
        runs.lock(tx, run)
        wait_for(lambda: is_gone(line, pid), 10, "the server to end the idle session")
        with line.database.commit("another") as other:
            assert runs.lock_if_free(other, run) is not None


def test_rows_come_free_before_a_lease_ends() -> None:
    assert IDLE_IN_TRANSACTION_S < LEASE_S


def is_gone(line: Line, pid: int) -> bool:
    """Return whether the server has ended that session."""
    query = text("SELECT count(*) FROM pg_stat_activity WHERE pid = :pid")
    with line.database.read() as tx:
        return bool(tx.execute(query, {"pid": pid}).scalar_one() == 0)
