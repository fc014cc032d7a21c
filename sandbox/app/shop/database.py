"""The shop's one SQLite file and how to open it."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SCHEMA = Path(__file__).with_name("schema.sql")


def database_file(data_dir: Path) -> Path:
    return data_dir / "shop.sqlite3"


def connect(data_dir: Path) -> sqlite3.Connection:
    """Open the database; the caller closes it. Writes wait up to 5 s for each other."""
    connection = sqlite3.connect(database_file(data_dir), timeout=5)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def create_tables(connection: sqlite3.Connection) -> None:
    connection.executescript(SCHEMA.read_text(encoding="utf-8"))


@contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Hold the write lock from the first statement on; commit at the end, or take all back."""
    connection.execute("BEGIN IMMEDIATE")
    with connection:
        yield connection
