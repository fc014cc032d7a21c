"""Whether the process lives, and whether it can do its work."""

from __future__ import annotations

from fastapi import APIRouter, Request
from sqlalchemy.exc import SQLAlchemyError

from api.problems import Problem
from orchestrator.contracts.payload import JsonObject
from orchestrator.store import reads

router = APIRouter(tags=["health"])


@router.get("/health")
def health() -> JsonObject:
    """Answer while the process lives; says nothing about the database."""
    return {"status": "alive"}


@router.get("/ready")
def ready(request: Request) -> JsonObject:
    """Answer 200 once the database is reachable and has a schema, else 503."""
    try:
        with request.app.state.database.read() as tx:
            return {"status": "ready", "schema": reads.ping(tx)}
    except SQLAlchemyError as fault:
        reason = f"database not usable ({type(fault).__name__}); is it up and upgraded?"
        raise Problem(503, "not-ready", reason) from fault
