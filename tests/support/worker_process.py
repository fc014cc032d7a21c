"""A real worker or reconciler process for tests, which is killed or frozen at a chosen crossing.

Usage: worker_process.py ROLE DSN TICKETS KEYS [KIND NAME SIDE [SIGNAL [NTH]]]
       worker_process.py ROLE DSN TICKETS KEYS record FILE
The product's code is started as it is; only the seam is watched, from out here. `record` appends
each crossing to a file, in the order in which the process made them.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

from activities.publisher import Publisher, to_log
from activities.worker import Worker, WorkerSettings
from orchestrator import seam
from orchestrator.engine.database import Database
from orchestrator.workflows.catalogue import definitions
from reconciler.ambiguous_operations import AmbiguousOperations
from reconciler.daemon import Duty, Reconciler
from reconciler.expired_leases import ExpiredLeases
from tests.support.tickets import TicketService, registry

LEASE_S = 2.0
IDLE_S = 1.0


def record_to(path: str) -> None:
    """Append `kind name` of every crossing that was completed."""

    def watcher(kind: str, name: str, side: str) -> None:
        if side == "after":
            with Path(path).open("a") as file:
                file.write(f"{kind} {name}\n")

    seam.watch(watcher)


def signal_at(kind: str, name: str, side: str, number: str = "SIGKILL", nth: str = "1") -> None:
    """Send this process the signal at the nth crossing, once, as somebody outside would.

    At a crossing the thread holds no lock of anybody's, so that a frozen process blocks nobody;
    it is the thread that gets the signal, so that it cannot run on past the crossing meanwhile.
    """
    reached: list[str] = []

    def watcher(seen_kind: str, seen_name: str, seen_side: str) -> None:
        if (seen_kind, seen_name, seen_side) != (kind, name, side):
            return
        reached.append(name)
        if len(reached) == int(nth):
            signal.pthread_kill(threading.get_ident(), signal.Signals[number])

    seam.watch(watcher)


def main(role: str, dsn: str, tickets: str, keys: str, *at: str) -> None:
    """Run the role until the process is stopped."""
    if at[:1] == ("record",):
        record_to(at[1])
    elif at:
        signal_at(*at)
    database, known = Database(dsn, pool_size=4, idle_s=IDLE_S), definitions()
    does = registry(TicketService(Path(tickets), keys=keys == "keys"))
    if role == "reconciler":
        duties: list[Duty] = [
            ExpiredLeases(database, known),
            AmbiguousOperations(database, known, does, str(os.getpid())),
        ]
        Reconciler(duties, every_s=0.1).run()
        return
    settings = WorkerSettings(
        id=f"{role}-{os.getpid()}",
        queues=does.queues(),
        lease_s=LEASE_S,
        slots=1,
        longest_poll_s=0.1,
        direct_dsn=dsn,
    )
    Worker(database, known, does, settings, Publisher(database, [to_log])).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
