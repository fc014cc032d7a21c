"""Runs as people see them: checkpoint, history, steps, operations, resources, evidence."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse

from api.problems import Problem
from api.security import Anyone
from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.states import RunStatus
from orchestrator.store import breakers, reads

router = APIRouter(tags=["runs"])
Limit = Annotated[int, Query(ge=1, le=500)]
Position = Annotated[int, Query(ge=0, le=2**62)]


@router.get("/v1/runs")
def list_runs(
    request: Request,
    _: Anyone,
    status: RunStatus | None = None,
    before: str | None = None,
    limit: Limit = 50,
) -> JsonObject:
    """Return runs, newest first; `before` takes the last id of the page before."""
    with request.app.state.database.read() as tx:
        if before is not None:
            reads.run(tx, before)
        return {"runs": reads.list_runs(tx, status=status, before=before, limit=limit)}


@router.get("/v1/runs/{run}")
def show(run: str, request: Request, _: Anyone) -> JsonObject:
    """Return a run with its checkpoint."""
    with request.app.state.database.read() as tx:
        return reads.run(tx, run)


@router.get("/v1/runs/{run}/history")
def history(
    run: str, request: Request, _: Anyone, after: Position = 0, limit: Limit = 200
) -> JsonObject:
    """Return accepted events after a position."""
    with request.app.state.database.read() as tx:
        reads.run(tx, run)
        return {"events": reads.history(tx, run, after=after, limit=limit)}


@router.get("/v1/runs/{run}/steps")
def steps(run: str, request: Request, _: Anyone) -> JsonObject:
    """Return steps with their attempts: who executed them, how often, and what came of it."""
    with request.app.state.database.read() as tx:
        reads.run(tx, run)
        return {"steps": reads.steps(tx, run)}


@router.get("/v1/runs/{run}/operations")
def operations(run: str, request: Request, _: Anyone) -> JsonObject:
    """Return the run's mutations outside, with guarantee, status and observations."""
    with request.app.state.database.read() as tx:
        reads.run(tx, run)
        return {"operations": reads.operations(tx, run)}


@router.get("/v1/runs/{run}/resources")
def resources(run: str, request: Request, _: Anyone) -> JsonObject:
    """Return what the run owns or owned outside."""
    with request.app.state.database.read() as tx:
        reads.run(tx, run)
        return {"resources": reads.resources(tx, run)}


@router.get("/v1/runs/{run}/evidence")
def evidence(run: str, request: Request, _: Anyone) -> JsonObject:
    """Return the run's stored files and what each was obtained on."""
    with request.app.state.database.read() as tx:
        reads.run(tx, run)
        return {"artifacts": reads.artifacts(tx, run)}


@router.get("/v1/runs/{run}/artifacts/{sha256}", response_class=FileResponse)
def artifact(run: str, sha256: str, request: Request, _: Anyone) -> FileResponse:
    """Return a stored file, after its bytes were checked against its hash."""
    with request.app.state.database.read() as tx:
        reads.run(tx, run)
        row = reads.artifact(tx, run, sha256)
    if row is None:
        raise Problem(404, "artifact-not-found", f"run {run} has no artifact {sha256}")
    path = request.app.state.artifact_path(sha256)
    if path is None:
        raise Problem(
            502, "artifact-unreadable", f"artifact {sha256} is recorded, its bytes are lost"
        )
    return FileResponse(path, filename=row["name"].replace("/", "-"))


@router.get("/v1/receivers")
def list_receivers(request: Request, _: Anyone) -> JsonObject:
    """Return receivers that failed since they last answered; while open, none of them is asked."""
    with request.app.state.database.read() as tx:
        return {"receivers": breakers.list_all(tx)}
