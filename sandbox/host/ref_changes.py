"""A change of a ref and of rows that belong together, whole also when the host is killed between.

git and SQLite have no common transaction. So the change is announced in `ref_intents`, git moves
the ref by compare-and-swap, and the rows follow with the announcement's removal.
`settle_left_over` finishes at the next start what git has done, and forgets what it has not.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fastapi import Response
from fastapi.responses import JSONResponse

from sandbox.host import pull_rows, repositories
from sandbox.host.bare import ZERO, GitRefused
from sandbox.host.call import Answer, Call, Spending, respond, spend
from sandbox.host.refusals import Refusal
from sandbox.host.repositories import Repository
from sandbox.host.store import Store


@dataclass(frozen=True)
class RefChange:
    """A ref's move from `old` to `new`, its answer, and the pull request it merges, if any."""

    repository: Repository
    ref: str
    old: str
    new: str
    answer: Answer
    merges: int | None = None


Plan = Callable[[sqlite3.Connection], RefChange]


def change_ref(call: Call, plan: Plan, lost: Refusal) -> Response:
    """Plan, move and record one change. Raises `lost` if the ref moved in between."""
    with call.store.exclusive():
        with call.store.write() as db:
            earlier = call.replay(db)
            if earlier is not None:
                return _response(earlier)
            change = plan(db)
            _announce(db, change, call.spending())
        try:
            change.repository.bare.swap(change.ref, change.new, change.old)
        except GitRefused as error:
            with call.store.write() as db:
                _forget(db, call.ordinal)
            raise lost from error
        with call.store.write() as db:
            _finish(db, change.repository, call.ordinal)
    return _response(change.answer)


def settle_left_over(store: Store, folder: Path) -> None:
    """Bring rows in line with the refs: finish announced changes, follow moved branches."""
    with store.write() as db:
        known = {one.id: one for one in repositories.every(db, folder)}
        for row in db.execute("SELECT * FROM ref_intents ORDER BY ordinal").fetchall():
            repository = known[row["repository_id"]]
            if _has_happened(repository, row):
                _finish(db, repository, row["ordinal"])
            else:
                _forget(db, row["ordinal"])
        for repository in known.values():
            pull_rows.follow_branches(db, repository)


def _has_happened(repository: Repository, row: sqlite3.Row) -> bool:
    current = repository.bare.refs(row["ref"]).get(row["ref"])
    if row["new"] == ZERO or current is None:
        return current is None and row["new"] == ZERO
    return bool(current == row["new"])


def _announce(db: sqlite3.Connection, change: RefChange, spending: Spending) -> None:
    effect = {
        "answer": asdict(change.answer),
        "spending": asdict(spending),
        "merges": change.merges,
    }
    db.execute(
        "INSERT INTO ref_intents VALUES (?, ?, ?, ?, ?, ?)",
        (
            spending.ordinal,
            change.repository.id,
            change.ref,
            change.old,
            change.new,
            json.dumps(effect),
        ),
    )


def _finish(db: sqlite3.Connection, repository: Repository, ordinal: int) -> None:
    row = db.execute("SELECT * FROM ref_intents WHERE ordinal = ?", (ordinal,)).fetchone()
    effect: dict[str, Any] = json.loads(row["effect"])
    spending = Spending(**effect["spending"])
    if effect["merges"] is not None:
        pull_rows.mark_merged(db, effect["merges"], spending.login, row["old"], row["new"])
    spend(db, spending, Answer(**effect["answer"]))
    _forget(db, ordinal)
    pull_rows.follow_branches(db, repository)


def _forget(db: sqlite3.Connection, ordinal: int) -> None:
    db.execute("DELETE FROM ref_intents WHERE ordinal = ?", (ordinal,))


def _response(answer: Answer) -> Response:
    if answer.status == 204:
        return Response(status_code=204)
    response: JSONResponse = respond(answer)
    return response
