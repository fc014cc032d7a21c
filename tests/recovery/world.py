"""One world of the matrix: a database, a ticket service, processes; and what it came to."""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from orchestrator.clock import wait_for
from orchestrator.contracts.messages import ApprovalAnswer
from orchestrator.contracts.payload import JsonObject
from orchestrator.engine import inbox
from orchestrator.store.messages import MessageKey
from orchestrator.workflows.catalogue import definitions
from tests.support.database import ROOT, Clock
from tests.support.line import Line
from tests.support.tickets import TicketService, registry

ENDS_WITHIN_S = 60.0
# What a crash adds to a history, and nothing else may differ.
OF_CRASHES = frozenset(
    {
        "attempt-limit-reached",
        "heartbeat-limit-reached",
        "progress-limit-reached",
        "worker-lost",
        "outcome-ambiguous",
        "operation-settled",
    }
)


@dataclass
class World:
    """Processes on one database and one store; the test moves the clock and answers as a person."""

    dsn: str
    service: TicketService
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    answered: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.line = Line(self.dsn, definitions(), registry(self.service))
        self.clock = Clock(self.dsn)

    def start(self, role: str, *watched: str) -> subprocess.Popen[bytes]:
        """Start a worker or a reconciler as a process."""
        words = [role, self.dsn, str(self.service.path), "keys", *watched]
        argv = [sys.executable, "-m", "tests.support.worker_process", *words]
        process = subprocess.Popen(argv, cwd=ROOT, stderr=subprocess.DEVNULL)
        self.processes.append(process)
        return process

    def end(self, run: str) -> None:
        """Return once the run has ended; approve what waits for a person meanwhile."""

        def ended() -> bool:
            self.approve(run)
            return bool(self.line.run(run)["status"] == "ended")

        wait_for(ended, ENDS_WITHIN_S, f"{run} to end", every=0.1)

    def approve(self, run: str) -> None:
        """Answer what waits for a person, once, and leave the decision to a worker."""
        for asked in self.line.approvals(run):
            if asked["status"] == "pending" and asked["ordinal"] not in self.answered:
                self.answered.append(asked["ordinal"])
                scope = asked["scope"]
                answer = ApprovalAnswer(
                    ordinal=asked["ordinal"],
                    approve=True,
                    head=scope["head"],
                    manifest_sha256=scope["manifest_sha256"],
                )
                key = MessageKey(run, f"approval:{asked['ordinal']}", "rita", "m1")
                inbox.accept(self.line.database, key, answer)

    def published(self, run: str) -> None:
        """Return once nothing of the run waits in the outbox."""
        wait_for(lambda: self._unpublished(run) == 0, ENDS_WITHIN_S, "the outbox", every=0.1)

    def close(self) -> None:
        """Kill and reap every process, frozen ones too."""
        for process in self.processes:
            process.kill()
            process.wait()
        self.line.database.close()

    def _unpublished(self, run: str) -> int:
        query = "SELECT count(*) FROM outbox WHERE workflow_id = %s AND status <> 'published'"
        with self.line.database.read() as tx:
            return int(tx.exec_driver_sql(query, (run,)).scalar_one())

    def normal_form(self, run: str) -> JsonObject:
        """Return what the run came to, without what only tells of retries."""
        shown = self.line.run(run)
        return {
            "outcome": shown["outcome"],
            "reason": shown["reason"],
            "cleanup": shown["cleanup"],
            "history": [kind for kind in self.line.history(run) if kind not in OF_CRASHES],
            "steps": [
                (step["name"], step["ordinal"], step["status"]) for step in self.line.steps(run)
            ],
            "operations": sorted(
                (operation["id"].split(":", 1)[1], operation["status"])
                for operation in self.line.operations(run)
            ),
            "approvals": [row["status"] for row in self.line.approvals(run)],
            "tickets": self.service.tickets(),
        }


def is_frozen(process: subprocess.Popen[bytes]) -> bool:
    """Return whether the process was stopped by a signal; raise when it has ended instead."""
    if process.poll() is not None:
        raise AssertionError(f"ended with {process.returncode} before its fault fired")
    return bool(psutil.Process(process.pid).status() == psutil.STATUS_STOPPED)


def thaw(process: subprocess.Popen[bytes]) -> None:
    """Let a frozen process go on."""
    process.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def world(dsn: str, folder: Path, store: Path | None = None) -> Iterator[World]:
    """Yield a world; `store` is a ticket service's file to start from."""
    path = folder / "tickets.sqlite"
    if store is not None:
        shutil.copyfile(store, path)
    made = World(dsn, TicketService(path))
    try:
        yield made
    finally:
        made.close()
