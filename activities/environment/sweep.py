"""Find and end what still carries a run's tag. Never touches anything without it (P13)."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

from orchestrator.clock import WaitedTooLong, wait_for

VARIABLE = "OUTLAST_RUN_TAG"


def list_processes(run_tag: str) -> list[int]:
    """Return the pids of living processes whose environment has exactly this tag."""
    return list_carrying(f"{VARIABLE}={run_tag}")


def end_processes(run_tag: str, seconds: float = 5.0) -> list[int]:
    """Kill every process with the tag and return those that would not go in time."""
    return end_carrying(f"{VARIABLE}={run_tag}", seconds)


def list_carrying(setting: str) -> list[int]:
    """Return the pids of living processes that were started with this `NAME=value`."""
    wanted = setting.encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and wanted in _environment(entry) and not _is_dead(entry):
            found.append(int(entry.name))
    return sorted(found)


def end_carrying(setting: str, seconds: float = 5.0) -> list[int]:
    """Kill them, and what they start meanwhile; return those that would not go in time."""
    try:
        wait_for(lambda: not _kill(list_carrying(setting)), seconds, setting)
    except WaitedTooLong:
        return list_carrying(setting)
    return []


def _kill(pids: list[int]) -> list[int]:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return pids


def _environment(entry: Path) -> list[bytes]:
    try:
        return (entry / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _is_dead(entry: Path) -> bool:
    """Return whether it is a zombie: ended, and not yet collected."""
    try:
        return (entry / "stat").read_bytes().rpartition(b")")[2].split()[0] in (b"Z", b"X")
    except OSError:
        return True
