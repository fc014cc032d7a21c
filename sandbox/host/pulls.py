"""Pull requests: opened, listed, shown, changed."""

from __future__ import annotations

import sqlite3
from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from sandbox.host import pull_rows, talk_shapes
from sandbox.host.call import Answer, Body, Call, Current, respond
from sandbox.host.issues import check_text, insert_issue, set_text
from sandbox.host.paging import paged, seen
from sandbox.host.refusals import Refusal, custom, invalid
from sandbox.host.repositories import Repository

router = APIRouter(prefix="/repos/{owner}/{repo}/pulls")

RESOURCE = "PullRequest"


class NewPull(Body):
    """A pull request to be opened; `head` is a branch, or owner:branch of this repository."""

    resource = RESOURCE

    title: str
    head: str
    base: str
    body: str | None = None
    draft: bool = False


class PullChange(Body):
    """What a PATCH of a pull request may set; draft is not among it."""

    resource = RESOURCE

    title: str | None = None
    body: str | None = None
    state: Literal["open", "closed"] | None = None
    base: str | None = None


@router.post("")
def create_pull(owner: str, repo: str, call: Current) -> JSONResponse:
    """Open a pull request; one open for the same head and base keeps a second one out."""
    wanted = call.read_body(NewPull)
    check_text(RESOURCE, wanted.title, wanted.body)

    def effect(db: sqlite3.Connection) -> Answer:
        repository = call.pushable(db, owner, repo)
        head = _branch_of(repository, wanted.head)
        head_sha, base_sha = _ends(repository, head, wanted.base)
        number = insert_issue(db, call, repository, wanted.title, wanted.body)
        issue_id = pull_rows.find_issue(db, repository, number)["id"]
        try:
            db.execute(
                "INSERT INTO pulls (issue_id, repository_id, head_ref, base_ref, head_sha,"
                " base_sha, is_open, draft) VALUES (?, ?, ?, ?, ?, ?, 1, ?)",
                (issue_id, repository.id, head, wanted.base, head_sha, base_sha, wanted.draft),
            )
        except sqlite3.IntegrityError as error:
            raise _duplicate(repository, head) from error
        return show(db, call, repository, number, 201)

    return call.apply(effect)


@router.get("")
def list_pulls(owner: str, repo: str, request: Request, call: Current) -> JSONResponse:
    """List pull requests, open ones unless asked otherwise.

    As at GitHub, `head` filters only in the form owner:branch and is otherwise ignored.
    """
    query = request.query_params
    label, state = query.get("head", ""), query.get("state", "open")
    direction = query.get("direction", "asc" if "sort" in query else "desc")
    order = {"created": "created_at", "updated": "updated_at"}.get(query.get("sort", "created"))
    if order is None:
        raise invalid(RESOURCE, "sort")
    with call.store.write() as db:
        repository = call.repository(db, owner, repo)
        pull_rows.follow_branches(db, repository)
        rows = [
            row
            for row in seen(call, db.execute(pull_rows.ONLY_PULLS, (repository.id,)).fetchall())
            if state in ("all", row["state"])
            and query.get("base", row["base_ref"]) == row["base_ref"]
            and (":" not in label or label == f"{owner}:{row['head_ref']}")
        ]
        rows.sort(key=lambda row: (row[order], row["number"]), reverse=direction != "asc")
        return paged(
            call, request, rows, lambda row: talk_shapes.pull(db, call.url, repository, row)
        )


@router.get("/{number}")
def get_pull(owner: str, repo: str, number: int, call: Current) -> JSONResponse:
    """Show one pull request at its branches' present commits."""
    with call.store.write() as db:
        repository = call.repository(db, owner, repo)
        pull_rows.follow_branches(db, repository)
        return respond(show(db, call, repository, number, 200))


@router.patch("/{number}")
def change_pull(owner: str, repo: str, number: int, call: Current) -> JSONResponse:
    """Set title, text, base or state; what is not sent stays."""
    wanted, sent = call.read_body(PullChange), call.fields_sent()

    def effect(db: sqlite3.Connection) -> Answer:
        repository = call.pushable(db, owner, repo)
        row = pull_rows.find_pull(db, repository, number)
        title = wanted.title if wanted.title is not None else row["title"]
        body = wanted.body if "body" in sent else row["body"]
        check_text(RESOURCE, title, body)
        set_text(db, row["id"], title, body)
        try:
            _set_base(db, repository, row, wanted.base)
            _set_state(db, call, repository, row, wanted.state)
        except sqlite3.IntegrityError as error:
            raise _duplicate(repository, row["head_ref"]) from error
        pull_rows.follow_branches(db, repository)
        return show(db, call, repository, number, 200)

    return call.apply(effect)


def show(
    db: sqlite3.Connection, call: Call, repository: Repository, number: int, status: int
) -> Answer:
    """Return the whole pull request as an answer."""
    row = pull_rows.find_pull(db, repository, number)
    return Answer(status, talk_shapes.whole_pull(db, call.url, repository, row))


def _set_base(
    db: sqlite3.Connection, repository: Repository, row: sqlite3.Row, base: str | None
) -> None:
    if base is None or base == row["base_ref"]:
        return
    if row["state"] == "closed":
        raise custom(RESOURCE, "Cannot change the base branch of a closed pull request.")
    _, base_sha = _ends(repository, row["head_ref"], base)
    db.execute(
        "UPDATE pulls SET base_ref = ?, base_sha = ? WHERE id = ?",
        (base, base_sha, row["pull_id"]),
    )


def _set_state(
    db: sqlite3.Connection,
    call: Call,
    repository: Repository,
    row: sqlite3.Row,
    state: str | None,
) -> None:
    if state == "closed":
        pull_rows.close(db, row["id"], call.login, None)
    elif state == "open" and row["state"] == "closed":
        if row["merged_at"] is not None or repository.bare.tip(row["head_ref"]) is None:
            raise custom(RESOURCE, "state cannot be changed. The pull request cannot be reopened.")
        pull_rows.reopen(db, row["id"])


def _branch_of(repository: Repository, head: str) -> str:
    owner, separator, branch = head.rpartition(":")
    if separator and owner != repository.owner:
        raise invalid(RESOURCE, "head")
    return branch


def _ends(repository: Repository, head: str, base: str) -> tuple[str, str]:
    """Return both commits. Raises Refusal 422 for no such branch, or nothing between them."""
    tips = {"head": repository.bare.tip(head), "base": repository.bare.tip(base)}
    for field, sha in tips.items():
        if sha is None:
            raise invalid(RESOURCE, field)
    head_sha, base_sha = str(tips["head"]), str(tips["base"])
    if repository.bare.count_between(base_sha, head_sha) == 0:
        raise custom(RESOURCE, f"No commits between {base} and {head}")
    if not repository.bare.have_common_history(base_sha, head_sha):
        raise custom(RESOURCE, f"The {head} branch has no history in common with {base}")
    return head_sha, base_sha


def _duplicate(repository: Repository, head: str) -> Refusal:
    return custom(RESOURCE, f"A pull request already exists for {repository.owner}:{head}.")
