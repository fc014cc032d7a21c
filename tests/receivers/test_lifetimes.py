"""How long git lives: not longer than who started it, and not once it is told to stop (R10)."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from activities.git import command
from activities.mutation import Absent, Outcome, Unsettled
from orchestrator.clock import wait_for
from tests.support.desk import Desk, call
from tests.support.processes import descendants, is_running

PUSH = {"method": "POST", "path": "git-receive-pack$"}
PUSHER = """
import json, sys
from pathlib import Path
from activities.artifacts import ArtifactStore
from activities.git.branches import PushBranch
from activities.git.mirror import Remote
from activities.mutation import Call
from activities.secrets import SecretSource

folder, url, request = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
remote = Remote(url, SecretSource(folder / "secrets.toml"))
push = PushBranch(remote, ArtifactStore(folder / "artifacts"), folder / "mirrors")
push.perform(request, Call("run:push:1", "outlast:i:run:push:1", 1, "outlast-i-killed", "i"))
"""


def test_git_dies_with_the_worker_that_started_it(desk: Desk) -> None:
    push = desk.push_request("repair/killed")
    fault = desk.fault("hold_before", **PUSH)
    worker = subprocess.Popen(
        [sys.executable, "-c", PUSHER, str(desk.folder), desk.process.url, json.dumps(push)],
        cwd=Path(__file__).parents[2],
    )
    desk.admin("GET", f"/outlast/faults/{fault}?wait=fired")
    below = descendants(worker.pid)
    assert below
    worker.kill()
    assert worker.wait(10) == -signal.SIGKILL
    wait_for(lambda: not any(map(is_running, below)), 10, "git to be gone with its worker")
    desk.admin("DELETE", "/outlast/faults")


def test_a_push_that_is_told_to_stop_ends_and_stays_unsettled(desk: Desk) -> None:
    push, stop = desk.push_request("repair/stopped"), Event()
    fault = desk.fault("hold_before", **PUSH)
    outcome: list[Outcome] = []
    who = replace(call("stopped"), stop=stop)
    with desk.aside(lambda: outcome.append(desk.push().perform(push, who))):
        desk.admin("GET", f"/outlast/faults/{fault}?wait=fired")
        stop.set()
    assert isinstance(outcome[0], Unsettled)
    assert isinstance(desk.push().observe(push, who), Absent)
    desk.admin("DELETE", "/outlast/faults")


def test_a_command_over_its_time_is_ended_with_all_below_it(tmp_path: Path) -> None:
    command.must(["init", "--quiet", str(tmp_path)])
    sleeper = ["-c", "alias.wait=!cat /dev/zero > /dev/null", "wait"]
    done = command.run(sleeper, folder=tmp_path, timeout_s=0.3)
    assert done.returncode is None


@pytest.mark.parametrize("size", [0, 1, 5_000_000])
def test_what_is_given_to_git_arrives_whole(tmp_path: Path, size: int) -> None:
    command.must(["init", "--quiet", str(tmp_path)])
    given = b"x" * size
    oid = command.must(["hash-object", "-w", "--stdin"], folder=tmp_path, given=given).strip()
    assert command.must(["cat-file", "-s", oid], folder=tmp_path).strip() == str(size)
