"""The locking statements, one `.sql` file each. Everything else is SQLAlchemy Core."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from sqlalchemy import Connection, RowMapping, TextClause, text


@cache
def statement(name: str) -> TextClause:
    """Return the statement of `sql/<name>.sql`."""
    return text((files(__package__) / "sql" / f"{name}.sql").read_text())


def names() -> tuple[str, ...]:
    """Return the names of all locking statements, sorted."""
    folder = files(__package__) / "sql"
    return tuple(sorted(entry.name.removesuffix(".sql") for entry in folder.iterdir()))


def rows(connection: Connection, name: str, **values: Any) -> Sequence[RowMapping]:
    """Run a locking statement and return its rows. Needs an open transaction."""
    return connection.execute(statement(name), values).mappings().all()


def row(connection: Connection, name: str, **values: Any) -> RowMapping | None:
    """Run a locking statement that touches at most one row; None when the guard refused it."""
    return connection.execute(statement(name), values).mappings().one_or_none()
