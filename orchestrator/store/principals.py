"""Who may do what: names, roles and hashed tokens. Never commits, never stores a token."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, select
from sqlalchemy.dialects.postgresql import insert

from orchestrator.store import tables


@dataclass(frozen=True)
class Principal:
    """A named caller and its roles."""

    name: str
    roles: frozenset[str]


def token_hash(token: str) -> str:
    """Return what is stored of a token. Tokens are long random strings, so one hash is enough."""
    return hashlib.sha256(token.encode()).hexdigest()


def put(connection: Connection, name: str, roles: Sequence[str], token: str) -> None:
    """Create a principal, or give it these roles and this token instead of its earlier ones."""
    values = {"roles": sorted(roles), "token_sha256": token_hash(token), "disabled_at": None}
    statement = insert(tables.principal).values(name=name, **values)
    connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_=values))


def by_token(connection: Connection, token: str) -> Principal | None:
    """Return the principal of a token, or None when it is unknown or disabled."""
    table = tables.principal
    query = select(table.c.name, table.c.roles).where(
        table.c.token_sha256 == token_hash(token), table.c.disabled_at.is_(None)
    )
    row = connection.execute(query).one_or_none()
    return None if row is None else Principal(row[0], frozenset(row[1]))


def exist(connection: Connection) -> bool:
    """Return whether any principal exists."""
    return bool(connection.execute(select(func.count()).select_from(tables.principal)).scalar())
