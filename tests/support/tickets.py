"""A ticket service in one SQLite file: it enforces keys, as a real receiver would, or nothing.

It stores a ticket and its operation id in one transaction. Its own records are what the tests read
as the outside's truth.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from activities.document import CheckDocument
from activities.mutation import Absent, Applied, Call, Found, Observed, Outcome
from activities.registry import Registry
from orchestrator import seam
from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.operations import Guarantee

SCHEMA = """
CREATE TABLE IF NOT EXISTS ticket (
    number INTEGER PRIMARY KEY, operation TEXT, marker TEXT, title TEXT, section TEXT, closed INT);
CREATE UNIQUE INDEX IF NOT EXISTS once ON ticket (operation) WHERE operation IS NOT NULL;
CREATE TABLE IF NOT EXISTS journal (ordinal INTEGER PRIMARY KEY, what TEXT, marker TEXT);
"""


class TicketService:
    """The outside. With `keys` it refuses a second creation under one operation id."""

    def __init__(self, path: Path, *, keys: bool = True) -> None:
        self.path, self.keys = path, keys
        with self._open() as store:
            store.executescript(SCHEMA)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        store = sqlite3.connect(self.path, timeout=10)
        try:
            with store:
                yield store
        finally:
            store.close()

    def create(self, title: str, call: Call) -> int:
        """Store a ticket with its operation id, atomically; a repeat gets the first ticket."""
        with self._open() as store:
            store.execute("BEGIN IMMEDIATE")
            store.execute("INSERT INTO journal (what, marker) VALUES ('create', ?)", [call.marker])
            key = call.operation_id if self.keys else None
            found = store.execute("SELECT number FROM ticket WHERE operation = ?", [key]).fetchone()
            if found:
                return int(found[0])
            made = store.execute(
                "INSERT INTO ticket (operation, marker, title, closed) VALUES (?, ?, ?, 0)",
                [key, call.marker, title],
            )
            return int(made.lastrowid or 0)

    def set(self, number: int, column: str, value: object) -> None:
        """Set one column to a value."""
        with self._open() as store:
            store.execute("INSERT INTO journal (what) VALUES (?)", [f"set {column}"])
            store.execute(f"UPDATE ticket SET {column} = ? WHERE number = ?", [value, number])

    def find(self, marker: str) -> int | None:
        """Return the ticket that carries the marker."""
        with self._open() as store:
            found = store.execute("SELECT number FROM ticket WHERE marker = ?", [marker]).fetchone()
        return None if found is None else int(found[0])

    def tickets(self) -> list[tuple[int, str, str | None, int | str]]:
        """Return (number, title, section, closed) of every ticket."""
        with self._open() as store:
            return store.execute("SELECT number, title, section, closed FROM ticket").fetchall()

    def journal(self) -> list[str]:
        """Return every request that was applied or answered, in order."""
        with self._open() as store:
            return [row[0] for row in store.execute("SELECT what FROM journal ORDER BY ordinal")]


@dataclass
class CreateTicket:
    """Create a ticket at the service."""

    service: TicketService
    name: str = "create-ticket"
    queue: str = "tracker"

    @property
    def guarantee(self) -> Guarantee:
        """Keys where the service has them, else nothing."""
        return Guarantee.IDEMPOTENCY_KEY if self.service.keys else Guarantee.NONE

    def perform(self, request: JsonObject, call: Call) -> Outcome:
        """Create it."""
        with seam.crossing("call", self.name):
            number = self.service.create(request["title"], call)
        return Applied(str(number), {"number": number})

    def observe(self, request: JsonObject, call: Call) -> Observed:
        """Look for the marker."""
        number = self.service.find(call.marker)
        if number is None:
            return Absent("no ticket carries the marker", conclusive=False)
        return Found(str(number), {"number": number})


@dataclass
class SetTicket:
    """Set one column of a ticket; naturally idempotent."""

    service: TicketService
    name: str
    column: str
    field: str
    queue: str = "tracker"
    guarantee: Guarantee = Guarantee.NATURAL

    def perform(self, request: JsonObject, call: Call) -> Outcome:
        """Set it."""
        with seam.crossing("call", self.name):
            self.service.set(request["number"], self.column, request[self.field])
        return Applied(str(request["number"]))

    def observe(self, request: JsonObject, call: Call) -> Observed:
        """Say that it may be set again, which is always true of a set."""
        return Absent("set again", conclusive=True)


def registry(service: TicketService) -> Registry:
    """Return what the definitions `notice` and `document` schedule."""
    return Registry(
        [CheckDocument()],
        [
            CreateTicket(service),
            SetTicket(service, "update-ticket", "section", "section"),
            SetTicket(service, "close-ticket", "closed", "reason"),
        ],
    )
