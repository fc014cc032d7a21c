"""Connections and commits. Every commit of the product passes `Database.commit` and its seam."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from psycopg.errors import IdleInTransactionSessionTimeout
from sqlalchemy import Connection, create_engine
from sqlalchemy.exc import InternalError, OperationalError

from orchestrator import seam

IDLE_IN_TRANSACTION_S = 5.0


class Database:
    """A pool on one PostgreSQL database. Threads may share it; processes may not.

    A lost connection is an OperationalError, whatever it was lost by.
    """

    def __init__(
        self, dsn: str, *, pool_size: int = 8, idle_s: float = IDLE_IN_TRANSACTION_S
    ) -> None:
        """Make the pool. `idle_s` is how long a frozen process may hold others' rows (R16)."""
        options = f"-c idle_in_transaction_session_timeout={round(idle_s * 1000)}"
        self._engine = create_engine(
            dsn, pool_size=pool_size, max_overflow=8, connect_args={"options": options}
        )

    @contextmanager
    def commit(self, name: str) -> Iterator[Connection]:
        """Open a transaction and commit it at the end; an exception rolls it back.

        `name` is the transaction's name at the seam. Nothing that leaves the process belongs
        inside: no model, tool or network call.
        """
        with self._connected() as connection, connection.begin() as transaction:
            yield connection
            with seam.crossing("commit", name):
                transaction.commit()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a transaction that only reads."""
        with self._connected() as connection:
            yield connection
            connection.rollback()

    def close(self) -> None:
        """Close every connection of the pool."""
        self._engine.dispose()

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        """Yield a connection; one that the server ended while we were frozen is lost like any."""
        try:
            with self._engine.connect() as connection:
                yield connection
        except InternalError as fault:
            if isinstance(fault.orig, IdleInTransactionSessionTimeout):
                raise OperationalError(fault.statement, fault.params, fault.orig) from fault
            raise
