"""One child that runs under a keeper."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

from orchestrator.clock import WaitedTooLong, monotonic, wait_for
from sandbox.owner.child import Child
from sandbox.owner.errors import ChildNotReady

LOG_BYTES_MAX = 16_000_000
KEEPER = Path(__file__).with_name("keeper.py")


class Kept:
    """A started child. Lives until it ends, `stop` is called, or this process dies by any signal.

    It does not start anything again: that is the owner's part.
    """

    def __init__(self, child: Child) -> None:
        """Run `child.prepare` and start it; returns as soon as it has a pid."""
        self.child = child
        child.prepare()
        make_room(child.log)
        self._keeper = subprocess.Popen(
            [sys.executable, "-I", "-S", str(KEEPER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
            start_new_session=True,
            pass_fds=child.hold,
        )
        self.started = monotonic()
        self.status: int | None = None
        self._ended = threading.Event()
        self._give_order()
        self.pid: int = self._read_report()["pid"]
        self._reader = threading.Thread(
            target=self._read_end, name=f"kept {child.name}", daemon=True
        )
        self._reader.start()

    def _give_order(self) -> None:
        order = {
            "argv": list(self.child.argv),
            "env": dict(self.child.env),
            "cwd": str(self.child.cwd),
            "log": str(self.child.log),
            "stop_signal": int(self.child.stop_signal),
            "death_signal": int(self.child.death_signal),
            "grace_s": self.child.grace_s,
        }
        assert self._keeper.stdin is not None
        self._keeper.stdin.write((json.dumps(order) + "\n").encode())
        self._keeper.stdin.flush()

    def _read_report(self) -> dict[str, int]:
        assert self._keeper.stdout is not None
        line = self._keeper.stdout.readline()
        return dict(json.loads(line)) if line else {}

    def _read_end(self) -> None:
        """Learn the wait status. A keeper that was killed cannot tell it: the rest is killed."""
        self.status = self._read_report().get("status")
        if self.status is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        self._keeper.wait()
        self._ended.set()

    def is_running(self) -> bool:
        """Return whether anything of the child is left."""
        return not self._ended.is_set()

    @property
    def keeper_pid(self) -> int:
        """Return the process between us and the child."""
        return self._keeper.pid

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end of the child and all it left; return whether it came in time."""
        return self._ended.wait(seconds)

    def wait_ready(self) -> None:
        """Return once the child answers. Raises ChildNotReady, with the end of its log."""
        name, log, limit = self.child.name, self.child.log, self.child.ready_s
        try:
            wait_for(lambda: not self.is_running() or self.child.ready(), limit, name)
        except WaitedTooLong as error:
            raise ChildNotReady(name, log, None, limit) from error
        if not self.is_running():
            raise ChildNotReady(name, log, self.status, limit)

    def end(self) -> None:
        """Ask the child to end, kill it after its grace; returns when all it started is gone."""
        assert self._keeper.stdin is not None
        with contextlib.suppress(OSError):
            self._keeper.stdin.close()
        self._reader.join()

    def close(self) -> None:
        """End the child and free what this object holds of it. Again is harmless."""
        self.end()
        assert self._keeper.stdout is not None
        self._keeper.stdout.close()

    def stop(self) -> int | None:
        """End the child for good, `child.release` included; return its wait status."""
        self.close()
        self.child.release()
        return self.status


def make_room(log: Path) -> None:
    """Make the log, readable by us only; move a long one aside, over the one moved before."""
    log.parent.mkdir(parents=True, exist_ok=True)
    if log.exists() and log.stat().st_size > LOG_BYTES_MAX:
        log.replace(log.with_name(log.name + ".1"))
    log.touch(0o600)
