"""Looks at processes from outside: who is alive, who is below whom."""

from __future__ import annotations

import contextlib

import psutil


def is_running(pid: int) -> bool:
    """Return whether a process runs. One that ended and was not collected yet does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def descendants(pid: int) -> set[int]:
    """Return every process below this one now."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return {child.pid for child in psutil.Process(pid).children(recursive=True)}
    return set()


def find_marked(mark: str) -> set[int]:
    """Return the running processes with this word on their command line, whoever started them."""
    found = set()
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if mark in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                found.add(process.pid)
    return found
