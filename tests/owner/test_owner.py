"""The owner: restarts, patience, the order of stopping, signals, and its own sudden death."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.clock import wait_for
from sandbox.owner.child import Child
from sandbox.owner.errors import ChildGaveUp, ChildNotReady
from sandbox.owner.owner import Owner
from sandbox.owner.watched import Patience
from tests.support.processes import descendants, find_marked, is_running

Make = Callable[..., Child]
WAIT = "import threading; threading.Event().wait()"
FAST = Patience(first_pause_s=0.01, longest_pause_s=0.02, restarts_max=2, settled_s=3600)


def test_a_killed_child_runs_again_and_its_end_is_on_record(make_child: Make) -> None:
    with Owner() as owner:
        first = owner.start(make_child("one", WAIT))
        assert (first.running, first.restarts, first.last_status) == (True, 0, None)
        os.kill(first.pid, signal.SIGKILL)
        wait_for(lambda: owner.report("one").restarts == 1, 20, "a restart")
        now = owner.report("one")
        assert is_running(now.pid)
        assert now.pid != first.pid
        assert now.last_status == signal.SIGKILL
    assert not is_running(now.pid)


def test_patience_ends_in_an_error_that_names_the_child_and_shows_its_log(
    make_child: Make, mark: str
) -> None:
    with Owner(FAST) as owner:
        owner.start(make_child("steady", WAIT))
        owner.start(make_child("doomed", "print('the reason', flush=True); raise SystemExit(3)"))
        with pytest.raises(ChildGaveUp, match=r"doomed.*2 restarts.*status 3[\s\S]*the reason"):
            owner.wait(30)
    assert find_marked(mark) == set()


def test_a_child_that_never_answers_is_told_and_removed(make_child: Make, mark: str) -> None:
    child = make_child("mute", WAIT, ready=lambda: False, ready_s=0.1)
    with Owner() as owner:
        with pytest.raises(ChildNotReady, match="mute"):
            owner.start(child)
        assert find_marked(mark) == set()
        assert owner.reports() == []


def test_a_failure_while_preparing_a_restart_reaches_the_owner(make_child: Make) -> None:
    steps = iter([None])

    def prepare() -> None:
        if next(steps, "spent") == "spent":
            raise FileNotFoundError("the folder went away")

    with Owner(FAST) as owner:
        pid = owner.start(make_child("one", WAIT, prepare=prepare)).pid
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(FileNotFoundError, match="went away"):
            owner.wait(30)


def test_children_are_stopped_in_reverse_order(make_child: Make, tmp_path: Path) -> None:
    order = tmp_path / "order"
    program = (
        "import signal, sys, threading\n"
        f"def end(*_):\n    print(NAME, file=open({str(order)!r}, 'a')); sys.exit(0)\n"
        "signal.signal(signal.SIGTERM, end); print('up', flush=True); threading.Event().wait()"
    )
    with Owner() as owner:
        for name in ("a", "b", "c"):
            log = tmp_path / f"{name}.log"
            owner.start(
                make_child(
                    name,
                    program.replace("NAME", repr(name)),
                    ready=lambda log=log: log.exists() and "up" in log.read_text(),
                )
            )
    assert order.read_text().split() == ["c", "b", "a"]


def test_a_name_is_used_once(make_child: Make) -> None:
    with Owner() as owner:
        owner.start(make_child("one", WAIT))
        with pytest.raises(ValueError, match="one"):
            owner.start(make_child("one", WAIT))
        owner.stop_child("one")
        owner.start(make_child("one", WAIT))


def start_owner_program(child: Child) -> tuple[subprocess.Popen[str], int]:
    """Start a process that owns this child; return it and the child's pid."""
    program = Path(__file__).with_name("owner_program.py")
    order = {"argv": list(child.argv), "log": str(child.log), "cwd": str(child.cwd)}
    owner = subprocess.Popen(
        [sys.executable, program, json.dumps(order)], stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    return owner, int(owner.stdout.readline())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_owner_in_good_order(
    make_family: Callable[[str], Child], mark: str, number: signal.Signals
) -> None:
    owner, pid = start_owner_program(make_family("family"))
    with owner:
        wait_for(lambda: len(descendants(pid)) == 2, 20, "the grandchildren")
        owner.send_signal(number)
        assert owner.wait(20) == 0
        assert find_marked(mark) == set()


def test_everything_is_gone_within_five_seconds_of_the_owners_sudden_death(
    make_family: Callable[[str], Child],
) -> None:
    owner, pid = start_owner_program(make_family("family"))
    with owner:
        wait_for(lambda: len(descendants(pid)) == 2, 20, "the grandchildren")
        below = descendants(owner.pid)
        assert len(below) == 4
        owner.kill()
        wait_for(lambda: not any(map(is_running, below)), 5, "the end of all below the owner")
