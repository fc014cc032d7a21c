"""A worker's own wall clock plays no part: ten minutes off, either way, changes nothing (P5)."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from sqlalchemy import text

from orchestrator.clock import wait_for
from orchestrator.store import claims
from tests.support.database import ROOT
from tests.support.faketime import wrong_clock
from tests.support.line import Line
from tests.support.tickets import TicketService

pytestmark = pytest.mark.engine


@pytest.mark.parametrize("offset_s", [600, -600])
def test_a_worker_ten_minutes_off_leaves_only_the_databases_instants(
    line: Line, service: TicketService, database_url: str, offset_s: int
) -> None:
    run = line.start()
    argv = [sys.executable, "-m", "tests.support.worker_process", "off"]
    worker = subprocess.Popen(
        [*argv, database_url, str(service.path), "keys"],
        cwd=ROOT,
        env={**os.environ, **wrong_clock(offset_s)},
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(lambda: line.run(run)["status"] == "ended", 60, f"{run} to end", every=0.1)
    finally:
        worker.kill()
        worker.wait()
    assert line.run(run)["outcome"] == "filed"
    with line.database.read() as tx:
        instants = text(
            "SELECT count(*) FILTER (WHERE at BETWEEN outlast_now() - interval '2 minutes' AND "
            "outlast_now()), count(*) FROM (SELECT started_at FROM attempt UNION ALL SELECT "
            "ended_at FROM attempt UNION ALL SELECT recorded_at FROM event UNION ALL SELECT "
            "sent_at FROM operation) AS every (at)"
        )
        near, every = tx.execute(instants).one()
    assert near == every > 8


def test_the_preloaded_clock_is_really_off() -> None:
    asked = [sys.executable, "-c", "import time; print(time.time())"]
    off = subprocess.run(
        asked, env={**os.environ, **wrong_clock(600)}, capture_output=True, text=True, check=True
    )
    right = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert float(off.stdout) - float(right.stdout) > 500


def test_a_lease_taken_in_a_long_transaction_is_not_born_expired(line: Line) -> None:
    """The clock is read at the statement, not at the transaction's start."""
    line.start()
    names = line.registry.served(line.registry.queues())
    with line.database.commit("slow-claim") as tx:
        began = tx.execute(text("SELECT now()")).scalar_one()
        tx.execute(text("SELECT pg_sleep(0.3)"))
        [lease] = claims.claim_due(tx, "w1", "test", names, batch=1, lease_s=1.0)
    with line.database.read() as tx:
        expires = tx.execute(text("SELECT expires_at FROM claim")).scalar_one()
    assert lease.generation == 1
    assert (expires - began).total_seconds() >= 1.3
