"""Renews every lease of a worker from a thread of its own, and tells activities to stop."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import structlog
from sqlalchemy.exc import OperationalError

from activities.activity import Stop, StopReason
from orchestrator.clock import monotonic
from orchestrator.engine.database import Database
from orchestrator.store import steps, workers
from orchestrator.store.records import Lease

GRACE_S = 15.0
log = structlog.get_logger()


@dataclass
class _Held:
    lease: Lease
    stop: Stop
    since: float
    renewed: float


class Heartbeat:
    """Keeps leases alive while their attempts run; blocking tool code never starves it.

    An attempt past its own limit is told to stop and, after a grace, no longer renewed. A worker
    that cannot reach the database tells its attempts to stop once their leases must have ended, by
    monotonic time (R10).
    """

    def __init__(self, database: Database, worker: str, lease_s: float) -> None:
        self._database, self._worker, self._lease_s = database, worker, lease_s
        self._held: dict[tuple[str, int, int], _Held] = {}
        self._lock = threading.Lock()

    def hold(self, lease: Lease) -> Stop:
        """Start renewing a lease; the returned Stop is how its attempt hears of anything."""
        stop = Stop()
        now = monotonic()
        with self._lock:
            self._held[_key(lease)] = _Held(lease, stop, now, now)
        return stop

    def release(self, lease: Lease) -> None:
        """Stop renewing."""
        with self._lock:
            self._held.pop(_key(lease), None)

    def stop_all(self, reason: StopReason) -> None:
        """Tell every attempt to stop."""
        with self._lock:
            for held in self._held.values():
                held.stop.set(reason)

    def run_once(self) -> None:
        """Renew all leases in one statement and pass on what came back."""
        now = monotonic()
        with self._lock:
            every = list(self._held.values())
        for held in every:
            if now - held.since > held.lease.limits.attempt_s:
                held.stop.set(StopReason.ATTEMPT_LIMIT)
        wanted = [
            held for held in every if now - held.since <= held.lease.limits.attempt_s + GRACE_S
        ]
        try:
            self._renew(wanted, now)
        except OperationalError as lost:
            log.warning("heartbeat could not reach the database", reason=str(lost.orig)[:200])
            self._stop_what_must_have_expired(every, now)

    def _renew(self, wanted: list[_Held], now: float) -> None:
        with self._database.commit("heartbeat") as tx:
            workers.seen(tx, self._worker)
            leases = [held.lease for held in wanted]
            answers = steps.renew_if_held(tx, self._worker, leases, self._lease_s)
        for held in wanted:
            cancelled = answers.get(_key(held.lease))
            held.renewed = now
            if cancelled is None:
                self._lost(held)
            elif cancelled:
                held.stop.set(StopReason.CANCELLED)

    def _lost(self, held: _Held) -> None:
        with self._lock:
            still = _key(held.lease) in self._held
        if still:
            held.stop.set(StopReason.SUPERSEDED)

    def _stop_what_must_have_expired(self, every: list[_Held], now: float) -> None:
        for held in every:
            if now - held.renewed > self._lease_s:
                held.stop.set(StopReason.SUPERSEDED)


def _key(lease: Lease) -> tuple[str, int, int]:
    return (lease.workflow_id, lease.step, lease.generation)
