"""The engine's speed beside a bare-SQL floor, in one run: `python -m benchmarks.engine_rates`.

Only the ratios within the run mean anything. Everything is real: an embedded PostgreSQL with fsync
on, worker processes, SIGKILL.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from sqlalchemy import text

from benchmarks import floor
from benchmarks.noop import definitions
from cli.schema import upgrade
from orchestrator.clock import monotonic, wait_for
from orchestrator.engine.database import Database
from orchestrator.engine.submit import Submission, start_once
from sandbox.postgres.server import Server

PAYLOAD = "x" * 1000
STEPS = 10
console = Console()


@dataclass
class Bench:
    """A database with the schema, and the hands that start runs and workers on it."""

    dsn: str

    def __post_init__(self) -> None:
        self.database, self.known, self.started = Database(self.dsn), definitions(), 0

    def submit(self, steps: int = STEPS) -> str:
        """Start a run."""
        self.started += 1
        body = {"steps": steps, "payload": PAYLOAD}
        submission = Submission("noop", body, "bench", f"key-{self.started}")
        return start_once(self.database, self.known, submission)

    @contextlib.contextmanager
    def workers(self, count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
        """Yield worker processes that have claimed something; end them by their pids."""
        argv = [sys.executable, "-m", "benchmarks.noop", self.dsn]
        processes = [subprocess.Popen(argv, stderr=subprocess.DEVNULL) for _ in range(count)]
        try:
            yield processes
        finally:
            for process in processes:
                process.kill()
                process.wait()

    def ended(self, run: str) -> bool:
        """Return whether a run has ended."""
        query = "SELECT count(*) FROM workflow WHERE id = :run AND status = 'ended'"
        return self._number(query, run) == 1

    def open_runs(self) -> int:
        """Return how many runs have not ended."""
        return self._number("SELECT count(*) FROM workflow WHERE status <> 'ended'")

    def is_past(self, steps: int) -> bool:
        """Return whether more steps than so many have succeeded."""
        return self.done_steps() > steps

    def holds(self, pid: int) -> bool:
        """Return whether the worker of this process holds a step."""
        return (
            self._number("SELECT count(*) FROM claim WHERE owner LIKE :run", f"bench-{pid}-%") > 0
        )

    def done_steps(self) -> int:
        """Return how many steps have succeeded."""
        return self._number("SELECT count(*) FROM step WHERE status = 'succeeded'")

    def _number(self, query: str, run: str = "") -> int:
        with self.database.read() as tx:
            given = {"run": run} if run else {}
            return int(tx.execute(text(query), given).scalar_one())


def throughput(bench: Bench, runs: int, workers: int) -> tuple[float, float, float]:
    """Return steps a second, commits a step and KB of WAL a step of runs that wait already."""
    with bench.workers(workers):
        warm = bench.submit(1)
        wait_for(lambda: bench.ended(warm), 60, "a worker to be up")
        wal, commits = _written(bench.dsn)
        began = monotonic()
        for _ in range(runs):
            bench.submit()
        wait_for(lambda: bench.open_runs() == 0, 600, "every run to end", every=0.05)
        seconds = monotonic() - began
        wal_after, commits_after = _written(bench.dsn)
    steps = runs * STEPS
    return steps / seconds, (commits_after - commits) / steps, (wal_after - wal) / steps / 1024


def latency_ms(bench: Bench, runs: int) -> float:
    """Return the median from start to end of a one-step run on an idle system, in ms."""
    taken = []
    with bench.workers(1):
        for number in range(runs + 1):
            began = monotonic()
            run = bench.submit(1)
            wait_for(partial(bench.ended, run), 60, "it to end", every=0.002)
            taken += [(monotonic() - began) * 1000] if number else []
    return statistics.median(taken)


def resumed_after_s(bench: Bench) -> float:
    """Return the seconds from the SIGKILL of the worker that holds a step to the next step done.

    A kill that came a moment too late, when the step had been given back, is not counted.
    """
    with contextlib.ExitStack() as started:
        [other] = started.enter_context(bench.workers(1))
        bench.submit(5000)
        wait_for(lambda: bench.done_steps() > 0, 60, "steps to be done")
        for _ in range(50):
            [victim] = started.enter_context(bench.workers(1))
            wait_for(partial(bench.holds, victim.pid), 60, "it to hold a step", every=0.0)
            victim.kill()
            victim.wait()
            began, reached = monotonic(), bench.done_steps()
            if not bench.holds(victim.pid):
                continue
            wait_for(partial(bench.is_past, reached), 60, "it to go on", every=0.002)
            return monotonic() - began
        raise SystemExit(f"no kill hit a step in time beside worker {other.pid}")


def cost_ms(bench: Bench, steps: int) -> float:
    """Return the mean of the last fifty steps of one long run, in ms."""
    with bench.workers(1):
        before = bench.done_steps()
        bench.submit(steps)
        wait_for(lambda: bench.done_steps() - before >= steps - 50, 900, "most steps", every=0.005)
        began, at = monotonic(), bench.done_steps() - before
        wait_for(lambda: bench.done_steps() - before >= steps, 900, "the rest", every=0.002)
        return (monotonic() - began) * 1000 / max(1, steps - at)


def _written(dsn: str) -> tuple[int, int]:
    """Return bytes of WAL and write transactions so far."""
    plain = dsn.replace("postgresql+psycopg://", "postgresql://")
    query = (
        "SELECT (pg_current_wal_lsn() - '0/0')::bigint,"
        " pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
    )
    with psycopg.connect(plain, autocommit=True) as connection:
        wal, transactions = connection.execute(query).fetchall()[0]
        return int(wal), int(transactions)


def measure(quick: bool) -> dict[str, float]:
    """Return every figure; progress is shown meanwhile."""
    runs, lengths = (40, (100,)) if quick else (200, (100, 1000, 5000))
    found: dict[str, float] = {}
    with TemporaryDirectory() as folder, Progress(console=console) as progress:
        task = progress.add_task("measuring", total=6 + len(lengths))
        server = Server.on(Path(folder) / "postgres")
        server.start()
        server.create_database()
        upgrade(server.url())
        bench = Bench(server.url())
        plain = server.url().replace("postgresql+psycopg://", "postgresql://")
        found["floor steps/s"] = floor.steps_a_second(plain, runs, STEPS, PAYLOAD)
        progress.advance(task)
        for workers in (1, 2):
            rate, commits, wal = throughput(bench, runs, workers)
            found[f"steps/s, {workers} worker"] = rate
            found[f"ratio to the floor, {workers} worker"] = rate / found["floor steps/s"]
            found[f"write transactions a step, {workers} worker"] = commits
            found[f"WAL KB a step, {workers} worker"] = wal
            progress.advance(task)
        found["start to result p50, ms"] = latency_ms(bench, 10 if quick else 40)
        progress.advance(task)
        found["resumed after SIGKILL, s"] = resumed_after_s(bench)
        progress.advance(task)
        for length in lengths:
            found[f"ms a step at {length} steps"] = cost_ms(bench, length)
            progress.advance(task)
        bench.database.close()
        server.stop()
    return found


def main() -> None:
    """Measure and print a table, or JSON for programs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the work")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    found = measure(asked.quick)
    if asked.json:
        sys.stdout.write(json.dumps(found, indent=2) + "\n")
        return
    table = Table("figure", "measured")
    for name, value in found.items():
        table.add_row(name, f"{value:,.2f}")
    console.print(table)


if __name__ == "__main__":
    main()
