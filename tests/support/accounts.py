"""Runs Python as an account without rights."""

from __future__ import annotations

import os
import site
import subprocess
import sys
from pathlib import Path

NOBODY = 65534


def run_as_nobody(
    program: str, *arguments: str, home: Path
) -> subprocess.CompletedProcess[str] | None:
    """Run a piece of Python with our packages as the account with the least rights. Needs root.

    Returns `None` where no interpreter of this version can be run by other accounts (a Python that
    lives in root's home, and none beside it).
    """
    os.chown(home, NOBODY, NOBODY)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for interpreter in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        try:
            return subprocess.run(
                [interpreter, "-c", program, *arguments],
                user=NOBODY,
                group=NOBODY,
                extra_groups=[],
                cwd=home,
                env=_environment(home),
                capture_output=True,
                text=True,
                check=False,
            )
        except OSError:
            continue
    return None


def _environment(home: Path) -> dict[str, str]:
    packages = [str(Path(__file__).parents[2]), *site.getsitepackages()]
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PYTHONPATH": os.pathsep.join(packages),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
