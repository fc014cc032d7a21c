"""Rows of issues and pull requests: found, closed, merged, and kept in line with their branches."""

from __future__ import annotations

import sqlite3

from sandbox.host.refusals import not_found
from sandbox.host.repositories import Repository
from sandbox.host.store import now

PULLS = (
    "SELECT issues.*, pulls.id AS pull_id, pulls.head_ref, pulls.base_ref, pulls.head_sha,"
    " pulls.base_sha, pulls.draft, pulls.merged_at, pulls.merged_by, pulls.merge_commit_sha"
    " FROM issues {join} pulls ON pulls.issue_id = issues.id WHERE issues.repository_id = ?"
)
ISSUES = PULLS.format(join="LEFT JOIN")
ONLY_PULLS = PULLS.format(join="JOIN")


def find_issue(db: sqlite3.Connection, repository: Repository, number: int) -> sqlite3.Row:
    """Return the issue or pull request with that number; 404 otherwise."""
    return _one(db, f"{ISSUES} AND issues.number = ?", (repository.id, number))


def find_pull(db: sqlite3.Connection, repository: Repository, number: int) -> sqlite3.Row:
    """Return the pull request with that number; 404 otherwise, also for an issue's number."""
    return _one(db, f"{ONLY_PULLS} AND issues.number = ?", (repository.id, number))


def follow_branches(db: sqlite3.Connection, repository: Repository) -> None:
    """Give open pull requests their branches' commits; close those whose head is deleted."""
    rows = db.execute(f"{ONLY_PULLS} AND issues.state = 'open'", (repository.id,)).fetchall()
    tips = repository.bare.refs("refs/heads/") if rows else {}
    for row in rows:
        head, base = (tips.get(f"refs/heads/{row[name]}") for name in ("head_ref", "base_ref"))
        if head is None:
            close(db, row["id"], row["login"], None)
        elif (head, base or row["base_sha"]) != (row["head_sha"], row["base_sha"]):
            db.execute(
                "UPDATE pulls SET head_sha = ?, base_sha = ? WHERE id = ?",
                (head, base or row["base_sha"], row["pull_id"]),
            )
            touch(db, row["id"])


def touch(db: sqlite3.Connection, issue_id: int) -> None:
    """Set the instant of the last change."""
    db.execute("UPDATE issues SET updated_at = ? WHERE id = ?", (now(), issue_id))


def close(db: sqlite3.Connection, issue_id: int, login: str, reason: str | None) -> None:
    """Close an issue or pull request; a closed one keeps its first closing."""
    at = now()
    db.execute(
        "UPDATE issues SET state = 'closed', state_reason = ?, closed_at = ?, closed_by = ?,"
        " updated_at = ? WHERE id = ? AND state = 'open'",
        (reason, at, login, at, issue_id),
    )
    db.execute("UPDATE pulls SET is_open = 0 WHERE issue_id = ?", (issue_id,))


def reopen(db: sqlite3.Connection, issue_id: int) -> None:
    """Open it again. Raises sqlite3.IntegrityError if head and base have another open one."""
    db.execute(
        "UPDATE issues SET state = 'open', state_reason = 'reopened', closed_at = NULL,"
        " closed_by = NULL, updated_at = ? WHERE id = ?",
        (now(), issue_id),
    )
    db.execute("UPDATE pulls SET is_open = 1 WHERE issue_id = ?", (issue_id,))


def mark_merged(db: sqlite3.Connection, pull_id: int, login: str, base: str, commit: str) -> None:
    """Record the merge and close the pull request."""
    issue_id = db.execute("SELECT issue_id FROM pulls WHERE id = ?", (pull_id,)).fetchone()[0]
    close(db, issue_id, login, None)
    db.execute(
        "UPDATE pulls SET merged_at = ?, merged_by = ?, merge_commit_sha = ?, base_sha = ?"
        " WHERE id = ?",
        (now(), login, commit, base, pull_id),
    )


def _one(db: sqlite3.Connection, statement: str, values: tuple[int, int]) -> sqlite3.Row:
    row: sqlite3.Row | None = db.execute(statement, values).fetchone()
    if row is None:
        raise not_found()
    return row
