"""Connections and commits. Every commit of the product passes `Database.commit` and its seam."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, create_engine

from orchestrator import seam

IDLE_IN_TRANSACTION_S = 10


class Database:
    """A pool on one PostgreSQL database. Threads may share it; processes may not."""

    def __init__(self, dsn: str, *, pool_size: int = 8) -> None:
        options = f"-c idle_in_transaction_session_timeout={IDLE_IN_TRANSACTION_S}s"
        self._engine = create_engine(
            dsn, pool_size=pool_size, max_overflow=8, connect_args={"options": options}
        )

    @contextmanager
    def commit(self, name: str) -> Iterator[Connection]:
        """Open a transaction and commit it at the end; an exception rolls it back.

        `name` is the transaction's name at the seam. Nothing that leaves the process belongs
        inside: no model, tool or network call.
        """
        with self._engine.connect() as connection, connection.begin() as transaction:
            yield connection
            with seam.crossing("commit", name):
                transaction.commit()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a transaction that only reads."""
        with self._engine.connect() as connection:
            yield connection
            connection.rollback()

    def close(self) -> None:
        """Close every connection of the pool."""
        self._engine.dispose()
