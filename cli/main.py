"""The command `outlast`."""

from __future__ import annotations

import sys

import typer

from cli import commands, processes, render
from cli.demo import demo
from cli.doctor import doctor
from cli.schema import upgrade
from cli.settings import Settings
from cli.up import up
from orchestrator.domain.failures import OutlastError
from sandbox.host.tokens import UnreadableTokens
from sandbox.owner.errors import OwnershipError
from sandbox.postgres.errors import PostgresError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Durable orchestration of long coding-agent work.",
)
database = typer.Typer(no_args_is_help=True, help="The database's schema.")
app.add_typer(database, name="db")


@database.command("upgrade")
def db_upgrade(json: commands.Json = False) -> None:
    """Apply the schema revisions that the database lacks."""
    revision = upgrade(Settings.read().needed_dsn())
    if json:
        render.as_json({"schema": revision})
    else:
        render.console.print(f"the schema is up to date, at revision {revision}")


for command in (
    up,
    demo,
    doctor,
    processes.sandbox,
    processes.api,
    processes.worker,
    processes.reconciler,
    commands.submit,
    commands.runs,
    commands.show,
    commands.watch,
    commands.approvals,
    commands.approve,
    commands.reject,
    commands.cancel,
    commands.terminate,
    commands.pause,
    commands.resume,
    commands.retry,
    commands.raise_budget,
    commands.correct,
    commands.receivers,
):
    app.command()(command)


def main() -> None:
    """Run the command; an error of ours is said in one sentence and ends with status 2."""
    try:
        app()
    except (OutlastError, OwnershipError, PostgresError, UnreadableTokens) as error:
        render.errors.print(f"[red]{type(error).__name__}[/]: ", end="")
        render.errors.print(str(error), markup=False, highlight=False)
        sys.exit(2)


if __name__ == "__main__":
    main()
