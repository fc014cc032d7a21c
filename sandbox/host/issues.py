"""Issues and the comments on issues and pull requests."""

from __future__ import annotations

import sqlite3
from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from sandbox.host import pull_rows, talk_shapes
from sandbox.host.call import Answer, Body, Call, Current, respond
from sandbox.host.paging import paged, seen, since
from sandbox.host.refusals import invalid, not_found
from sandbox.host.repositories import Repository, take_number
from sandbox.host.store import now

router = APIRouter(prefix="/repos/{owner}/{repo}")

ORDERS = {"created": "created_at", "updated": "updated_at", "comments": "comments"}
TITLE_LENGTH_MAX = 256
BODY_LENGTH_MAX = 65536


class Issue(Body):
    """A new issue."""

    resource = "Issue"

    title: str
    body: str | None = None


class IssueChange(Body):
    """What a PATCH of an issue may set."""

    resource = "Issue"

    title: str | None = None
    body: str | None = None
    state: Literal["open", "closed"] | None = None
    state_reason: Literal["completed", "not_planned", "duplicate", "reopened"] | None = None


class IssueComment(Body):
    """A comment's text."""

    resource = "IssueComment"

    body: str


@router.post("/issues")
def create_issue(owner: str, repo: str, call: Current) -> JSONResponse:
    """Open an issue. Nothing but an idempotency key keeps a second one out."""
    wanted = call.read_body(Issue)
    check_text("Issue", wanted.title, wanted.body)

    def effect(db: sqlite3.Connection) -> Answer:
        repository = call.repository(db, owner, repo)
        number = insert_issue(db, call, repository, wanted.title, wanted.body)
        return _shown(db, call, repository, number, 201)

    return call.apply(effect)


@router.get("/issues")
def list_issues(owner: str, repo: str, request: Request, call: Current) -> JSONResponse:
    """List issues and pull requests, open ones unless asked otherwise, newest first."""
    query = request.query_params
    with call.store.read() as db:
        repository = call.repository(db, owner, repo)
        rows = [
            row
            for row in seen(call, db.execute(pull_rows.ISSUES, (repository.id,)).fetchall())
            if query.get("state", "open") in ("all", row["state"])
            and query.get("creator", row["login"]) == row["login"]
            and since(request) <= row["updated_at"]
        ]
        order = ORDERS.get(query.get("sort", "created"))
        if order is None:
            raise invalid("Issue", "sort")
        counts = _comment_counts(db) if order == "comments" else {}
        rows.sort(
            key=lambda row: (
                counts.get(row["id"], 0) if order == "comments" else row[order],
                row["number"],
            ),
            reverse=query.get("direction", "desc") != "asc",
        )
        return paged(
            call, request, rows, lambda row: talk_shapes.issue(db, call.url, repository, row)
        )


@router.get("/issues/{number}")
def get_issue(owner: str, repo: str, number: int, call: Current) -> JSONResponse:
    """Show one issue or pull request."""
    with call.store.read() as db:
        repository = call.repository(db, owner, repo)
        return respond(_shown(db, call, repository, number, 200))


@router.patch("/issues/{number}")
def change_issue(owner: str, repo: str, number: int, call: Current) -> JSONResponse:
    """Set title, text or state; what is not sent stays."""
    wanted, sent = call.read_body(IssueChange), call.fields_sent()

    def effect(db: sqlite3.Connection) -> Answer:
        repository = call.pushable(db, owner, repo)
        row = pull_rows.find_issue(db, repository, number)
        title = wanted.title if wanted.title is not None else row["title"]
        body = wanted.body if "body" in sent else row["body"]
        check_text("Issue", title, body)
        set_text(db, row["id"], title, body)
        if wanted.state == "closed":
            pull_rows.close(db, row["id"], call.login, wanted.state_reason or "completed")
        elif wanted.state == "open" and row["state"] == "closed":
            if row["pull_id"] is not None:
                raise invalid("Issue", "state")
            pull_rows.reopen(db, row["id"])
        return _shown(db, call, repository, number, 200)

    return call.apply(effect)


@router.post("/issues/{number}/comments")
def create_comment(owner: str, repo: str, number: int, call: Current) -> JSONResponse:
    """Add a comment. Nothing but an idempotency key keeps a second one out."""
    wanted = call.read_body(IssueComment)
    _check_comment(wanted.body)

    def effect(db: sqlite3.Connection) -> Answer:
        repository = call.repository(db, owner, repo)
        issue_id = pull_rows.find_issue(db, repository, number)["id"]
        at = now()
        comment_id = db.execute(
            "INSERT INTO comments (issue_id, body, login, created_at, updated_at, born)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (issue_id, wanted.body, call.login, at, at, call.ordinal),
        ).lastrowid
        pull_rows.touch(db, issue_id)
        row = _comment(db, repository, comment_id or 0)
        return Answer(201, talk_shapes.comment(call.url, repository, row, number))

    return call.apply(effect)


