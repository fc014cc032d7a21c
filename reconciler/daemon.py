"""The reconciler's loop: each duty in turn, for ever; several daemons may run."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Protocol

import structlog
from sqlalchemy.exc import OperationalError

log = structlog.get_logger()


class Duty(Protocol):
    """One background duty, done in bounded batches."""

    def run_once(self) -> int:
        """Do one batch and return how much was done."""


class Reconciler:
    """Runs its duties until stopped. It may be killed at any point."""

    def __init__(self, duties: Sequence[Duty], *, every_s: float = 0.5) -> None:
        self._duties, self._every_s = duties, every_s
        self._stopping = threading.Event()

    def run(self) -> None:
        """Run every duty, pause, and again; a lost database is waited for."""
        while not self._stopping.is_set():
            self.run_once()
            self._stopping.wait(self._every_s)

    def run_once(self) -> int:
        """Run every duty once and return how much was done."""
        done = 0
        for duty in self._duties:
            try:
                done += duty.run_once()
            except OperationalError as lost:
                log.warning("database out of reach", reason=str(lost.orig)[:200])
        return done

    def stop(self) -> None:
        """Ask the loop to end; safe from a signal handler."""
        self._stopping.set()
