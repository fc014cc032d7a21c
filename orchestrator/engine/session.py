"""A worker's own session: its lock is free from the moment at which the worker is gone (R11)."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import structlog
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from orchestrator.engine.database import Database
from orchestrator.engine.fold import CODE_VERSION
from orchestrator.store import workers

log = structlog.get_logger()


class WorkerSession:
    """Announces a worker and holds its lock on a direct connection, for as long as both live.

    `worker` names one incarnation: when the connection is lost, another begins under a new name,
    because the old one's steps may be taken over from that moment on. With `direct_dsn` None, as
    behind a pooler, nothing is held and the lease alone tells of a worker's end.
    """

    def __init__(
        self,
        database: Database,
        name: str,
        queues: Sequence[str],
        *,
        direct_dsn: str | None,
    ) -> None:
        self._database, self._name, self._queues = database, name, queues
        self._engine = None if direct_dsn is None else create_engine(direct_dsn, poolclass=NullPool)
        self._connection: Connection | None = None
        self.worker = name

    def open(self) -> None:
        """Begin an incarnation: take the lock first, announce it then, claim only after."""
        worker = f"{self._name}-{secrets.token_hex(3)}"
        if self._engine is not None:
            connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            query = text("SELECT pg_advisory_lock(outlast_session_key(:worker))")
            connection.execute(query, {"worker": worker})
            self._connection = connection
        with self._database.commit("announce-worker") as tx:
            workers.announce(
                tx,
                worker,
                self._queues,
                CODE_VERSION,
                holds_session=self._connection is not None,
            )
        self.worker = worker

    def keep(self) -> None:
        """Look whether the session still lives; begin another incarnation when it does not.

        Raises OperationalError while the database cannot be reached.
        """
        if self._connection is None and self._engine is None:
            return
        try:
            if self._connection is not None:
                self._connection.execute(text("SELECT 1"))
                return
        except OperationalError as lost:
            log.warning("session lost", worker=self.worker, reason=str(lost.orig)[:200])
            self._connection = None
        self.open()

    def close(self) -> None:
        """End the incarnation; its lock is free from then on."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
