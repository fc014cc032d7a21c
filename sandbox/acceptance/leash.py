"""Run a command that dies with its starter: python leash.py <starter's pid> <argv...>

Linux only does this by itself; elsewhere the command runs unleashed, and the starter's own clean-up
is all there is. It starts by path in isolated mode, so it imports nothing of ours.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # <linux/prctl.h>


def main(argv: list[str]) -> None:
    """Become the command. `argv[0]` is the starter's process id, the rest is the command."""
    starter, *command = argv
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != int(starter):  # it died before the leash was on
            os._exit(1)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
