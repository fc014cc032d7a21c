"""A worker: claims due steps of the kinds it serves, executes them in threads, decides messages."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import structlog
from sqlalchemy.exc import OperationalError

from activities.activity import StopReason
from activities.attempt import Attempts
from activities.heartbeat import Heartbeat
from activities.publisher import Publisher
from activities.registry import Registry
from orchestrator.engine import due, expiry, inbox
from orchestrator.engine.database import Database
from orchestrator.engine.fold import CODE_VERSION
from orchestrator.engine.results import Results
from orchestrator.engine.session import WorkerSession
from orchestrator.engine.set_aside import guarded
from orchestrator.store import claims, duties
from orchestrator.store.records import Lease
from orchestrator.workflows.registry import Definitions

log = structlog.get_logger()


@dataclass(frozen=True)
class WorkerSettings:
    """How a worker works. Seconds; `queues` are the kinds of activity that it serves.

    `direct_dsn` leads to the database without a pooler, for the session whose end tells of the
    worker's end; None leaves that to the lease.
    """

    id: str
    queues: Sequence[str]
    slots: int = 2
    lease_s: float = 20.0
    shortest_poll_s: float = 0.05
    longest_poll_s: float = 0.5
    direct_dsn: str | None = None


class Worker:
    """One worker process. It may be killed at any point; nothing of a run lives in it."""

    def __init__(
        self,
        database: Database,
        definitions: Definitions,
        registry: Registry,
        settings: WorkerSettings,
        publisher: Publisher,
    ) -> None:
        self._database, self._definitions, self._settings = database, definitions, settings
        self._activities = registry.served(settings.queues)
        self._attempts = Attempts(database, registry, Results(database, definitions))
        self._session = WorkerSession(
            database,
            settings.id,
            settings.queues,
            direct_dsn=settings.direct_dsn,
        )
        self._heartbeat = Heartbeat(database, self._session, settings.lease_s)
        self._publisher = publisher
        self._stopping = threading.Event()
        self._wake = threading.Event()
        self._active = 0
        self._broken: Exception | None = None
        self._lock = threading.Lock()

    def run(self) -> None:
        """Work until `stop` is called; then tell running attempts to stop and wait for them.

        Raises what broke one of its loops: a worker without heartbeats must not go on quietly.
        """
        self._session.open()
        beat = self._settings.lease_s / 4
        threads = [
            self._loop("heartbeat", self._heartbeat.run_once, beat),
            self._loop("decide", self._decide, self._settings.longest_poll_s / 2),
        ]
        with ThreadPoolExecutor(self._settings.slots, thread_name_prefix="attempt") as pool:
            self._claim_until_stopped(pool)
            self._heartbeat.stop_all(StopReason.SHUTDOWN)
        for thread in threads:
            thread.join()
        self._session.close()
        if self._broken is not None:
            raise self._broken

    def stop(self) -> None:
        """Ask the worker to stop; safe from a signal handler."""
        self._stopping.set()
        self._wake.set()

    def _claim_until_stopped(self, pool: ThreadPoolExecutor) -> None:
        pause = self._settings.shortest_poll_s
        while not self._stopping.is_set():
            self._wake.clear()
            claimed = self._guard_connection("claim", self._claim) or []
            for lease in claimed:
                stop = self._heartbeat.hold(lease)
                pool.submit(self._execute, lease, stop)
            idle = self._settings.longest_poll_s
            pause = self._settings.shortest_poll_s if claimed else min(idle, pause * 1.5)
            self._wake.wait(pause)

    def _claim(self) -> list[Lease]:
        with self._lock:
            free = self._settings.slots - self._active
        if free <= 0:
            return []
        with self._database.commit("claim") as tx:
            claimed = claims.claim_due(
                tx,
                self._session.worker,
                CODE_VERSION,
                self._activities,
                batch=free,
                lease_s=self._settings.lease_s,
            )
        with self._lock:
            self._active += len(claimed)
        return claimed

    def _execute(self, lease: Lease, stop: object) -> None:
        try:
            work = partial(self._attempts.execute, lease, stop)  # type: ignore[arg-type]
            guarded(self._database, lease.workflow_id, work, None)
        except OperationalError as lost:
            log.warning("attempt lost the database", reason=str(lost.orig)[:200], step=lease.step)
        except Exception:
            log.exception("attempt broke", workflow_id=lease.workflow_id, step=lease.step)
        finally:
            self._heartbeat.release(lease)
            with self._lock:
                self._active -= 1
            self._wake.set()

    def _decide(self) -> None:
        with self._database.read() as tx:
            waiting = duties.look(tx)
        decided = 0
        if waiting.messages:
            decided += inbox.decide_some(self._database, self._definitions)
        if waiting.timers:
            decided += due.fire_some(self._database, self._definitions)
        if waiting.approvals:
            decided += due.expire_some(self._database, self._definitions)
        if waiting.deadlines:
            decided += due.end_overdue_runs(self._database, self._definitions)
        if waiting.held:
            decided += expiry.take_over_orphans(self._database, self._definitions)
        if waiting.outbox or decided:
            self._publisher.run_once()
        if decided:
            self._wake.set()

    def _loop(self, name: str, once: Callable[[], None], every_s: float) -> threading.Thread:
        def body() -> None:
            try:
                while not self._stopping.is_set() or (name == "heartbeat" and self._active):
                    self._guard_connection(name, once)
                    self._stopping.wait(every_s)
            except Exception as fault:
                log.exception("a loop of the worker broke; it ends", loop=name)
                self._broken = fault
                self.stop()

        thread = threading.Thread(target=body, name=name, daemon=True)
        thread.start()
        return thread

    def _guard_connection(
        self, name: str, call: Callable[[], list[Lease] | None]
    ) -> list[Lease] | None:
        """Run a duty; a lost database is logged and tried again, as nothing is lost by it."""
        try:
            return call()
        except OperationalError as lost:
            log.warning("database out of reach", duty=name, reason=str(lost.orig)[:200])
            self._stopping.wait(self._settings.longest_poll_s)
            return None
