"""What can go wrong with a process that somebody owns.

OwnershipError
|-- ChildNotReady     it started and never answered, or ended before it did
|-- ChildGaveUp       it ended more often than patience allows
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

TAIL_BYTES = 4000


def read_tail(log: Path, lines: int = 12) -> str:
    """Return the last lines of a log, or a word that says there is none."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - TAIL_BYTES))
            text = file.read().decode(errors="replace")
    except FileNotFoundError:
        return "(no log)"
    return "\n".join(text.splitlines()[-lines:]) or "(the log is empty)"


def describe_status(status: int | None) -> str:
    """Say in words what a wait status means; `None` is a child that still runs or was lost."""
    if status is None:
        return "no wait status"
    if os.WIFSIGNALED(status):
        return f"killed by {signal.Signals(os.WTERMSIG(status)).name}"
    return f"exit status {os.WEXITSTATUS(status)}"


class OwnershipError(Exception):
    """A process that we own is not as it should be."""


class ChildNotReady(OwnershipError):
    """A child did not answer in time, or ended before it could. Its log says why."""

    def __init__(self, name: str, log: Path, status: int | None, seconds: float) -> None:
        how = describe_status(status) if status is not None else f"no answer in {seconds:g} s"
        super().__init__(
            f"{name} did not get ready ({how}); last lines of {log}:\n{read_tail(log)}"
        )
        self.name, self.log, self.status = name, log, status


class ChildGaveUp(OwnershipError):
    """A child ended again and again; it is not started any more. Its log says why."""

    def __init__(self, name: str, log: Path, status: int | None, restarts: int) -> None:
        super().__init__(
            f"{name} ended again after {restarts} restarts ({describe_status(status)}); "
            f"last lines of {log}:\n{read_tail(log)}"
        )
        self.name, self.log, self.status, self.restarts = name, log, status, restarts
