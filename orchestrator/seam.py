"""The one seam that every commit and every external call passes.

A process that wants to be stopped at a chosen point (as the recovery tests do) sets `watch` before
it starts its work. In production nothing sets it and a crossing costs one comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

Side = Literal["before", "after"]
Watcher = Callable[[str, str, Side], None]

_watcher: Watcher | None = None


def watch(watcher: Watcher | None) -> None:
    """Call `watcher(kind, name, side)` at every crossing of this process; None ends it."""
    global _watcher
    _watcher = watcher


@contextmanager
def crossing(kind: Literal["commit", "call"], name: str) -> Iterator[None]:
    """Mark a commit or an external call; `after` is not reached when the body raises."""
    if _watcher is not None:
        _watcher(kind, name, "before")
    yield
    if _watcher is not None:
        _watcher(kind, name, "after")
