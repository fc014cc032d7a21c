"""The host's process: one folder, one address on this machine, all routes."""

from __future__ import annotations

import fcntl
import os
import socket
import sys
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from sandbox.host import (
    accounts,
    graphql,
    issues,
    merging,
    pulls,
    refs,
    reviews,
    smart_http,
    switches,
)
from sandbox.host.bare import GitRefused
from sandbox.host.connections import Connections
from sandbox.host.outer import Outer
from sandbox.host.ref_changes import settle_left_over
from sandbox.host.refusals import Refusal, not_found
from sandbox.host.store import Store
from sandbox.host.tokens import ensure

ADDRESS = "127.0.0.1"
PARTS = (switches, accounts, graphql, smart_http, issues, pulls, reviews, merging, refs)
SHUTDOWN_S = 2
BASIC = {"WWW-Authenticate": 'Basic realm="sandbox host"'}


class FolderInUse(RuntimeError):
    """Another host serves this folder; stop it or name another folder."""


class AnnouncingServer(uvicorn.Server):
    """A server that prints one line when it listens."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then say where."""
        await super().startup(sockets)
        if sockets and self.started:
            host, port = sockets[0].getsockname()
            sys.stdout.write(f"ready http://{host}:{port}\n")
            sys.stdout.flush()


def serve(folder: Path, port: int, keys: bool = True) -> None:
    """Serve the folder until a signal ends the process. Port 0 takes a free one.

    Only this machine can connect. Raises FolderInUse.
    """
    folder = folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    lock = _lock(folder)
    try:
        connections = Connections()
        app = build_app(folder, keys, connections)
        config = uvicorn.Config(
            app,
            http=connections.protocol(),
            log_level="warning",
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=SHUTDOWN_S,
        )
        with _listen(port) as listening:
            AnnouncingServer(config).run(sockets=[listening])
    finally:
        os.close(lock)


def build_app(folder: Path, keys: bool, connections: Connections) -> Outer:
    """Return the whole application over a folder, with what a killed host left settled."""
    store = Store(folder)
    settle_left_over(store, folder)
    routes = FastAPI(openapi_url=None, redirect_slashes=False)
    for part in PARTS:
        routes.include_router(part.router)
    routes.add_exception_handler(Refusal, _refuse)
    routes.add_exception_handler(GitRefused, _report_git)
    routes.add_exception_handler(HTTPException, _refuse_plainly)
    routes.add_exception_handler(RequestValidationError, _refuse_shape)
    return Outer(routes, store, folder, ensure(folder), keys, connections)


def _refuse(_request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return JSONResponse(error.body(), error.status, BASIC if error.status == 401 else None)


def _report_git(_request: Request, error: Exception) -> Response:
    return JSONResponse(Refusal(500, str(error)).body(), 500)


def _refuse_plainly(_request: Request, error: Exception) -> Response:
    """Answer 404 also where only the method is wrong, as GitHub does."""
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        return JSONResponse(not_found().body(), 404)
    refusal = Refusal(error.status_code, str(error.detail))
    return JSONResponse(refusal.body(), refusal.status)


def _refuse_shape(_request: Request, error: Exception) -> Response:
    """Refuse a path that is no number with 404, and a switch's wrong order with its faults."""
    assert isinstance(error, RequestValidationError)
    if all(one["loc"][0] == "path" for one in error.errors()):
        return JSONResponse(Refusal(404, "Not Found").body(), 404)
    faults = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
    return JSONResponse(Refusal(422, "; ".join(faults)).body(), 422)


def _lock(folder: Path) -> int:
    handle = os.open(folder / "host.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(handle)
        raise FolderInUse(f"another host serves {folder}; stop it or name another") from error
    return handle


def _listen(port: int) -> socket.socket:
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind((ADDRESS, port))
    return listening
