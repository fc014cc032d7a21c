"""Keeps one child for an owner: a small program of its own, run by path, standard library only.

It reads its order as one JSON line from standard input, starts the child in a session of its own
and reports as JSON lines on standard output: first the child's pid, at last its wait status. When
standard input ends (the owner stopped it, or died by any signal), it ends the child.

Promise: when this program exits by itself, the child and everything the child ever started are
gone, in whatever session or group, because orphans below it are handed to it (subreaper). Limit:
if this program itself is killed, the kernel ends only the child; the owner sees that and acts.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import sys
import time
from dataclasses import dataclass
from typing import Any

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
ORDER_BYTES_MAX = 4_000_000
SWEEP_SECONDS = 0.02
IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE)
CAUGHT = (*IGNORED, signal.SIGCHLD)


@dataclass(frozen=True)
class Order:
    """What to run. `stop_signal` asks the child to end; `grace_s` later it is killed."""

    argv: list[str]
    env: dict[str, str]
    cwd: str
    log: str
    stop_signal: int
    death_signal: int
    grace_s: float


def control_process(option: int, value: int) -> None:
    """Call prctl(2) where it exists; elsewhere only the session of the child is taken along."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def report(**fact: Any) -> None:
    """Tell the owner; an owner that is gone is noticed elsewhere."""
    try:
        os.write(1, (json.dumps(fact) + "\n").encode())
    except OSError:
        return


def read_order() -> Order:
    """Read the first line of standard input, a byte at a time so that no later byte is taken."""
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte or len(line) > ORDER_BYTES_MAX:
            raise SystemExit("the owner ended before it gave an order")
        line += byte
    return Order(**json.loads(line))


def become_child(order: Order, keeper: int) -> None:
    """Turn this fork into the child. Only returns by an error, which goes to the child's log."""
    os.setsid()
    os.dup2(os.open(order.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 1)
    os.dup2(1, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(order.cwd)
    for number in CAUGHT:
        signal.signal(number, signal.SIG_DFL)
    control_process(PR_SET_PDEATHSIG, order.death_signal)
    if os.getppid() != keeper:
        os._exit(1)
    os.execvpe(order.argv[0], order.argv, order.env)


def hide_descriptors() -> None:
    """Keep whatever the owner passed on to this program from the child."""
    for name in os.listdir("/dev/fd"):
        try:
            os.set_inheritable(int(name), int(name) < 3)
        except OSError:
            continue


def start_child(order: Order) -> int:
    """Fork and become the child there; return its pid here. 127 means that it could not start."""
    keeper = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        become_child(order, keeper)
    except OSError as error:
        os.write(2, f"could not start {order.argv[0]}: {error}\n".encode())
    finally:
        os._exit(127)


def parents() -> dict[int, int]:
    """Return the parent of each process, read from /proc; empty where there is none."""
    found: dict[int, int] = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else []:
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    found[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
            except (OSError, IndexError):
                continue
    return found


def descendants() -> set[int]:
    """Return every process below this one, by parent links."""
    tree, below = parents(), {os.getpid()}
    while True:
        more = {pid for pid, parent in tree.items() if parent in below} - below
        if not more:
            return below - {os.getpid()}
        below |= more


def send(pid: int, number: int) -> None:
    """Signal a process that may be gone or beyond our rights."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


class Keeper:
    """One child, from its start to the end of the last process it left behind."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.wake, signalled = os.pipe()
        os.set_blocking(signalled, False)
        os.set_blocking(self.wake, False)
        signal.set_wakeup_fd(signalled, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.child = start_child(order)
        self.status: int | None = None

    def reap(self) -> bool:
        """Collect whoever ended; return whether any process is left below."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.child:
                self.status = status

    def wait_for_end_or_owner(self) -> None:
        """Return when the child ended, or when the owner closed its side or is gone."""
        while self.status is None:
            ready, _, _ = select.select([0, self.wake], [], [])
            if self.wake in ready:
                os.read(self.wake, 4096)
                self.reap()
            if 0 in ready and not os.read(0, 4096):
                return

    def stop_child(self) -> None:
        """Ask the child to end and wait for it, at most the grace."""
        if self.status is None:
            send(self.child, self.order.stop_signal)
        until = time.monotonic() + self.order.grace_s
        while self.status is None and time.monotonic() < until:
            select.select([self.wake], [], [], SWEEP_SECONDS)
            self.reap()

    def sweep(self) -> None:
        """Kill everything below, again and again, until nothing is left to collect."""
        while self.reap():
            for pid in descendants() or {self.child}:
                send(pid, signal.SIGKILL)
            select.select([], [], [], SWEEP_SECONDS)

    def run(self) -> None:
        """Keep the child to its end and report it."""
        report(pid=self.child)
        self.wait_for_end_or_owner()
        self.stop_child()
        self.sweep()
        report(status=self.status)


def main() -> None:
    """Take the order, keep the child; ends of the terminal do not reach this session."""
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    hide_descriptors()
    control_process(PR_SET_CHILD_SUBREAPER, 1)
    Keeper(read_order()).run()


if __name__ == "__main__":
    main()
