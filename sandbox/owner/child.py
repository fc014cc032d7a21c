"""What an owner has to know of a child before it can start it."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

OWNER_GONE_SECONDS = 2.5


def say_ready() -> bool:
    """Answer for a child that is ready as soon as it runs."""
    return True


def do_nothing() -> None:
    """Prepare nothing, release nothing."""


@dataclass(frozen=True)
class Child:
    """A named program. It gets exactly `env`: nothing of the owner's environment is handed down.

    `ready` is asked until it says yes; it must not raise. `prepare` runs before each start and
    again before each restart. After `stop_signal` the child has `grace_s` to end by itself; the
    same holds when its owner dies, so keep it well under five seconds. `death_signal` comes from
    the kernel if even the keeper is killed. `hold` are descriptors that stay open as long as
    anything of the child lives, and that the child itself does not see: a lock, for example.
    `release` runs when the child was stopped for good; it may run again.
    """

    name: str
    argv: Sequence[str]
    env: Mapping[str, str]
    log: Path
    cwd: Path
    ready: Callable[[], bool] = say_ready
    ready_s: float = 30.0
    prepare: Callable[[], None] = do_nothing
    release: Callable[[], None] = do_nothing
    stop_signal: signal.Signals = signal.SIGTERM
    death_signal: signal.Signals = signal.SIGKILL
    grace_s: float = OWNER_GONE_SECONDS
    hold: tuple[int, ...] = ()
