"""The workshop's database: one SQLite file in the data folder, filled from the fixtures."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import date
from pathlib import Path
from typing import Any

from flask import current_app, g

SCHEMA = Path(__file__).with_name("schema.sql")
FIXTURES = Path(__file__).parents[1] / "fixtures"


def connect(data_dir: Path) -> sqlite3.Connection:
    db = sqlite3.connect(data_dir / "workshop.sqlite", isolation_level=None)
    db.row_factory = sqlite3.Row
    db.execute("PRAGMA foreign_keys = ON")
    return db


def get_db() -> sqlite3.Connection:
    """Return the connection of the current request."""
    if "db" not in g:
        g.db = connect(Path(current_app.config["DATA_DIR"]))
    return g.db


def close_db(_fault: BaseException | None = None) -> None:
    db = g.pop("db", None)
    if db is not None:
        db.close()


@contextmanager
def transaction() -> Iterator[sqlite3.Connection]:
    """Lock the database for one change: what was read stays true until it is written."""
    db = get_db()
    db.execute("BEGIN IMMEDIATE")
    with db:
        yield db


def today(db: sqlite3.Connection) -> date:
    """Return the desk's day."""
    row = db.execute("SELECT value FROM settings WHERE name = 'today'").fetchone()
    return date.fromisoformat(row["value"])


def seed(data_dir: Path, fixtures: Path = FIXTURES) -> None:
    """Make the database of the empty data folder from the fixture files."""
    with closing(connect(data_dir)) as db:
        db.executescript(SCHEMA.read_text(encoding="utf-8"))
        db.execute("BEGIN")
        for name in ("tools.json", "people.json", "desk.json"):
            tables = json.loads((fixtures / name).read_text(encoding="utf-8"))
            for table, rows in tables.items():
                for row in rows:
                    _insert(db, table, row)
        db.execute("COMMIT")


def _insert(db: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    columns = ", ".join(row)
    marks = ", ".join(f":{column}" for column in row)
    db.execute(f"INSERT INTO {table} ({columns}) VALUES ({marks})", row)
