"""What passes the seam of this process, for tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from orchestrator import seam


@contextmanager
def crossings() -> Iterator[list[tuple[str, str]]]:
    """Yield the list of (name, side) of every external call in the block, in order."""
    seen: list[tuple[str, str]] = []

    def note(kind: str, name: str, side: seam.Side) -> None:
        if kind == "call":
            seen.append((name, side))

    seam.watch(note)
    try:
        yield seen
    finally:
        seam.watch(None)
