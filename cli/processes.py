"""The long-running processes: api, worker, reconciler, sandbox; any number of each."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
import uvicorn

from activities.artifacts import ArtifactStore
from activities.installation import build
from activities.publisher import Publisher, to_log
from activities.worker import Worker, WorkerSettings
from api.app import create_app
from cli import logs
from cli.settings import Settings
from orchestrator.engine.database import Database
from orchestrator.workflows.catalogue import definitions
from reconciler.ambiguous_operations import AmbiguousOperations
from reconciler.daemon import Duty, Reconciler
from reconciler.expired_leases import ExpiredLeases
from sandbox.host.server import serve

Kinds = Annotated[
    str, typer.Option(help="Kinds of activity to serve, separated by commas; `all` for every one.")
]
Slots = Annotated[int, typer.Option(min=1, max=64, help="How many steps to execute at once.")]
Port = Annotated[int, typer.Option(min=1, max=65535, help="Port on 127.0.0.1.")]


def api(port: Port = 8400) -> None:
    """Serve the REST API on loopback."""
    logs.configure()
    settings = Settings.read()
    artifacts = ArtifactStore(settings.home / "artifacts")
    database = Database(settings.needed_dsn())
    app = create_app(database, definitions(), settings.policy, artifacts.checked_path)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning", access_log=False)


def worker(kinds: Kinds = "all", slots: Slots = 2, lease_s: float = 10.0) -> None:
    """Execute due steps of the kinds it serves, and decide messages and timers."""
    logs.configure()
    settings = Settings.read()
    settings.require_readable_secrets()
    registry = build(settings.home, settings.needed_host())
    queues = registry.queues() if kinds == "all" else tuple(kinds.split(","))
    unknown = sorted(set(queues) - set(registry.queues()))
    if unknown:
        known = ", ".join(registry.queues())
        raise typer.BadParameter(f"unknown kinds {', '.join(unknown)}; there are {known}")
    database = Database(settings.needed_dsn(), pool_size=slots + 4)
    how = WorkerSettings(
        id=process_name(),
        queues=queues,
        slots=slots,
        lease_s=lease_s,
        direct_dsn=settings.direct_dsn(),
    )
    working = Worker(database, definitions(), registry, how, Publisher(database, [to_log]))
    stop_on_signals(working.stop)
    working.run()


def reconciler(every_s: float = 0.5) -> None:
    """Hand on what lost workers held, and settle what was sent and never answered."""
    logs.configure()
    settings = Settings.read()
    settings.require_readable_secrets()
    database, known = Database(settings.needed_dsn()), definitions()
    registry = build(settings.home, settings.needed_host())
    duties: list[Duty] = [
        ExpiredLeases(database, known),
        AmbiguousOperations(database, known, registry, process_name()),
    ]
    running = Reconciler(duties, every_s=every_s)
    stop_on_signals(running.stop)
    running.run()


def sandbox(
    folder: Annotated[Path | None, typer.Option(help="Its store; default <home>/host.")] = None,
    port: Port = 8401,
    keys: Annotated[bool, typer.Option(help="Announce and honour idempotency keys.")] = True,
) -> None:
    """Serve the embedded git host and tracker on loopback."""
    serve(folder or Settings.read().home / "host", port, keys)


def process_name() -> str:
    """Return what this process calls itself: host and pid."""
    return f"{socket.gethostname()}-{os.getpid()}"


def stop_on_signals(stop: Callable[[], None]) -> None:
    """Stop coherently on SIGINT and SIGTERM."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop())
