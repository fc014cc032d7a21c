"""Runs a process under a wall clock that is wrong, by libfaketime where the machine has it."""

from __future__ import annotations

from pathlib import Path

import pytest

PLACES = ("/usr/lib/*/faketime", "/usr/lib/faketime", "/usr/local/lib/faketime")
MISSING = "libfaketime is not on this machine"


def find_faketime() -> Path | None:
    """Return the library, or `None`; `make setup` brings it as root."""
    for place in PLACES:
        for found in sorted(Path("/").glob(f"{place[1:]}/libfaketime.so.1")):
            return found
    return None


def wrong_clock(offset_s: int) -> dict[str, str]:
    """Return what a process's environment needs to have its wall clock off by so many seconds.

    Its monotonic clock stays right. Skips the test where the library is missing.
    """
    library = find_faketime()
    if library is None:
        pytest.skip(MISSING)
    return {
        "LD_PRELOAD": str(library),
        "FAKETIME": f"{offset_s:+d}s",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
