"""One child that an owner keeps alive."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from orchestrator.clock import monotonic
from sandbox.owner.child import Child
from sandbox.owner.errors import ChildGaveUp, ChildNotReady
from sandbox.owner.kept import Kept


@dataclass(frozen=True)
class Patience:
    """How often and how fast a child that ended is started again.

    The pause doubles with each end in a row. A child that ran for `settled_s` begins a new row.
    """

    first_pause_s: float = 0.1
    longest_pause_s: float = 5.0
    restarts_max: int = 5
    settled_s: float = 30.0

    def pause(self, ends_in_a_row: int) -> float:
        """Return how long to wait before the next start."""
        return min(self.longest_pause_s, self.first_pause_s * 2.0 ** (ends_in_a_row - 1))


@dataclass(frozen=True)
class Report:
    """What is known of a child now. `last_status` is the wait status of its last end, if any."""

    name: str
    pid: int
    running: bool
    restarts: int
    last_status: int | None


class Watched:
    """A child and the thread that restarts it. Lives until `stop` or until patience is spent."""

    def __init__(self, child: Child, patience: Patience, on_failure: Callable[[], None]) -> None:
        """Start the child and wait until it is ready. Raises ChildNotReady."""
        self.child, self.patience, self._on_failure = child, patience, on_failure
        self.restarts = 0
        self.last_status: int | None = None
        self.failure: Exception | None = None
        self._stopping = threading.Event()
        self._changing = threading.Lock()
        self._kept = Kept(child)
        try:
            self._kept.wait_ready()
        except BaseException:
            self._kept.stop()
            raise
        self._thread = threading.Thread(target=self._watch, name=f"watch {child.name}", daemon=True)
        self._thread.start()

    def report(self) -> Report:
        """Return what is known now."""
        kept = self._kept
        return Report(self.child.name, kept.pid, kept.is_running(), self.restarts, self.last_status)

    def _watch(self) -> None:
        try:
            self._keep_alive()
        except Exception as error:  # noqa: BLE001 - handed to the owner, whose `check` raises it
            self.failure = error
            self._on_failure()

    def _keep_alive(self) -> None:
        ends_in_a_row = 0
        while True:
            self._kept.wait()
            if self._stopping.is_set():
                return
            self.last_status = self._kept.status
            settled = monotonic() - self._kept.started >= self.patience.settled_s
            ends_in_a_row = 1 if settled else ends_in_a_row + 1
            if ends_in_a_row > self.patience.restarts_max:
                raise ChildGaveUp(self.child.name, self.child.log, self.last_status, self.restarts)
            if self._stopping.wait(self.patience.pause(ends_in_a_row)) or not self._restart():
                return

    def _restart(self) -> bool:
        """Start it again; return whether that was still wanted. A child that never answers ends."""
        with self._changing:
            if self._stopping.is_set():
                return False
            self._kept.close()
            self._kept = Kept(self.child)
            self.restarts += 1
        try:
            self._kept.wait_ready()
        except ChildNotReady:
            self._kept.end()
        return True

    def stop(self) -> None:
        """Stop the child for good; returns when everything it started is gone."""
        self._stopping.set()
        with self._changing:
            self._kept.stop()
        self._thread.join()
