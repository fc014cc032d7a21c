"""Run a program that dies with its parent: `python leash.py PROGRAM ARGUMENTS...`, by path.

Standard library only. The parent is the thread that started this; the kernel sends SIGKILL when it
ends, by whatever cause.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


def main(argv: list[str]) -> None:
    """Tie this process to its parent and become the program."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))
    os.execvp(argv[0], argv)


if __name__ == "__main__":
    main(sys.argv[1:])
