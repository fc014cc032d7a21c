"""A table whose acknowledged rows must never be missed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import psycopg

from sandbox.postgres.server import Server


def make_table(server: Server) -> None:
    """Make the database and the table."""
    server.create_database()
    with contextlib.closing(server.connect("outlast")) as connection:
        connection.execute("CREATE TABLE acknowledged (number integer PRIMARY KEY)")


def write_until_cut(server: Server, cut: Callable[[int], None]) -> set[int]:
    """Insert a row a transaction until the connection breaks; return those that were committed.

    `cut` is called after each commit with the number of the row.
    """
    committed: set[int] = set()
    with contextlib.suppress(psycopg.OperationalError), server.connect("outlast") as connection:
        for number in range(100_000):
            connection.execute("INSERT INTO acknowledged VALUES (%s)", [number])
            committed.add(number)
            cut(number)
    return committed


def read_rows(server: Server) -> set[int]:
    """Return every row that is there."""
    with contextlib.closing(server.connect("outlast")) as connection:
        return {row[0] for row in connection.execute("SELECT number FROM acknowledged")}
