"""Run a program whose whole tree dies with its parent: `python leash.py PROGRAM ARGUMENTS...`.

Standard library only, run by path. The parent is the thread that started this. What bubblewrap
does with namespaces is done here by the kernel's rule for orphans: every descendant that loses its
parent becomes ours, so nothing gets away by starting a session of its own. Only if this process
itself is SIGKILLed can a grandchild stay; the sweep by tag finds it then.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
NOT_STARTED = 127
TOLD_TO_END = 128 + signal.SIGTERM
AWAITED = {signal.SIGTERM, signal.SIGINT, signal.SIGCHLD}


def main(argv: list[str]) -> int:
    """Run the program to its end, or to ours, and end everything below. Return its exit code."""
    if sys.platform != "linux":
        os.execvp(argv[0], argv)
    signal.pthread_sigmask(signal.SIG_BLOCK, AWAITED)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM))
    child = os.fork()
    if child == 0:
        _become(argv, libc)
    _let_go_of_pipes()
    code = _await(child)
    _end_all_below()
    return code


def _become(argv: list[str], libc: ctypes.CDLL) -> None:
    libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, AWAITED)
    try:
        os.execvp(argv[0], argv)
    except OSError as fault:
        os.write(2, f"{argv[0]}: {fault.strerror}\n".encode())
    os._exit(NOT_STARTED)


def _let_go_of_pipes() -> None:
    """Leave standard input and output to the program, so that their ends mean its end."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)


def _await(child: int) -> int:
    while True:
        if signal.sigwait(AWAITED) != signal.SIGCHLD:
            return TOLD_TO_END
        while True:
            pid, status = _collect(os.WNOHANG)
            if pid == child:
                return os.waitstatus_to_exitcode(status) % 256
            if pid <= 0:
                break


def _end_all_below() -> None:
    """Kill until nothing is left: who is killed hands its children to us."""
    while True:
        for pid in _children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if _collect(0)[0] < 0:
            return


def _children() -> list[int]:
    own = str(os.getpid())
    return [int(entry.name) for entry in Path("/proc").iterdir() if _parent(entry) == own]


def _parent(entry: Path) -> str:
    if not entry.name.isdigit():
        return ""
    try:
        return (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[1]
    except OSError:
        return ""


def _collect(flags: int) -> tuple[int, int]:
    """Collect one that ended; -1 when there is no child left, 0 when none has ended."""
    try:
        return os.waitpid(-1, flags)
    except ChildProcessError:
        return -1, 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
