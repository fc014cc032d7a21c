"""`outlast up`: everything on this machine until Ctrl-C, then nothing of it."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from cli import render
from cli.settings import Settings
from cli.stack import Addresses, Stack
from sandbox.owner.owner import Owner


def up(
    workers: Annotated[int, typer.Option(min=1, max=16)] = 2,
    keys: Annotated[bool, typer.Option(help="Host with idempotency keys.")] = True,
    json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Start database, host, API, workers and reconciler; stop all of them on Ctrl-C."""
    home = Settings.read().home
    with Owner() as owner, owner.ending_on_signals():
        stack = Stack(home, owner, keys=keys)
        where = stack.start(workers)
        try:
            show(where, json)
            while not owner.wait(1.0):
                continue
        finally:
            stack.forget()
    if not json:
        render.console.print("stopped everything")


def show(where: Addresses, json: bool) -> None:
    """Print addresses and the demo tokens; they are this machine's own."""
    if json:
        render.as_json({"api": where.api, "host": where.host, "tokens": dict(where.tokens)})
        return
    table = Table("what", "value", title="Outlast is up; Ctrl-C stops all of it")
    table.add_row("API", f"{where.api}/docs")
    table.add_row("git host", where.host)
    for role, token in where.tokens.items():
        table.add_row(f"token of the {role}", token)
    render.console.print(table)
