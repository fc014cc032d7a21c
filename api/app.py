"""The HTTP application. It decides nothing: it accepts, and shows what is recorded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from fastapi import FastAPI, Request, Response

from api import health, messages, problems, reports, runs
from orchestrator.contracts.payload import JsonObject
from orchestrator.engine.database import Database
from orchestrator.workflows.registry import Definitions

BODY_MAX_BYTES = 256 * 1024


def create_app(
    database: Database,
    definitions: Definitions,
    policy: JsonObject,
    artifact_path: Callable[[str], Path | None],
) -> FastAPI:
    """Return the application.

    `policy` is the installation's work contract; `artifact_path` returns the checked file of a
    hash, or None when its bytes are lost or damaged.
    """
    app = FastAPI(
        title="Outlast",
        version="1",
        docs_url="/docs",
        openapi_url="/openapi.json",
        responses={"default": problems.DESCRIBED},
    )
    app.state.database, app.state.definitions = database, definitions
    app.state.policy, app.state.artifact_path = policy, artifact_path
    problems.install(app)
    for part in (health, reports, runs, messages):
        app.include_router(part.router)
    app.middleware("http")(refuse_large_bodies)
    return app


async def refuse_large_bodies(
    request: Request, go_on: Callable[[Request], Awaitable[Response]]
) -> Response:
    """Refuse a body over the limit before it is read; nothing of it is stored."""
    length = request.headers.get("content-length")
    if request.method == "POST" and (length is None or not length.isdigit()):
        problem = problems.Problem(411, "length-required", "send Content-Length")
        return problems.answer(problem)
    if length is not None and length.isdigit() and int(length) > BODY_MAX_BYTES:
        said = f"the body has {length} bytes, at most {BODY_MAX_BYTES} are read"
        return problems.answer(problems.Problem(413, "body-too-large", said))
    return await go_on(request)
