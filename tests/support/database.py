"""Databases for tests: where the server comes from, the template, a clone for each test."""

from __future__ import annotations

import contextlib
import os
import secrets
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import psycopg
from alembic import command
from alembic.config import Config
from psycopg import sql
from sqlalchemy.engine import URL, make_url

from sandbox.postgres.locate import find_binaries
from sandbox.postgres.server import Server

ROOT = Path(__file__).parents[2]
CLOCK = Path(__file__).with_name("clock.sql")
IMAGE = "postgres:16"


class Source(StrEnum):
    """Where the tests' server comes from."""

    DSN = "dsn"
    DOCKER = "docker"
    EMBEDDED = "embedded"


@dataclass(frozen=True)
class Origin:
    """The source and what the header says of it."""

    source: Source
    description: str


def choose_origin() -> Origin:
    """Return the source: what settings name, else Docker where it answers, else embedded.

    OUTLAST_POSTGRES asks for an embedded server of one kind, so that no other is looked for.
    """
    dsn = os.environ.get("OUTLAST_TEST_DSN")
    if dsn:
        return Origin(Source.DSN, f"{read_version(dsn)}, given by OUTLAST_TEST_DSN")
    reason = "asked for by OUTLAST_POSTGRES"
    if not os.environ.get("OUTLAST_POSTGRES"):
        if docker_has_image():
            return Origin(Source.DOCKER, f"{IMAGE} in Docker")
        reason = "no Docker engine with the image answers"
    found = find_binaries()
    return Origin(Source.EMBEDDED, f"{found.version} {found.source}, embedded ({reason})")


def docker_has_image() -> bool:
    """Return whether an engine answers (a client alone does not) and has or gets the image."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        for arguments in (["version"], ["pull", "--quiet", IMAGE]):
            subprocess.run(["docker", *arguments], capture_output=True, check=True, timeout=120)
        return True
    return False


def read_version(dsn: str) -> str:
    """Return the version that the server itself tells."""
    with contextlib.closing(connect(make_url(dsn))) as connection:
        return str(connection.execute("SHOW server_version").fetchall()[0][0])


def connect(url: URL) -> psycopg.Connection:
    """Return a connection in autocommit."""
    return psycopg.connect(
        host=url.host,
        port=url.port,
        user=url.username,
        password=url.password,
        dbname=url.database,
        autocommit=True,
    )


@contextlib.contextmanager
def running_server(origin: Origin, folder: Path) -> Iterator[URL]:
    """Yield the address of a server's maintenance database; stop what was started."""
    match origin.source:
        case Source.DSN:
            yield make_url(os.environ["OUTLAST_TEST_DSN"])
        case Source.DOCKER:
            # An optional dependency: most machines have no engine.
            from testcontainers.postgres import PostgresContainer  # noqa: PLC0415

            with PostgresContainer(IMAGE, driver="psycopg") as container:
                yield make_url(container.get_connection_url())
        case Source.EMBEDDED:
            server = Server.on(folder)
            server.start()
            try:
                yield make_url(server.url("postgres"))
            finally:
                server.stop()


class Databases:
    """Makes and drops databases on one server."""

    def __init__(self, url: URL) -> None:
        self.url = url

    def create(self, name: str, template: str | None = None) -> URL:
        """Make a database, as a copy of a template that nobody is connected to."""
        words = sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name))
        if template:
            words += sql.SQL(" TEMPLATE {}").format(sql.Identifier(template))
        with contextlib.closing(connect(self.url)) as connection:
            connection.execute(words)
        return self.url.set(database=name)

    def drop(self, name: str) -> None:
        """Drop a database, ending whoever is still connected to it."""
        words = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
        with contextlib.closing(connect(self.url)) as connection:
            connection.execute(words)

    @contextlib.contextmanager
    def lend(self, kind: str, template: str | None = None) -> Iterator[URL]:
        """Yield a database that exists for the length of the block."""
        name = f"outlast_{kind}_{secrets.token_hex(4)}"
        try:
            yield self.create(name, template)
        finally:
            self.drop(name)


def render(url: URL) -> str:
    """Return the DSN with its password."""
    return url.render_as_string(hide_password=False)


def apply_schema(url: URL) -> None:
    """Run every schema revision, then make the database's clock movable."""
    config = Config(toml_file=str(ROOT / "pyproject.toml"))
    config.attributes["dsn"] = render(url)
    command.upgrade(config, "head")
    with contextlib.closing(connect(url)) as connection:
        connection.execute(CLOCK.read_text())


class Clock:
    """Moves the clock of one test database; every session sees it at its next statement."""

    def __init__(self, url: str) -> None:
        self.url = make_url(url)

    def advance(self, seconds: float) -> None:
        """Move the clock forward, in a transaction of its own that is committed on return."""
        with contextlib.closing(connect(self.url)) as connection:
            connection.execute(
                "UPDATE test_clock SET moved_by = moved_by + make_interval(secs => %s)", [seconds]
            )
