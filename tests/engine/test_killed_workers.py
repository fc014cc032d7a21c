"""Real processes, real SIGKILL: a run goes on from what was recorded and observed."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from orchestrator.clock import wait_for
from tests.support.database import ROOT, Clock
from tests.support.line import Line
from tests.support.tickets import TicketService

pytestmark = pytest.mark.engine

PAST_EVERY_LEASE_S = 60.0
POINTS = [
    ("commit", "claim", "after"),
    ("commit", "mark-sent", "before"),
    ("commit", "mark-sent", "after"),
    ("call", "create-ticket", "before"),
    ("call", "create-ticket", "after"),
    ("commit", "accept-result", "before"),
    ("commit", "accept-result", "after"),
]


class Processes:
    """Starts workers and reconcilers as processes and ends what it started."""

    def __init__(self, dsn: str, service: TicketService) -> None:
        self.words = [dsn, str(service.path), "keys" if service.keys else "nokeys"]
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self, role: str, *kill: str) -> subprocess.Popen[bytes]:
        """Start a process."""
        argv = [sys.executable, "-m", "tests.support.worker_process", role, *self.words, *kill]
        process = subprocess.Popen(argv, cwd=ROOT, stderr=subprocess.DEVNULL)
        self.started.append(process)
        return process

    def end_all(self) -> None:
        """Kill and reap every process."""
        for process in self.started:
            process.kill()
            process.wait()


@pytest.fixture
def processes(database_url: str, service: TicketService) -> Iterator[Processes]:
    """Yield the starter."""
    made = Processes(database_url, service)
    yield made
    made.end_all()


@pytest.mark.parametrize("point", POINTS, ids="-".join)
def test_a_worker_killed_at_any_crossing_leaves_one_ticket_and_a_finished_run(
    line: Line,
    service: TicketService,
    processes: Processes,
    clock: Clock,
    point: tuple[str, str, str],
) -> None:
    run = line.start()
    dying = processes.start("dying", *point)
    assert dying.wait(timeout=30) == -signal.SIGKILL
    clock.advance(PAST_EVERY_LEASE_S)
    processes.start("worker")
    processes.start("reconciler")
    wait_for(lambda: line.run(run)["status"] == "ended", 60, f"{run} to end", every=0.1)
    assert line.run(run)["outcome"] == "filed"
    assert service.tickets() == [(1, "Maintenance", "From two to three.", "completed")]
    assert line.run(run)["state"]["ticket"] == "1"


def test_without_keys_a_lost_answer_is_adopted_and_not_created_again(
    database_url: str, tmp_path: Path, line: Line, clock: Clock
) -> None:
    service = TicketService(tmp_path / "keyless.sqlite", keys=False)
    run = line.start()
    processes = Processes(database_url, service)
    try:
        assert processes.start("dying", "call", "create-ticket", "after").wait(30) == -9
        assert len(service.tickets()) == 1
        assert line.run(run)["state"]["ticket"] is None
        clock.advance(PAST_EVERY_LEASE_S)
        processes.start("worker")
        processes.start("reconciler")
        wait_for(lambda: line.run(run)["status"] == "ended", 60, f"{run} to end", every=0.1)
    finally:
        processes.end_all()
    assert service.journal().count("create") == 1
    assert line.operations(run)[0]["guarantee"] == "none"


def test_a_frozen_worker_that_wakes_after_its_lease_changes_nothing(
    line: Line, service: TicketService, processes: Processes, clock: Clock
) -> None:
    """SIGSTOP for longer than the lease, another worker in between, then SIGCONT.

    It is frozen after `sent` and before its request leaves: the worst moment to wake up later.
    """
    run = line.start()
    first = processes.start("first", "call", "update-ticket", "before", "SIGSTOP")
    stopped = psutil.Process(first.pid)
    wait_for(lambda: stopped.status() == psutil.STATUS_STOPPED, 30, "the first worker to freeze")
    clock.advance(PAST_EVERY_LEASE_S)
    processes.start("second")
    processes.start("reconciler")
    wait_for(lambda: line.run(run)["status"] == "ended", 60, f"{run} to end", every=0.1)
    before = service.tickets()
    first.send_signal(signal.SIGCONT)

    def spoke() -> bool:
        return line.steps(run)[1]["attempt_records"][0]["late"] is not None

    wait_for(spoke, 60, "the late word of the first worker", every=0.1)
    assert service.tickets() == before
    assert service.journal().count("set section") == 2
    assert line.history(run).count("step-succeeded") == 3
    assert line.run(run)["outcome"] == "filed"
