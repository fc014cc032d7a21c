"""The append-only journal: what was asked, what was applied, what was delivered.

An entry is written before the request is looked at; everything learned later is a note of its own.
An entry without the note `delivered` was never answered, or its answer was lost.
"""

from __future__ import annotations

import json
import re
import sqlite3
from dataclasses import astuple, dataclass
from typing import Any

from sandbox.host.store import now

MARKER = re.compile(r"<!-- (outlast:[^\s>]+) -->")


@dataclass(frozen=True)
class Asked:
    """The part of an entry that is known before the request is handled."""

    method: str
    path: str
    login: str | None
    idempotency_key: str | None
    marker: str | None
    body_sha256: str | None


def open_entry(db: sqlite3.Connection, asked: Asked) -> int:
    """Append an entry and return its ordinal."""
    row_id = db.execute(
        "INSERT INTO journal (at, method, path, login, idempotency_key, marker, body_sha256)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (now(), *astuple(asked)),
    ).lastrowid
    assert row_id is not None
    return row_id


def note(db: sqlite3.Connection, ordinal: int, name: str, content: Any = True) -> None:
    """Append what was learned about an entry."""
    db.execute(
        "INSERT INTO journal_notes (ordinal, name, content) VALUES (?, ?, ?)",
        (ordinal, name, json.dumps(content)),
    )


def marker_in(body: bytes) -> str | None:
    """Return the first marker that a JSON body carries, or None."""
    found = MARKER.search(body.decode("utf-8", errors="replace"))
    return found.group(1) if found else None


def read(db: sqlite3.Connection, after: int = 0) -> list[dict[str, Any]]:
    """Return the entries after an ordinal, in order, each with its notes folded in."""
    entries = {
        row["ordinal"]: {
            **dict(row),
            "status": None,
            "applied": False,
            "delivered": False,
            "fault": None,
            "refs": [],
        }
        for row in db.execute("SELECT * FROM journal WHERE ordinal > ? ORDER BY ordinal", (after,))
    }
    notes = db.execute("SELECT * FROM journal_notes WHERE ordinal > ? ORDER BY id", (after,))
    for row in notes:
        if row["ordinal"] not in entries:
            continue
        entry, content = entries[row["ordinal"]], json.loads(row["content"])
        if row["name"] == "ref":
            entry["refs"].append(content)
        else:
            entry[row["name"]] = content
    return list(entries.values())
