"""What this host has and GitHub lacks: its extensions, its journal, its faults, its moves."""

from __future__ import annotations

import sqlite3
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict
from starlette.concurrency import run_in_threadpool

from sandbox.host import journal, pull_rows, repositories
from sandbox.host.bare import GitRefused
from sandbox.host.faults import Fault, FaultOrder, Release, release
from sandbox.host.outer import Outer
from sandbox.host.refusals import Refusal, not_found
from sandbox.host.seed import CannotSeed, seed_into
from sandbox.host.tokens import ADMIN

router = APIRouter(prefix="/outlast")
WAIT_S_MAX = 60.0


class Order(BaseModel):
    """A request's body here; unknown fields are mistakes."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class NewRepository(Order):
    """A repository to be taken from a folder or bundle on this machine."""

    repository: str
    source: str
    strict: bool = True
    collaborators: dict[str, str] | None = None


class Move(Order):
    """A commit of somebody else on a branch; it sets one file."""

    repository: str
    branch: str
    path: str = "MOVED.txt"
    content: str | None = None
    message: str = "Change something else"


class ReleaseOrder(Order):
    """How held requests go on."""

    how: Release = Release.DELIVER


def _outer(request: Request) -> Outer:
    outer: Outer = request.state.outer
    return outer


def _admin(request: Request) -> Outer:
    if request.state.login is None:
        raise Refusal(401, "Bad credentials")
    if request.state.login != ADMIN:
        raise Refusal(403, f"Only {ADMIN} may use the switchboard")
    return _outer(request)


Admin = Annotated[Outer, Depends(_admin)]


@router.get("/extensions")
def show_extensions(outer: Annotated[Outer, Depends(_outer)]) -> dict[str, bool]:
    """Announce what clients may rely on beyond GitHub; needs no token."""
    return {"idempotency_keys": outer.keys}


@router.get("/journal")
async def show_journal(outer: Admin, after: int = 0) -> list[dict[str, Any]]:
    """Return the entries after an ordinal; answers that clients have seen count as delivered."""
    await outer.settled()
    return await run_in_threadpool(_read_journal, outer, after)


@router.post("/repositories")
def add_repository(order: NewRepository, outer: Admin) -> JSONResponse:
    """Seed a repository while the host runs; one already held stays as it is."""
    try:
        made = seed_into(
            outer.store,
            outer.folder,
            order.repository,
            order.source,
            order.strict,
            order.collaborators,
        )
    except CannotSeed as error:
        raise Refusal(422, str(error)) from error
    body = {
        "repository": made.repository,
        "default_branch": made.default_branch,
        "revision": made.revision,
    }
    return JSONResponse(body, 201)


@router.post("/move")
def move_branch(order: Move, outer: Admin) -> dict[str, str]:
    """Commit onto a branch now, protection or not, as somebody else would have."""
    with outer.store.exclusive(), outer.store.write() as db:
        return _move(db, outer, order)


@router.post("/faults")
async def set_fault(order: FaultOrder, outer: Admin) -> JSONResponse:
    """Set a fault; it counts requests from now on."""
    set_at = await run_in_threadpool(_last_ordinal, outer)
    return JSONResponse(outer.switchboard.add(order, set_at).show(), 201)


@router.get("/faults")
async def list_faults(outer: Admin) -> list[dict[str, Any]]:
    """List the faults that are set."""
    return [fault.show() for fault in outer.switchboard.all()]


@router.delete("/faults")
async def remove_faults(outer: Admin) -> dict[str, int]:
    """Take all faults away; whatever is held goes on."""
    removed = [outer.switchboard.remove(fault.id) for fault in outer.switchboard.all()]
    return {"removed": len(removed)}


@router.get("/faults/{fault_id}")
async def show_fault(
    fault_id: int, outer: Admin, wait: str = "", seconds: float = 30.0
) -> dict[str, Any]:
    """Show a fault; with `wait=fired` once it has hit, or after so many seconds as it is."""
    fault = _fault(outer, fault_id)
    if wait == "fired":
        await outer.switchboard.wait_fired(fault, min(seconds, WAIT_S_MAX))
    return fault.show()


@router.delete("/faults/{fault_id}")
async def remove_fault(fault_id: int, outer: Admin) -> dict[str, Any]:
    """Take one fault away; whatever it holds goes on."""
    fault = _fault(outer, fault_id)
    outer.switchboard.remove(fault_id)
    return fault.show()


@router.post("/faults/{fault_id}/release")
async def release_held(
    fault_id: int, outer: Admin, order: ReleaseOrder | None = None
) -> dict[str, int]:
    """Let what the fault holds go on."""
    released = release(_fault(outer, fault_id), (order or ReleaseOrder()).how)
    return {"released": released}


def _fault(outer: Outer, fault_id: int) -> Fault:
    fault = outer.switchboard.get(fault_id)
    if fault is None:
        raise not_found()
    return fault


def _read_journal(outer: Outer, after: int) -> list[dict[str, Any]]:
    with outer.store.read() as db:
        return journal.read(db, after)


def _last_ordinal(outer: Outer) -> int:
    with outer.store.read() as db:
        return int(db.execute("SELECT coalesce(max(ordinal), 0) FROM journal").fetchone()[0])


def _move(db: sqlite3.Connection, outer: Outer, order: Move) -> dict[str, str]:
    owner, _, name = order.repository.partition("/")
    repository = repositories.find(db, outer.folder, owner, name)
    old = repository.bare.tip(order.branch) if repository else None
    if repository is None or old is None:
        raise not_found()
    content = order.content if order.content is not None else f"moved after {old}\n"
    try:
        new = repository.bare.with_file(old, order.path, content, order.message, ADMIN)
        repository.bare.swap(f"refs/heads/{order.branch}", new, old)
    except GitRefused as error:
        raise Refusal(422, str(error)) from error
    pull_rows.follow_branches(db, repository)
    return {"previous": old, "revision": new}
