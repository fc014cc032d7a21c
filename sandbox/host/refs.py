"""Git refs, branches and commits over REST."""

from __future__ import annotations

import re
import sqlite3

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from sandbox.host import shapes
from sandbox.host.bare import ZERO
from sandbox.host.call import Answer, Body, Call, Current, respond
from sandbox.host.ref_changes import RefChange, change_ref
from sandbox.host.refusals import Refusal, not_found
from sandbox.host.repositories import Repository, permission_of

router = APIRouter(prefix="/repos/{owner}/{repo}")

OID = re.compile(r"[0-9a-f]{40}")
FAILED = "Reference update failed"


class NewRef(Body):
    """A ref to be created, by its full name."""

    resource = "Reference"

    ref: str
    sha: str


class RefMove(Body):
    """Where a ref shall point; without force only forward."""

    resource = "Reference"

    sha: str
    force: bool = False


@router.get("/git/ref/{name:path}")
def get_ref(owner: str, repo: str, name: str, call: Current) -> JSONResponse:
    """Show the ref with exactly that name."""
    with call.store.read() as db:
        repository = call.repository(db, owner, repo)
    full = f"refs/{name}"
    oid = repository.bare.refs(full).get(full)
    if oid is None:
        raise not_found()
    return respond(Answer(200, _shown(call, repository, full, oid)))


@router.get("/git/matching-refs/{name:path}")
def list_matching_refs(owner: str, repo: str, name: str, call: Current) -> JSONResponse:
    """List the refs whose names start so: `feature` also finds `featureA`."""
    with call.store.read() as db:
        repository = call.repository(db, owner, repo)
    found = repository.bare.refs(f"refs/{name}")
    return respond(
        Answer(200, [_shown(call, repository, full, oid) for full, oid in found.items()])
    )


@router.post("/git/refs")
def create_ref(owner: str, repo: str, call: Current) -> Response:
    """Create a ref; one that exists is refused, whatever it points to."""
    wanted = call.read_body(NewRef)

    def plan(db: sqlite3.Connection) -> RefChange:
        repository = call.pushable(db, owner, repo, refused=404)
        _check_name(repository, wanted.ref)
        _check_object(repository, wanted.sha)
        if wanted.ref in repository.bare.refs(wanted.ref):
            raise Refusal(422, "Reference already exists")
        answer = Answer(201, _shown(call, repository, wanted.ref, wanted.sha))
        return RefChange(repository, wanted.ref, ZERO, wanted.sha, answer)

    return change_ref(call, plan, Refusal(422, FAILED))


@router.patch("/git/refs/{name:path}")
def move_ref(owner: str, repo: str, name: str, call: Current) -> Response:
    """Move a ref. Without force only forward, which is no compare-and-swap."""
    wanted, full = call.read_body(RefMove), f"refs/{name}"

    def plan(db: sqlite3.Connection) -> RefChange:
        repository, old = _existing(db, call, owner, repo, full)
        _check_object(repository, wanted.sha)
        if not wanted.force and not repository.bare.is_ancestor(old, wanted.sha):
            raise Refusal(422, "Update is not a fast forward")
        answer = Answer(200, _shown(call, repository, full, wanted.sha))
        return RefChange(repository, full, old, wanted.sha, answer)

    return change_ref(call, plan, Refusal(422, FAILED))


@router.delete("/git/refs/{name:path}")
def delete_ref(owner: str, repo: str, name: str, call: Current) -> Response:
    """Delete a ref, wherever it points to; open pull requests from it are closed."""
    full = f"refs/{name}"

    def plan(db: sqlite3.Connection) -> RefChange:
        repository, old = _existing(db, call, owner, repo, full)
        return RefChange(repository, full, old, ZERO, Answer(204, None))

    return change_ref(call, plan, Refusal(422, FAILED))


@router.get("/branches/{name:path}/protection")
def get_protection(owner: str, repo: str, name: str, call: Current) -> JSONResponse:
    """Show the rules of a protected branch; 404 for a branch without any."""
    with call.store.read() as db:
        repository = call.repository(db, owner, repo)
    if name != repository.default_branch:
        raise Refusal(404, "Branch not protected")
    return respond(Answer(200, shapes.protection(call.url, repository, name)))


@router.get("/branches/{name:path}")
def get_branch(owner: str, repo: str, name: str, call: Current) -> JSONResponse:
    """Show a branch and its last commit."""
    with call.store.read() as db:
        repository = call.repository(db, owner, repo)
    tip = repository.bare.tip(name)
    if tip is None:
        raise Refusal(404, "Branch not found")
    facts = repository.bare.read_commit(tip)
    return respond(Answer(200, shapes.branch(call.url, repository, name, facts)))


@router.get("/commits/{name:path}")
def get_commit(owner: str, repo: str, name: str, call: Current) -> JSONResponse:
    """Show the commit that an id, a branch or a tag stands for."""
    with call.store.read() as db:
        repository = call.repository(db, owner, repo)
    sha = repository.bare.resolve(name)
    if sha is None:
        raise Refusal(422, f"No commit found for SHA: {name}")
    facts = repository.bare.read_commit(sha)
    return respond(Answer(200, shapes.commit(call.url, repository, facts)))


@router.get("")
def get_repository(owner: str, repo: str, call: Current) -> JSONResponse:
    """Show the repository."""
    with call.store.read() as db:
        repository = call.repository(db, owner, repo)
        permission = permission_of(db, repository, call.login) or "pull"
    return respond(Answer(200, shapes.repository(call.url, repository, permission)))


def _existing(
    db: sqlite3.Connection, call: Call, owner: str, repo: str, full: str
) -> tuple[Repository, str]:
    repository = call.pushable(db, owner, repo, refused=404)
    old = repository.bare.refs(full).get(full)
    if old is None:
        raise Refusal(422, "Reference does not exist")
    if full == f"refs/heads/{repository.default_branch}":
        raise Refusal(422, "Changes must be made through a pull request.")
    return repository, old


def _check_name(repository: Repository, ref: str) -> None:
    named = ref.startswith("refs/") and ref.count("/") >= 2
    if not named or not repository.bare.is_valid_ref(ref):
        raise Refusal(422, f"{ref} is not a valid ref name.")


def _check_object(repository: Repository, sha: str) -> None:
    if not OID.fullmatch(sha):
        raise Refusal(422, "The sha parameter must be exactly 40 characters of 0-9 and a-f.")
    if repository.bare.kind(sha) != "commit":
        raise Refusal(422, "Object does not exist")


def _shown(call: Call, repository: Repository, full: str, oid: str) -> dict[str, object]:
    kind = repository.bare.kind(oid) or "commit"
    return shapes.ref(call.url, repository, full, oid, kind)
