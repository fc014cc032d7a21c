"""One kept child: what it sees, and what is left when it ends."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.clock import wait_for
from sandbox.owner import kept
from sandbox.owner.child import Child
from sandbox.owner.errors import ChildNotReady, describe_status
from sandbox.owner.kept import Kept
from tests.support.processes import find_marked

Make = Callable[..., Child]


def test_a_child_sees_exactly_the_environment_it_was_given(
    make_child: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUTLAST_SECRET_OF_THE_OWNER", "canary")
    child = make_child("env", "import os; print(dict(os.environ))", env={"ONLY": "this"})
    one = Kept(child)
    assert one.wait(20)
    assert one.stop() == 0
    seen = child.log.read_text()
    assert "'ONLY': 'this'" in seen
    assert "canary" not in seen


def test_stopping_ends_the_whole_tree_in_whatever_session(
    make_family: Callable[[str], Child], mark: str
) -> None:
    one = Kept(make_family("family"))
    one.wait_ready()
    assert len(find_marked(mark)) == 3
    one.stop()
    assert find_marked(mark) == set()


def test_a_killed_child_is_reported_by_its_wait_status_and_leaves_nothing(
    make_family: Callable[[str], Child], mark: str
) -> None:
    one = Kept(make_family("family"))
    one.wait_ready()
    os.kill(one.pid, signal.SIGKILL)
    assert one.wait(20)
    assert one.status is not None
    assert os.WTERMSIG(one.status) == signal.SIGKILL
    assert find_marked(mark) == set()
    one.stop()


def test_a_child_that_ignores_the_request_is_killed_after_its_grace(make_child: Make) -> None:
    program = (
        "import signal, threading; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "print('ready', flush=True); threading.Event().wait()"
    )
    child = make_child("deaf", program, grace_s=0.2)
    one = Kept(child)
    wait_for(lambda: "ready" in child.log.read_text(), 20, "the deaf child")
    assert describe_status(one.stop()) == "killed by SIGKILL"


def test_a_child_may_end_in_its_own_way_when_asked(make_child: Make) -> None:
    program = (
        "import signal, sys, threading; signal.signal(signal.SIGTERM, lambda *_: sys.exit(7));"
        "print('ready', flush=True); threading.Event().wait()"
    )
    child = make_child("polite", program)
    one = Kept(child)
    wait_for(lambda: "ready" in child.log.read_text(), 20, "the polite child")
    assert describe_status(one.stop()) == "exit status 7"


def test_a_child_does_not_outlive_a_killed_keeper(make_child: Make, mark: str) -> None:
    one = Kept(make_child("orphan", "import threading; threading.Event().wait()"))
    os.kill(one.keeper_pid, signal.SIGKILL)
    assert one.wait(20)
    wait_for(lambda: find_marked(mark) == set(), 5, "the end of the child")
    assert one.status is None
    one.stop()


def test_a_program_that_is_not_there_is_told_with_its_log(make_child: Make) -> None:
    child = make_child("absent", "", argv=["/nowhere/to/be/found"], ready=lambda: False)
    one = Kept(child)
    with pytest.raises(ChildNotReady, match=r"absent.*127[\s\S]*could not start /nowhere"):
        one.wait_ready()
    one.stop()


def test_a_descriptor_that_is_held_stays_open_but_unseen_by_the_child(
    make_child: Make, tmp_path: Path
) -> None:
    number = os.open(tmp_path, os.O_RDONLY)
    child = make_child("blind", "import os; print(os.listdir('/proc/self/fd'))", hold=(number,))
    one = Kept(child)
    assert one.wait(20)
    one.stop()
    os.close(number)
    assert f"'{number}'" not in child.log.read_text()


def test_a_long_log_is_moved_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "LOG_BYTES_MAX", 3)
    log = tmp_path / "logs" / "one"
    kept.make_room(log)
    log.write_text("long")
    kept.make_room(log)
    assert log.read_text() == ""
    assert log.with_name("one.1").read_text() == "long"
