"""The wrong clock that other tests rely on is wrong, and only the wall clock is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

from tests.support.faketime import wrong_clock

TELL = "import json, time; print(json.dumps([time.time(), time.monotonic()]))"


def tell(settings: dict[str, str]) -> tuple[float, float]:
    """Return wall and monotonic clock as a process with these settings sees them."""
    result = subprocess.run(
        [sys.executable, "-c", TELL],
        env={"PATH": os.environ["PATH"], **settings},
        capture_output=True,
        text=True,
        check=True,
    )
    wall, monotonic = json.loads(result.stdout)
    return wall, monotonic


def test_only_the_wall_clock_of_the_process_is_moved() -> None:
    right, wrong = tell({}), tell(wrong_clock(7200))
    assert 7100 < wrong[0] - right[0] < 7300
    assert 0 <= wrong[1] - right[1] < 100
    assert wrong[1] <= time.monotonic()
