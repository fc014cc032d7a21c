"""Servers of one test's own, apart from the session's."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox.postgres.server import Server


@pytest.fixture
def make_server(tmp_path: Path) -> Iterator[Callable[[], Server]]:
    """Return a maker of servers on one folder; all are stopped afterwards."""
    with contextlib.ExitStack() as made:

        def make() -> Server:
            server = Server.on(tmp_path / "postgres")
            made.callback(server.stop)
            return server

        yield make
