"""An application runs in a sandbox of its own, is proved to be ours, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from activities.environment.provider import Environments, Prepared
from activities.environment.sweep import end_processes, list_processes
from activities.environment.tiers import Tier
from orchestrator.clock import wait_for
from orchestrator.domain.failures import ActivityFailed, FailureKind

Prepare = Callable[..., Prepared]
HANGS = """
import signal, subprocess, sys
subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
print("hanging", flush=True)
signal.pause()
"""
WORKER = """
import sys, threading
from pathlib import Path
from activities.artifacts import ArtifactStore
from activities.environment.provider import Environments
from activities.environment.tiers import Tier
from tests.support.tiny_site import REVISION
home, workspace, tag, tier = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4]
environments = Environments(home, ArtifactStore(home / "artifacts"), Tier(tier))
prepared = environments.prepare(workspace, REVISION, "demo/tiny", tag)
with environments.session(prepared) as session:
    session.start_app()
    print("started", flush=True)
    threading.Event().wait()
"""


def test_an_application_is_seeded_started_and_answers(
    environments: Environments, prepare: Prepare
) -> None:
    with environments.session(prepare()) as session:
        session.start_app()
        assert "Visit 1" in session.request("GET", "/visits").body
        answer = session.request("POST", "/order", form={"amount": "3", "colour": "Red"})
        assert (answer.status, "Ordered 3 Red" in answer.body) == (200, True)
        assert session.request("GET", "/nowhere").status == 404
        assert "serving" in session.log_tail()


def test_every_start_has_fresh_data(environments: Environments, prepare: Prepare) -> None:
    with environments.session(prepare()) as session:
        for _ in range(2):
            session.start_app()
            assert "Visit 1" in session.request("GET", "/visits").body


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("stale", "of another"),
        ("never", "did not get ready"),
        ("dies", "cannot find the frobnicator"),
        ("odd", "did not get ready"),
    ],
)
def test_an_application_that_is_not_ready_or_not_ours_is_named_with_its_log(
    environments: Environments, prepare: Prepare, run_tag: str, mode: str, words: str
) -> None:
    with environments.session(prepare(mode=mode, ready_s=1)) as session:
        with pytest.raises(ActivityFailed, match=words) as failed:
            session.start_app()
        assert failed.value.kind is FailureKind.ENVIRONMENTAL
        assert session.run(["{python}", "-c", "print('still obeys')"], 10).output == "still obeys\n"
    wait_for(lambda: list_processes(run_tag) == [], 5, "its processes to be gone")


def test_stopping_the_application_ends_also_what_left_its_session(
    environments: Environments, prepare: Prepare, run_tag: str
) -> None:
    with environments.session(prepare(mode="strays")) as session:
        session.log_tail()
        before = set(list_processes(run_tag))
        session.start_app()
        assert len(set(list_processes(run_tag)) - before) >= 2
        session.stop_app()
        assert set(list_processes(run_tag)) == before
    wait_for(lambda: list_processes(run_tag) == [], 5, "its processes to be gone")


def test_a_killed_worker_leaves_no_process_behind(
    environments: Environments, prepare: Prepare, run_tag: str, tier: Tier
) -> None:
    prepared = prepare(mode="strays")
    worker = _start_worker(environments, prepared, run_tag, tier)
    assert len(list_processes(run_tag)) >= 3
    worker.kill()
    assert worker.wait() == -9
    wait_for(lambda: not list_processes(run_tag), 5, "the sandbox to die with its worker")


def test_a_killed_sandbox_is_reported_and_leaves_no_process_behind(
    environments: Environments, prepare: Prepare, run_tag: str
) -> None:
    with environments.session(prepare(mode="strays")) as session:
        session.start_app()
        for inside in [pid for pid in list_processes(run_tag) if _is_inside(pid)]:
            with suppress(ProcessLookupError):
                os.kill(inside, signal.SIGKILL)
        with pytest.raises(ActivityFailed, match="the sandbox ended") as failed:
            session.request("GET", "/visits")
        assert failed.value.kind is FailureKind.ENVIRONMENTAL
    wait_for(lambda: not list_processes(run_tag), 5, "the sandbox to be gone")


def test_a_wish_to_stop_ends_the_sandbox_in_the_middle_of_a_command(
    environments: Environments, prepare: Prepare, run_tag: str
) -> None:
    stop = threading.Event()
    with environments.session(prepare(), stop) as session:
        session.start_app()
        threading.Timer(0.3, stop.set).start()
        with pytest.raises(ActivityFailed, match="stopped as told"):
            session.run(["{python}", "-c", "import signal; signal.pause()"], 60)
    wait_for(lambda: list_processes(run_tag) == [], 5, "its processes to be gone")


def test_a_check_that_hangs_is_ended_at_its_limit_with_all_it_started(
    environments: Environments, prepare: Prepare, run_tag: str
) -> None:
    prepared = prepare(check='[["{python}", "hang.py"]]', check_s=1)
    (prepared.workspace / "hang.py").write_text(HANGS)
    evidence = environments.check(prepared)
    assert not evidence.passed
    assert "hanging" in evidence.output_tail
    assert "still running after 1 s" in evidence.output_tail
    wait_for(lambda: list_processes(run_tag) == [], 5, "its processes to be gone")


def test_checks_pass_only_when_every_command_passes(
    environments: Environments, prepare: Prepare
) -> None:
    mixed = '[["{python}", "-c", "print(1)"], ["{python}", "-c", "raise SystemExit(3)"]]'
    passed, failed = environments.check(prepare("a")), environments.check(prepare("b", check=mixed))
    assert passed.passed
    assert "all is well" in passed.output_tail
    assert not failed.passed
    assert "(3)" in failed.output_tail
    assert passed.log is not None
    assert b"all is well" in environments.artifacts.read(passed.log.sha256)


def test_a_command_that_does_not_exist_is_named(
    environments: Environments, prepare: Prepare
) -> None:
    evidence = environments.check(prepare(check='[["no-such-program"]]'))
    assert not evidence.passed
    assert "no-such-program: No such file" in evidence.output_tail


def test_a_file_is_written_in_the_workspace_and_never_beside_it(
    environments: Environments, prepare: Prepare
) -> None:
    prepared = prepare()
    with environments.session(prepared) as session:
        session.write("note.txt", "hello")
        assert (prepared.workspace / "note.txt").read_text() == "hello"
        with pytest.raises(ActivityFailed, match="outside"):
            session.write("../note.txt", "hello")


def test_the_sandbox_is_swept_by_its_tag_alone(
    environments: Environments, prepare: Prepare, run_tag: str, tier: Tier
) -> None:
    worker = _start_worker(environments, prepare(mode="strays"), run_tag, tier)
    try:
        assert end_processes("run-of-somebody-else") == []
        assert list_processes(run_tag)
        assert end_processes(run_tag) == []
        wait_for(lambda: list_processes(run_tag) == [], 5, "its processes to be gone")
    finally:
        worker.kill()
        worker.wait()


def _is_inside(pid: int) -> bool:
    """Return whether this is the program beside the application; False when it is gone."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return b"activities.environment.inside" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def _start_worker(
    environments: Environments, prepared: Prepared, run_tag: str, tier: Tier
) -> subprocess.Popen[str]:
    """Start another process that uses the environment, and return when its application runs."""
    root = Path(__file__).parents[2]
    words = [str(environments.home), str(prepared.workspace), run_tag, tier]
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, *words], cwd=root, stdout=subprocess.PIPE, text=True
    )
    assert worker.stdout is not None
    with worker.stdout:
        assert worker.stdout.readline() == "started\n"
    return worker
