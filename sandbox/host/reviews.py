"""Requested reviewers, and the reviews they give."""

from __future__ import annotations

import sqlite3
from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from sandbox.host import pull_rows, shapes, talk_shapes
from sandbox.host.call import Answer, Body, Current, respond
from sandbox.host.paging import paged, seen
from sandbox.host.refusals import Refusal
from sandbox.host.repositories import permission_of
from sandbox.host.store import now

router = APIRouter(prefix="/repos/{owner}/{repo}/pulls/{number}")

STATES = {"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}


class Reviewers(Body):
    """Whose reviews are asked for."""

    resource = "PullRequest"

    reviewers: list[str]


class Review(Body):
    """A review, given at once; pending reviews do not exist here."""

    errors_are_sentences = True

    event: Literal["APPROVE", "REQUEST_CHANGES", "COMMENT"]
    body: str = ""
    commit_id: str | None = None


@router.get("/requested_reviewers")
def list_requested(owner: str, repo: str, number: int, call: Current) -> JSONResponse:
    """List who was asked and has not reviewed yet."""
    with call.store.read() as db:
        repository = call.repository(db, owner, repo)
        row = pull_rows.find_pull(db, repository, number)
        users = [shapes.user(call.url, one) for one in talk_shapes.requested(db, row["pull_id"])]
    return respond(Answer(200, {"users": users, "teams": []}))


@router.post("/requested_reviewers")
def request_reviewers(owner: str, repo: str, number: int, call: Current) -> JSONResponse:
    """Add reviewers to the set; asking twice is the same as asking once."""
    wanted = call.read_body(Reviewers)

    def effect(db: sqlite3.Connection) -> Answer:
        repository = call.pushable(db, owner, repo)
        row = pull_rows.find_pull(db, repository, number)
        for login in wanted.reviewers:
            if login == row["login"]:
                raise Refusal(422, "Review cannot be requested from pull request author.")
            if permission_of(db, repository, login) is None:
                raise Refusal(
                    422,
                    "Reviews may only be requested from collaborators. One or more of the users"
                    " or teams you specified is not a collaborator of the"
                    f" {repository.full_name} repository.",
                )
            db.execute(
                "INSERT INTO requested_reviewers VALUES (?, ?) ON CONFLICT DO NOTHING",
                (row["pull_id"], login),
            )
        pull_rows.touch(db, row["id"])
        row = pull_rows.find_pull(db, repository, number)
        return Answer(201, talk_shapes.pull(db, call.url, repository, row))

    return call.apply(effect)


@router.post("/reviews")
def create_review(owner: str, repo: str, number: int, call: Current) -> JSONResponse:
    """Give a review; its author leaves the list of requested reviewers."""
    wanted = call.read_body(Review)

    def effect(db: sqlite3.Connection) -> Answer:
        repository = call.repository(db, owner, repo)
        pull_rows.follow_branches(db, repository)
        row = pull_rows.find_pull(db, repository, number)
        if call.login == row["login"] and wanted.event != "COMMENT":
            word = "approve" if wanted.event == "APPROVE" else "request changes on"
            raise Refusal(422, "Unprocessable Entity", [f"Can not {word} your own pull request"])
        if wanted.event != "APPROVE" and not wanted.body.strip():
            raise Refusal(422, "Unprocessable Entity", ["Body can't be blank"])
        review_id = db.execute(
            "INSERT INTO reviews (pull_id, login, body, state, commit_sha, submitted_at, born)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                row["pull_id"],
                call.login,
                wanted.body,
                STATES[wanted.event],
                wanted.commit_id or row["head_sha"],
                now(),
                call.ordinal,
            ),
        ).lastrowid
        db.execute(
            "DELETE FROM requested_reviewers WHERE pull_id = ? AND login = ?",
            (row["pull_id"], call.login),
        )
        pull_rows.touch(db, row["id"])
        review = db.execute("SELECT * FROM reviews WHERE id = ?", (review_id,)).fetchone()
        return Answer(200, talk_shapes.review(call.url, repository, review, number))

    return call.apply(effect)


@router.get("/reviews")
def list_reviews(
    owner: str, repo: str, number: int, request: Request, call: Current
) -> JSONResponse:
    """List the reviews, oldest first. An approval is not pinned to the present head."""
    with call.store.read() as db:
        repository = call.repository(db, owner, repo)
        row = pull_rows.find_pull(db, repository, number)
        rows = db.execute(
            "SELECT * FROM reviews WHERE pull_id = ? ORDER BY id", (row["pull_id"],)
        ).fetchall()
        return paged(
            call,
            request,
            seen(call, rows),
            lambda one: talk_shapes.review(call.url, repository, one, number),
        )
