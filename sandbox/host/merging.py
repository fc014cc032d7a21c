"""The merge: a real one in the bare repository, at the approved head or not at all."""

from __future__ import annotations

import sqlite3
from typing import Literal

from fastapi import APIRouter, Response

from sandbox.host import pull_rows, talk_shapes
from sandbox.host.call import Answer, Body, Call, Current
from sandbox.host.ref_changes import RefChange, change_ref
from sandbox.host.refusals import Refusal, invalid, not_found
from sandbox.host.repositories import Repository

router = APIRouter(prefix="/repos/{owner}/{repo}/pulls/{number}")

HEAD_MOVED = "Head branch was modified. Review and try the merge again."
BASE_MOVED = "Base branch was modified. Review and try the merge again."


class Merge(Body):
    """How to merge; `sha` is the head that the caller has seen."""

    resource = "PullRequest"

    sha: str | None = None
    merge_method: Literal["merge", "squash", "rebase"] = "merge"
    commit_title: str | None = None
    commit_message: str | None = None


@router.put("/merge")
def merge_pull(owner: str, repo: str, number: int, call: Current) -> Response:
    """Merge. The head is compared with `sha`; the base is guarded only by a strict protection."""
    wanted = call.read_body(Merge)

    def plan(db: sqlite3.Connection) -> RefChange:
        repository = call.pushable(db, owner, repo)
        pull_rows.follow_branches(db, repository)
        row = pull_rows.find_pull(db, repository, number)
        tree = _tree_to_merge(repository, row, wanted)
        commit = _write_commit(call, repository, row, wanted, tree)
        answer = {"sha": commit, "merged": True, "message": "Pull Request successfully merged"}
        return RefChange(
            repository,
            f"refs/heads/{row['base_ref']}",
            row["base_sha"],
            commit,
            Answer(200, answer),
            merges=row["pull_id"],
        )

    return change_ref(call, plan, Refusal(405, BASE_MOVED))


@router.get("/merge")
def check_merged(owner: str, repo: str, number: int, call: Current) -> Response:
    """Answer 204 for a merged pull request, 404 for any other."""
    with call.store.read() as db:
        repository = call.repository(db, owner, repo)
        if pull_rows.find_pull(db, repository, number)["merged_at"] is None:
            raise not_found()
    return Response(status_code=204)


def _tree_to_merge(repository: Repository, row: sqlite3.Row, wanted: Merge) -> str:
    """Return the merged tree, or refuse as GitHub does."""
    if row["state"] == "closed":
        raise Refusal(405, "Pull Request is not mergeable")
    if wanted.sha is not None and wanted.sha != row["head_sha"]:
        raise Refusal(409, HEAD_MOVED)
    if row["draft"]:
        raise Refusal(405, "Pull Request is still a draft")
    if wanted.merge_method == "rebase":
        raise Refusal(405, "Rebase merges are not allowed on this repository.")
    if repository.bare.tip(row["base_ref"]) is None:
        raise invalid("PullRequest", "base")
    if talk_shapes.is_behind(repository, row):
        raise Refusal(405, "Head branch is not up to date with the base branch.")
    tree = repository.bare.merged_tree(row["base_sha"], row["head_sha"])
    if tree is None:
        raise Refusal(405, "Pull Request is not mergeable")
    return tree


def _write_commit(
    call: Call, repository: Repository, row: sqlite3.Row, wanted: Merge, tree: str
) -> str:
    number, source = row["number"], f"{repository.owner}/{row['head_ref']}"
    squash = wanted.merge_method == "squash"
    usual = (
        f"{row['title']} (#{number})" if squash else f"Merge pull request #{number} from {source}"
    )
    text = wanted.commit_message if wanted.commit_message is not None else row["title"]
    parents = (row["base_sha"],) if squash else (row["base_sha"], row["head_sha"])
    message = f"{wanted.commit_title or usual}\n\n{text}"
    return repository.bare.commit(tree, parents, message, call.login)