@router.get("/issues/{number}/comments")
def list_comments(
    owner: str, repo: str, number: int, request: Request, call: Current
) -> JSONResponse:
    """List the comments of an issue or pull request, oldest first."""
    with call.store.read() as db:
        repository = call.repository(db, owner, repo)
        issue_id = pull_rows.find_issue(db, repository, number)["id"]
        rows = db.execute(
            "SELECT * FROM comments WHERE issue_id = ? AND updated_at >= ? ORDER BY id",
            (issue_id, since(request)),
        ).fetchall()
        return paged(
            call,
            request,
            seen(call, rows),
            lambda row: talk_shapes.comment(call.url, repository, row, number),
        )


@router.get("/issues/comments/{comment_id}")
def get_comment(owner: str, repo: str, comment_id: int, call: Current) -> JSONResponse:
    """Show one comment."""
    with call.store.read() as db:
        repository = call.repository(db, owner, repo)
        row = _comment(db, repository, comment_id)
        return respond(Answer(200, talk_shapes.comment(call.url, repository, row, row["number"])))


@router.patch("/issues/comments/{comment_id}")
def change_comment(owner: str, repo: str, comment_id: int, call: Current) -> JSONResponse:
    """Replace a comment's text."""
    wanted = call.read_body(IssueComment)
    _check_comment(wanted.body)

    def effect(db: sqlite3.Connection) -> Answer:
        repository = call.pushable(db, owner, repo, refused=404)
        _comment(db, repository, comment_id)
        db.execute(
            "UPDATE comments SET body = ?, updated_at = ? WHERE id = ?",
            (wanted.body, now(), comment_id),
        )
        row = _comment(db, repository, comment_id)
        return Answer(200, talk_shapes.comment(call.url, repository, row, row["number"]))

    return call.apply(effect)


def insert_issue(
    db: sqlite3.Connection, call: Call, repository: Repository, title: str, body: str | None
) -> int:
    """Insert an issue (also the issue half of a pull request) and return its number."""
    number, at = take_number(db, repository), now()
    db.execute(
        "INSERT INTO issues (repository_id, number, title, body, state, login, created_at,"
        " updated_at, born) VALUES (?, ?, ?, ?, 'open', ?, ?, ?, ?)",
        (repository.id, number, title, body, call.login, at, at, call.ordinal),
    )
    return number


def check_text(resource: str, title: str, body: str | None) -> None:
    """Refuse a missing or too long title, and a too long body, with 422."""
    if "\0" in title:
        raise invalid(resource, "title")
    if not title.strip():
        raise invalid(resource, "title", "missing_field")
    if len(title) > TITLE_LENGTH_MAX:
        raise invalid(resource, "title")
    if len(body or "") > BODY_LENGTH_MAX:
        raise invalid(resource, "body")


def set_text(db: sqlite3.Connection, issue_id: int, title: str, body: str | None) -> None:
    """Set title and text of an issue or pull request."""
    db.execute(
        "UPDATE issues SET title = ?, body = ?, updated_at = ? WHERE id = ?",
        (title, body, now(), issue_id),
    )


def _shown(
    db: sqlite3.Connection, call: Call, repository: Repository, number: int, status: int
) -> Answer:
    row = pull_rows.find_issue(db, repository, number)
    return Answer(status, talk_shapes.issue(db, call.url, repository, row))


def _comment(db: sqlite3.Connection, repository: Repository, comment_id: int) -> sqlite3.Row:
    row: sqlite3.Row | None = db.execute(
        "SELECT comments.*, issues.number FROM comments JOIN issues ON issues.id = issue_id"
        " WHERE comments.id = ? AND repository_id = ?",
        (comment_id, repository.id),
    ).fetchone()
    if row is None:
        raise not_found()
    return row


def _check_comment(body: str) -> None:
    if not body.strip() or len(body) > BODY_LENGTH_MAX:
        raise invalid(IssueComment.resource, "body")


def _comment_counts(db: sqlite3.Connection) -> dict[int, int]:
    rows = db.execute("SELECT issue_id, count(*) FROM comments GROUP BY issue_id")
    return {row[0]: row[1] for row in rows}
