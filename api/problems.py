"""Errors as problem details (RFC 9457), each with a stable `type`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from orchestrator.domain.failures import (
    MessageConflict,
    NotPermitted,
    OutlastError,
    RunNotFound,
    SubmissionConflict,
)


class Problem(Exception):
    """An error with its problem details; `kind` is the stable end of its `type`."""

    def __init__(self, status: int, kind: str, detail: str, **members: Any) -> None:
        super().__init__(detail)
        self.status, self.kind, self.detail, self.members = status, kind, detail, members


def answer(problem: Problem) -> JSONResponse:
    """Return the problem as its media type wants it."""
    body = {
        "type": f"urn:outlast:problem:{problem.kind}",
        "title": problem.kind.replace("-", " "),
        "status": problem.status,
        "detail": problem.detail,
        **problem.members,
    }
    headers = {"WWW-Authenticate": "Bearer"} if problem.status == 401 else None
    return JSONResponse(
        body, problem.status, headers=headers, media_type="application/problem+json"
    )


def wrong_fields(errors: Sequence[Any]) -> Problem:
    """Return what is wrong, field by field; a value is never repeated."""
    fields = [
        {"field": ".".join(str(part) for part in error["loc"]), "wrong": error["msg"]}
        for error in errors
    ]
    named = "; ".join(f"{field['field']}: {field['wrong']}" for field in fields)
    return Problem(422, "invalid-input", named[:2000], fields=fields)


def of_domain(error: OutlastError) -> Problem:
    """Return the problem that a domain error is to a caller."""
    match error:
        case RunNotFound():
            return Problem(404, "run-not-found", str(error))
        case SubmissionConflict() | MessageConflict():
            return Problem(409, "conflicting-repeat", str(error))
        case NotPermitted():
            return Problem(403, "not-permitted", str(error))
        case _:
            return Problem(500, "internal", type(error).__name__)


def install(app: FastAPI) -> None:
    """Turn every error of the application into problem details."""

    @app.exception_handler(Problem)
    def on_problem(_: Request, problem: Problem) -> JSONResponse:
        return answer(problem)

    @app.exception_handler(OutlastError)
    def on_domain(_: Request, error: OutlastError) -> JSONResponse:
        return answer(of_domain(error))

    @app.exception_handler(RequestValidationError)
    def on_request(_: Request, error: RequestValidationError) -> JSONResponse:
        return answer(wrong_fields(error.errors()))

    @app.exception_handler(ValidationError)
    def on_shape(_: Request, error: ValidationError) -> JSONResponse:
        return answer(wrong_fields(error.errors()))

    @app.exception_handler(HTTPException)
    def on_http(_: Request, error: HTTPException) -> JSONResponse:
        kind = {404: "not-found", 405: "method-not-allowed"}.get(error.status_code, "http")
        return answer(Problem(error.status_code, kind, str(error.detail)))
