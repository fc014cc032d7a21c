"""The host's SQLite file: many readers, one writer, nothing lost that was committed."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

SCHEMA = Path(__file__).with_name("schema.sql")
BUSY_S = 30.0


class Store:
    """The store of one host folder.

    The writer lock also guards every change of a git ref, so that a check and the change that
    relies on it see the same refs. It does not keep a second process out of the folder: that one
    waits on SQLite's lock for rows, but not for refs.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "host.sqlite3"
        self._lock = threading.RLock()
        with self.write() as db:
            db.execute("COMMIT")  # executescript starts and ends transactions of its own
            db.executescript(SCHEMA.read_text(encoding="utf-8"))
            known = {row["name"] for row in db.execute("PRAGMA table_info(journal)")}
            if "body_sha256" not in known:  # a folder from before the column
                db.execute("ALTER TABLE journal ADD COLUMN body_sha256 TEXT")
            db.execute("BEGIN IMMEDIATE")

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=BUSY_S, isolation_level=None)
        db.row_factory = sqlite3.Row
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA foreign_keys = ON")
        return db

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the writer lock without a transaction (a push changes refs, then rows)."""
        with self._lock:
            yield

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection in a transaction; commit at the end, roll back on any error."""
        with self._lock, closing(self._connect()) as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection that sees one moment of the store."""
        with closing(self._connect()) as db:
            db.execute("BEGIN")
            yield db


def now() -> str:
    """Return this host's wall clock as GitHub writes instants."""
    return written(datetime.now(UTC))  # noqa: TID251 -- an outside system reads its own clock


def written(instant: datetime) -> str:
    """Return an instant in UTC as GitHub writes it, in whole seconds."""
    return instant.strftime("%Y-%m-%dT%H:%M:%SZ")
