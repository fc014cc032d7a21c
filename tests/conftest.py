"""Fixtures of all tests: one PostgreSQL for the session, one fresh database for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy.engine import URL

from tests.support.database import (
    Clock,
    Databases,
    Origin,
    apply_schema,
    choose_origin,
    render,
    running_server,
)
from tests.support.skips import SkipJudge, read_allowed

ORIGIN = pytest.StashKey[Origin]()


def pytest_configure(config: pytest.Config) -> None:
    """Judge skips, and choose the database's origin once."""
    config.pluginmanager.register(SkipJudge(read_allowed()), "outlast-skips")
    config.stash[ORIGIN] = choose_origin()


def pytest_report_header(config: pytest.Config) -> str:
    """Say which PostgreSQL the tests run on."""
    return f"PostgreSQL: {config.stash[ORIGIN].description}"


@pytest.fixture(scope="session")
def server_url(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[URL]:
    """Yield the address of the session's server."""
    with running_server(pytestconfig.stash[ORIGIN], tmp_path_factory.mktemp("postgres")) as url:
        yield url


@pytest.fixture(scope="session")
def databases(server_url: URL) -> Databases:
    """Return the maker of databases on the session's server."""
    return Databases(server_url)


@pytest.fixture(scope="session")
def template(databases: Databases) -> Iterator[str]:
    """Yield the name of a database with the schema, nobody connected, its clock movable."""
    with databases.lend("template") as url:
        apply_schema(url)
        yield str(url.database)


@pytest.fixture
def database_url(databases: Databases, template: str) -> Iterator[str]:
    """Yield the DSN of a fresh database with the whole schema, dropped afterwards."""
    with databases.lend("test", template) as url:
        yield render(url)


@pytest.fixture
def clock(database_url: str) -> Clock:
    """Return the clock of this test's database."""
    return Clock(database_url)
