"""The owner of processes: what it starts, it keeps alive, reports, and takes along."""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections.abc import Iterator
from types import TracebackType

from sandbox.owner.child import Child
from sandbox.owner.watched import Patience, Report, Watched

ENDING = (signal.SIGINT, signal.SIGTERM)


class Owner:
    """Starts children by name, restarts those that end, stops all in reverse order.

    Use it in a `with` block.
    If this process dies by any signal, SIGKILL included, everything below its children is gone
    within five seconds. A child that ends again and again fails the owner: `wait` and `check`
    raise what happened, and the caller stops the rest.
    """

    def __init__(self, patience: Patience | None = None) -> None:
        self.patience = patience or Patience()
        self._watched: dict[str, Watched] = {}
        self._wake, self._ask = os.pipe()
        os.set_blocking(self._ask, False)

    def __enter__(self) -> Owner:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        os.close(self._wake)
        os.close(self._ask)

    def start(self, child: Child, patience: Patience | None = None) -> Report:
        """Start a child, wait until it is ready, and watch it from then on.

        Raises ChildNotReady (nothing of it is left then), and ValueError for a name in use.
        """
        if child.name in self._watched:
            raise ValueError(f"there is a child {child.name} already: stop it or choose a name")
        watched = Watched(child, patience or self.patience, self.ask_to_end)
        self._watched[child.name] = watched
        return watched.report()

    def reports(self) -> list[Report]:
        """Return what is known of each child, in the order of their start."""
        return [watched.report() for watched in self._watched.values()]

    def report(self, name: str) -> Report:
        """Return what is known of one child. Raises KeyError for a name that was not started."""
        return self._watched[name].report()

    def check(self) -> None:
        """Raise what made a child fail for good, if one did."""
        for watched in self._watched.values():
            if watched.failure is not None:
                raise watched.failure

    def ask_to_end(self) -> None:
        """Make `wait` return. Safe in a signal handler and from any thread."""
        with contextlib.suppress(BlockingIOError):
            os.write(self._ask, b"e")

    @contextlib.contextmanager
    def ending_on_signals(self) -> Iterator[None]:
        """Turn SIGINT and SIGTERM into `ask_to_end` within the block. Main thread only."""
        before = {number: signal.getsignal(number) for number in ENDING}
        for number in ENDING:
            signal.signal(number, lambda *_: self.ask_to_end())
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until somebody asks to end; return whether somebody did. Raises as `check`."""
        asked, _, _ = select.select([self._wake], [], [], seconds)
        self.check()
        return bool(asked)

    def stop_child(self, name: str) -> None:
        """Stop one child for good. Raises KeyError for a name that was not started."""
        self._watched.pop(name).stop()

    def stop(self) -> None:
        """Stop every child, the last one first; returns when all is gone. Again is harmless."""
        while self._watched:
            self._watched.popitem()[1].stop()
