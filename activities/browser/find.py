"""Find a Chromium on this machine; nothing is downloaded here."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from orchestrator.domain.failures import ActivityFailed, FailureKind

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_browser(home: Path) -> Path:
    """Return OUTLAST_CHROMIUM, else one on PATH, else one that set-up unpacked into the home.

    Raises ActivityFailed, environmental, when there is none.
    """
    found = _find(home)
    if found is None:
        reason = "no Chromium was found; run `outlast doctor`, which says what to do"
        raise ActivityFailed(FailureKind.ENVIRONMENTAL, reason)
    return found


def browser_folders(home: Path) -> tuple[Path, ...]:
    """Return the folders that a sandbox must be able to read so that the browser starts in it."""
    found = _find(home)
    return () if found is None else (found.parent, found.resolve().parent)


def _find(home: Path) -> Path | None:
    named = os.environ.get("OUTLAST_CHROMIUM", "")
    candidates = [Path(named)] if "/" in named else []
    if not named:
        candidates += [Path(found) for name in NAMES if (found := shutil.which(name))]
    candidates += sorted((home / "browsers").glob("*/chromium"))
    candidates += sorted(Path(".outlast/browsers").absolute().glob("*/chromium"))
    for candidate in candidates:
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate
    return None
