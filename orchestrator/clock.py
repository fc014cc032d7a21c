"""The one place where Python reads time: durations only. Instants come from PostgreSQL."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class WaitedTooLong(TimeoutError):
    """A condition did not come true within its limit."""

    def __init__(self, what: str, seconds: float) -> None:
        super().__init__(f"waited {seconds:g} s for {what}")
        self.what, self.seconds = what, seconds


def monotonic() -> float:
    """Return seconds on a clock that never jumps; only differences mean anything."""
    return time.monotonic()


def wait_for(predicate: Callable[[], bool], seconds: float, what: str, every: float = 0.02) -> None:
    """Return once the predicate holds. Raises WaitedTooLong, which names what was awaited."""
    pause = threading.Event()
    until = monotonic() + seconds
    while not predicate():
        if monotonic() >= until:
            raise WaitedTooLong(what, seconds)
        pause.wait(every)
