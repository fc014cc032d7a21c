"""`outlast doctor`: what is found, missing or wrong on this machine, and what to do about it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text
from sqlalchemy.exc import ArgumentError, OperationalError, SQLAlchemyError

from activities.browser.find import find_browser
from activities.environment.tiers import Tier, choose_tier
from cli import render
from cli.settings import Settings
from cli.stack import answers
from orchestrator.domain.failures import ActivityFailed
from orchestrator.engine.database import Database
from orchestrator.store import reads
from sandbox.postgres.errors import PostgresError
from sandbox.postgres.locate import find_binaries


class State(StrEnum):
    """How a finding stands."""

    FOUND = "found"
    WORSE = "works, with less"
    MISSING = "missing"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked for; `advice` says what to do when it is not as it should be."""

    what: str
    state: State
    detail: str
    advice: str = ""


def doctor(json: Annotated[bool, typer.Option("--json")] = False) -> None:
    """Say what this machine has, lacks or has wrong; exit status 1 if something is missing."""
    settings = Settings.read()
    found = list(examine(settings))
    if json:
        render.as_json([asdict(finding) for finding in found])
    else:
        render.console.print(table(found))
    if any(finding.state is State.MISSING for finding in found):
        raise typer.Exit(1)


def examine(settings: Settings) -> Iterator[Finding]:
    """Yield a finding for each thing that Outlast needs or can use."""
    yield _python()
    yield _postgres()
    yield _git()
    yield _browser(settings.home)
    yield _tier()
    yield _home(settings.home)
    if settings.dsn:
        yield _database(settings.dsn)
    if settings.host_url:
        yield _host(settings.host_url)
    if settings.api_url:
        yield _api(settings.api_url)


def table(found: list[Finding]) -> Table:
    """Return the findings as people read them."""
    colours = {State.FOUND: "green", State.WORSE: "yellow", State.MISSING: "red"}
    shown = Table("what", "state", "detail", "what to do")
    for finding in found:
        word = Text(finding.state, style=colours[finding.state])
        shown.add_row(finding.what, word, Text(finding.detail), Text(finding.advice))
    return shown


def _python() -> Finding:
    return Finding("Python", State.FOUND, ".".join(str(part) for part in sys.version_info[:3]))


def _postgres() -> Finding:
    try:
        binaries = find_binaries()
    except PostgresError as fault:
        return Finding("PostgreSQL", State.MISSING, str(fault), "run `make setup`")
    return Finding("PostgreSQL", State.FOUND, f"{binaries.version}, {binaries.source}")


def _git() -> Finding:
    git = shutil.which("git")
    if git is None:
        return Finding("git", State.MISSING, "not on PATH", "install git")
    core = _said([git, "--exec-path"])
    if not Path(core, "git-http-backend").exists():
        return Finding("git", State.MISSING, "no git-http-backend", "install the whole git package")
    return Finding("git", State.FOUND, _said([git, "--version"]))


def _browser(home: Path) -> Finding:
    return _tried(
        "browser",
        lambda: str(find_browser(home)),
        "run `make setup`, or set OUTLAST_CHROMIUM to a Chromium",
    )


def _tier() -> Finding:
    tier = choose_tier()
    if tier is Tier.BUBBLEWRAP:
        return Finding("sandbox", State.FOUND, str(tier))
    advice = "user namespaces are off or bubblewrap is missing; run only trusted repositories"
    return Finding("sandbox", State.WORSE, f"{tier}: no isolation of files and network", advice)


def _home(home: Path) -> Finding:
    try:
        home.mkdir(parents=True, exist_ok=True)
        (home / ".doctor").write_text("")
        (home / ".doctor").unlink()
    except OSError as fault:
        return Finding("data folder", State.MISSING, f"{home}: {fault}", "set OUTLAST_HOME")
    free = shutil.disk_usage(home).free // 2**20
    return Finding("data folder", State.FOUND, f"{home}, {free} MiB free")


def _database(dsn: str) -> Finding:
    try:
        database = Database(dsn)
        try:
            with database.read() as tx:
                revision = reads.ping(tx)
        finally:
            database.close()
    except (ArgumentError, ImportError, OperationalError) as fault:
        advice = "start it, or correct OUTLAST_DSN (postgresql+psycopg://...)"
        return Finding("database", State.MISSING, type(fault).__name__, advice)
    except SQLAlchemyError as fault:
        return Finding("database", State.MISSING, type(fault).__name__, "`outlast db upgrade`")
    return Finding("database", State.FOUND, f"schema revision {revision}")


def _api(url: str) -> Finding:
    if answers(f"{url}/ready"):
        return Finding("API", State.FOUND, url)
    advice = "run `outlast up` or `outlast api`, or correct OUTLAST_API_URL"
    return Finding("API", State.MISSING, f"{url} is not ready", advice)


def _host(url: str) -> Finding:
    if answers(url) or answers(f"{url}/outlast/extensions"):
        return Finding("git host", State.FOUND, url)
    return Finding("git host", State.MISSING, f"{url} does not answer", "check OUTLAST_HOST_URL")


def _tried(what: str, look: Callable[[], str], advice: str) -> Finding:
    try:
        return Finding(what, State.FOUND, look())
    except ActivityFailed as fault:
        return Finding(what, State.MISSING, fault.reason, advice)


def _said(argv: list[str]) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()
