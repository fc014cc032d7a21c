"""What this machine lets us do: run programs, and install packages of the distribution as root."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from sandbox.setup.errors import CommandFailed

COMMAND_SECONDS = 600


def run(argv: list[str], cwd: Path | None = None, **settings: str) -> str:
    """Run a program with our environment and these settings; return what it printed."""
    try:
        result = subprocess.run(
            argv,
            cwd=cwd,
            env={**os.environ, **settings},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=COMMAND_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CommandFailed(argv, str(error)) from error
    if result.returncode:
        raise CommandFailed(argv, result.stdout + result.stderr)
    return result.stdout


def can_install() -> bool:
    """Return whether packages of a Debian-like distribution can be installed from here."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def install(package: str) -> None:
    """Install a package of the distribution. Needs `can_install`; raises CommandFailed."""
    run(["apt-get", "update"])
    run(
        ["apt-get", "install", "--yes", "--no-install-recommends", package],
        DEBIAN_FRONTEND="noninteractive",
    )
