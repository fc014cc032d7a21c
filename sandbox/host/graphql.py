"""The two mutations that REST lacks: a draft made ready, and a pull request made a draft."""

from __future__ import annotations

import sqlite3
from enum import StrEnum
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from sandbox.host import pull_rows, repositories, shapes, talk_shapes
from sandbox.host.call import Answer, Body, Call, Current, respond
from sandbox.host.graphql_text import Field, Unparsable, parse_mutation, select
from sandbox.host.refusals import Refusal
from sandbox.host.repositories import Repository

router = APIRouter()


class Mutation(StrEnum):
    """The mutations that exist here."""

    READY = "markPullRequestReadyForReview"
    DRAFT = "convertPullRequestToDraft"


class Operation(Body):
    """A GraphQL request."""

    query: str
    variables: dict[str, Any] | None = None


class _Failure(Exception):
    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@router.post("/graphql")
def run_mutation(call: Current) -> JSONResponse:
    """Set or clear the draft mark. Errors come with status 200, as GraphQL answers them."""
    wanted = call.read_body(Operation)
    try:
        field = parse_mutation(wanted.query, wanted.variables or {})
        mutation = Mutation(field.name)
    except Unparsable as error:
        return respond(Answer(200, {"errors": [{"message": str(error)}]}))
    except ValueError:
        message = f"Field '{field.name}' doesn't exist on type 'Mutation'"
        return respond(Answer(200, {"errors": [{"message": message}]}))
    try:
        return call.apply(lambda db: _set_draft(db, call, field, mutation))
    except (_Failure, Unparsable) as error:
        kind = error.kind if isinstance(error, _Failure) else "UNPROCESSABLE"
        problem = {"type": kind, "path": [field.key], "message": str(error)}
        return respond(Answer(200, {"data": {field.key: None}, "errors": [problem]}))


def _set_draft(db: sqlite3.Connection, call: Call, field: Field, mutation: Mutation) -> Answer:
    sent = field.arguments.get("input")
    if not isinstance(sent, dict):
        raise _Failure("UNPROCESSABLE", "Argument 'input' is required")
    repository, row = _pull_of(db, call, str(sent.get("pullRequestId")))
    if row["state"] == "closed":
        raise _Failure("UNPROCESSABLE", "The pull request is closed.")
    db.execute(
        "UPDATE pulls SET draft = ? WHERE id = ?",
        (mutation is Mutation.DRAFT, row["pull_id"]),
    )
    pull_rows.touch(db, row["id"])
    row = pull_rows.find_pull(db, repository, row["number"])
    payload = {
        "clientMutationId": sent.get("clientMutationId"),
        "pullRequest": _node(call.url, repository, row),
    }
    return Answer(200, {"data": {field.key: select(field.fields, payload)}})


def _pull_of(db: sqlite3.Connection, call: Call, wanted: str) -> tuple[Repository, sqlite3.Row]:
    for repository in repositories.every(db, call.folder):
        rows = db.execute(pull_rows.ONLY_PULLS, (repository.id,)).fetchall()
        for row in rows:
            if shapes.node_id("PR", row["pull_id"]) == wanted:
                return _writable(db, call, repository, wanted), row
    raise _unknown(wanted)


def _writable(
    db: sqlite3.Connection, call: Call, repository: Repository, wanted: str
) -> Repository:
    try:
        return call.pushable(db, repository.owner, repository.name)
    except Refusal as error:
        if error.status == 403:
            raise _Failure("FORBIDDEN", error.message) from error
        raise _unknown(wanted) from error


def _unknown(wanted: str) -> _Failure:
    message = f"Could not resolve to a node with the global id of '{wanted}'"
    return _Failure("NOT_FOUND", message)


def _node(url: str, repository: Repository, row: sqlite3.Row) -> dict[str, Any]:
    state = "MERGED" if row["merged_at"] else row["state"].upper()
    return {
        "__typename": "PullRequest",
        "id": shapes.node_id("PR", row["pull_id"]),
        "databaseId": row["pull_id"],
        "number": row["number"],
        "title": row["title"],
        "body": row["body"] or "",
        "state": state,
        "isDraft": bool(row["draft"]),
        "merged": row["merged_at"] is not None,
        "headRefName": row["head_ref"],
        "headRefOid": row["head_sha"],
        "baseRefName": row["base_ref"],
        "baseRefOid": row["base_sha"],
        "url": f"{shapes.page_of(url, repository)}/pull/{row['number']}",
        "mergeable": _mergeable(repository, row),
    }


def _mergeable(repository: Repository, row: sqlite3.Row) -> str:
    match talk_shapes.mergeability(repository, row)[0]:
        case True:
            return "MERGEABLE"
        case False:
            return "CONFLICTING"
        case None:
            return "UNKNOWN"
