"""Run one command with an end: its time is bounded, its output kept, its whole group ended."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from orchestrator import seam
from orchestrator.clock import monotonic

OUTPUT_MAX = 200_000
GRACE_S = 3.0
LOOK_EVERY_S = 0.1


@dataclass(frozen=True)
class Ended:
    """How a command ended; `returncode` is None when it was ended for time or on our wish."""

    returncode: int | None
    output: str


def run_bounded(
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    timeout_s: float,
    stop: threading.Event | None = None,
    *,
    name: str,
) -> Ended:
    """Run it to its end, the limit or `stop`. Raises OSError when it cannot be started.

    It passes the seam as one call of this name. Its output goes to a file: a grandchild that holds
    it open can keep nobody waiting.
    """
    with tempfile.TemporaryFile() as log, seam.crossing("call", name):
        process = subprocess.Popen(
            list(argv),
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            returncode = _await(process, timeout_s, stop or threading.Event())
        finally:
            end_group(process)
        return Ended(returncode, _tail(log))


def end_group(process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> None:
    """End a process that leads a group: asked first, so that a leash can end all below it."""
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=GRACE_S)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _await(process: subprocess.Popen[bytes], timeout_s: float, stop: threading.Event) -> int | None:
    until = monotonic() + timeout_s
    while monotonic() < until and not stop.is_set():
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(timeout=LOOK_EVERY_S)
    return process.poll()


def _tail(log: IO[bytes]) -> str:
    size = log.seek(0, os.SEEK_END)
    log.seek(max(0, size - OUTPUT_MAX))
    return log.read(OUTPUT_MAX).decode(errors="replace")
