"""Who calls: bearer tokens, hashed at rest, with the roles submitter, reviewer and operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from api.problems import Problem
from orchestrator.store import principals
from orchestrator.store.principals import Principal

bearer = HTTPBearer(auto_error=False, description="A token of a principal.")
Given = Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]


def caller(request: Request, given: Given) -> Principal:
    """Return the caller, or refuse with 401; the token is looked up by its hash."""
    if given is None:
        raise Problem(401, "token-missing", "send the header `Authorization: Bearer <token>`")
    with request.app.state.database.read() as tx:
        principal = principals.by_token(tx, given.credentials)
    if principal is None:
        raise Problem(
            401, "token-unknown", "no enabled principal has this token; ask for a new one"
        )
    return principal


def role(name: str) -> Callable[[Principal], Principal]:
    """Return a dependency that lets only callers with this role pass."""

    def check(principal: Annotated[Principal, Depends(caller)]) -> Principal:
        if name not in principal.roles:
            has = ", ".join(sorted(principal.roles)) or "none"
            raise Problem(403, "role-missing", f"this needs the role {name}; yours: {has}")
        return principal

    return check


Anyone = Annotated[Principal, Depends(caller)]
Submitter = Annotated[Principal, Depends(role("submitter"))]
Reviewer = Annotated[Principal, Depends(role("reviewer"))]
Operator = Annotated[Principal, Depends(role("operator"))]
