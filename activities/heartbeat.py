"""Renews every lease of a worker from a thread of its own, and tells activities to stop."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import structlog
from sqlalchemy.exc import OperationalError

from activities.activity import Stop, StopReason
from orchestrator.clock import monotonic
from orchestrator.engine.database import Database
from orchestrator.engine.session import WorkerSession
from orchestrator.store import claims, workers
from orchestrator.store.records import Lease

GRACE_S = 15.0
log = structlog.get_logger()


@dataclass
class _Held:
    lease: Lease
    stop: Stop
    renewed: float


class Heartbeat:
    """Keeps leases alive while their attempts run; blocking tool code never starves it.

    The database's answer tells an activity that it was superseded or cancelled, or that a time
    limit is over; a lease past its limit is renewed for a grace and no further. A worker that
    cannot reach the database tells its attempts to stop once their leases must have ended, by
    monotonic time (R10).
    """

    def __init__(self, database: Database, session: WorkerSession, lease_s: float) -> None:
        self._database, self._session, self._lease_s = database, session, lease_s
        self._held: dict[tuple[str, int, int], _Held] = {}
        self._lock = threading.Lock()

    def hold(self, lease: Lease) -> Stop:
        """Start renewing a lease; the returned Stop is how its attempt hears of anything."""
        stop = Stop()
        with self._lock:
            self._held[_key(lease)] = _Held(lease, stop, monotonic())
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
        try:
            self._session.keep()
            self._renew(every, now)
        except OperationalError as lost:
            log.warning("heartbeat could not reach the database", reason=str(lost.orig)[:200])
            self._stop_what_must_have_expired(every, now)

    def _renew(self, every: list[_Held], now: float) -> None:
        with self._database.commit("heartbeat") as tx:
            workers.seen(tx, self._session.worker)
            leases = [held.lease for held in every]
            answers = claims.renew_if_held(tx, leases, self._lease_s, GRACE_S)
        for held in every:
            answer = answers.get(_key(held.lease))
            held.renewed = now
            if answer is None:
                self._lost(held)
            elif answer.cancelled:
                held.stop.set(StopReason.CANCELLED)
            elif answer.reached is not None:
                held.stop.set(StopReason(f"{answer.reached}-limit"))

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
