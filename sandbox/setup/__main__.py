"""Checks what this machine has, brings what is missing, and says so in a line each."""

from __future__ import annotations

import sys
from collections.abc import Callable

from sandbox.postgres.errors import NoBinaries
from sandbox.postgres.locate import find_binaries
from sandbox.setup.browser import provide_browser
from sandbox.setup.errors import SetupError
from sandbox.setup.tools import provide_faketime, provide_git, provide_spin

WIDTH = 12


def describe_postgres() -> str:
    """Return which PostgreSQL will be used."""
    found = find_binaries()
    return f"{found.version} ({found.source}) in {found.folder}"


PARTS: dict[str, Callable[[], object]] = {
    "git": provide_git,
    "postgresql": describe_postgres,
    "browser": provide_browser,
    "faketime": provide_faketime,
}
ON_DEMAND: dict[str, Callable[[], object]] = {"spin": provide_spin}


def main(asked: list[str]) -> int:
    """Go through all parts, or those asked for; answer 1 if one is missing that is needed."""
    missing = False
    for name in asked or PARTS:
        try:
            told = str({**PARTS, **ON_DEMAND}[name]())
        except (SetupError, NoBinaries) as error:
            missing, told = True, f"MISSING: {error}"
        sys.stdout.write(f"{name:<{WIDTH}}{told}\n")
        sys.stdout.flush()
    return 1 if missing else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
