"""The account that asks about itself."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from sandbox.host import shapes
from sandbox.host.call import Answer, Current, respond

router = APIRouter()
SINCE = "2026-01-01T00:00:00Z"


@router.get("/user")
def get_user(call: Current) -> JSONResponse:
    """Show whose token was sent."""
    return respond(Answer(200, shapes.own_account(call.url, call.login, SINCE)))
