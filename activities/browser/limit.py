"""Ends a browser that does not come back: questions to a busy page have no time limit of theirs."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from activities.environment.sweep import end_carrying

VARIABLE = "OUTLAST_BROWSER"


@dataclass(frozen=True)
class Limit:
    """Knows one browser by a word in its environment, and kills it when a time is over.

    Whoever waits for the browser then gets an error that names it closed: never evidence.
    """

    word: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def environment(self) -> dict[str, str]:
        """Return what the browser must be started with."""
        return {VARIABLE: self.word}

    @contextmanager
    def of(self, seconds: float) -> Iterator[None]:
        """Let what is in the block take so long."""
        timer = threading.Timer(seconds, end_carrying, [f"{VARIABLE}={self.word}"])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
