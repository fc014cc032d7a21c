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
    named = os.environ.get("OUTLAST_CHROMIUM", "")
    candidates = [Path(named)] if "/" in named else []
    if not named:
        candidates += [Path(found) for name in NAMES if (found := shutil.which(name))]
    candidates += sorted((home / "browsers").glob("*/chromium"))
    candidates += sorted(Path(".outlast/browsers").absolute().glob("*/chromium"))
    for candidate in candidates:
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate
    reason = "no Chromium was found; run `outlast doctor`, which says what to do"
    raise ActivityFailed(FailureKind.ENVIRONMENTAL, reason)
