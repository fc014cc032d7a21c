"""Git, which is needed; libfaketime and spin, which only some checks use."""

from __future__ import annotations

import shutil

from sandbox.setup.errors import CommandFailed, SetupError
from sandbox.setup.machine import can_install, install


def provide_git() -> str:
    """Return where git is, installing it as root. Raises SetupError."""
    if not shutil.which("git") and can_install():
        install("git")
    found = shutil.which("git")
    if not found:
        raise SetupError("git is missing: install it (for example `apt-get install git` as root)")
    return found


def provide_faketime() -> str:
    """Return where faketime is, or say that the tests which need it will be skipped."""
    if not shutil.which("faketime") and can_install():
        try:
            install("faketime")
        except CommandFailed:
            return "not available; tests that fake a process's clock are skipped"
    return shutil.which("faketime") or "missing; tests that fake a process's clock are skipped"


def provide_spin() -> str:
    """Return where spin is, installing it as root. Raises SetupError."""
    if not shutil.which("spin") and can_install():
        install("spin")
    found = shutil.which("spin")
    if not found:
        raise SetupError("spin is missing: install it (for example `apt-get install spin gcc`)")
    return found
