"""`outlast up` leaves everything running until it is told to stop, then stops all of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from cli.stack import answers
from orchestrator.clock import wait_for
from tests.support.database import ROOT

pytestmark = pytest.mark.job


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_up_answers_until_it_is_ended_and_then_nothing_of_it_is_left(
    tmp_path: Path, number: signal.Signals
) -> None:
    started = subprocess.Popen(
        [sys.executable, "-m", "cli.main", "up", "--json", "--workers", "1"],
        cwd=ROOT,
        env={**os.environ, "OUTLAST_HOME": str(tmp_path / "home")},
        stdout=subprocess.PIPE,
    )
    access = tmp_path / "home" / "access.json"
    try:
        wait_for(lambda: access.exists() or started.poll() is not None, 90, "up to be up")
        said = json.loads(access.read_text())
        assert answers(f"{said['api']}/ready")
        below = psutil.Process(started.pid).children(recursive=True)
        assert len(below) >= 5
    finally:
        started.send_signal(number)
        started.wait(timeout=60)
        assert started.stdout is not None
        started.stdout.close()
    wait_for(lambda: not any(_lives(each) for each in below), 5, "all of it to be gone")
    assert not answers(f"{said['api']}/ready")


def _lives(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
