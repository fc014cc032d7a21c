"""Errors as problem details (RFC 9457), each with a stable `type`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import ValidationError
from sqlalchemy.exc import DataError, OperationalError
from starlette.exceptions import HTTPException

from orchestrator.domain.failures import (
    MessageConflict,
    NotPermitted,
    OutlastError,
    RunNotFound,
    SubmissionConflict,
)

HTTP_KINDS = {400: "unreadable-request", 404: "not-found", 405: "method-not-allowed"}

DESCRIBED: dict[str, Any] = {
    "description": "Problem details (RFC 9457); `type` is stable.",
    "content": {
        "application/problem+json": {
            "schema": {
                "type": "object",
                "required": ["type", "title", "status", "detail"],
                "properties": {
                    "type": {"type": "string", "pattern": "^urn:outlast:problem:[a-z-]+$"},
                    "title": {"type": "string"},
                    "status": {"type": "integer"},
                    "detail": {"type": "string"},
                },
            }
        }
    },
}


class Problem(Exception):
    """An error with its problem details; `kind` is the stable end of its `type`."""

    def __init__(self, status: int, kind: str, detail: str, **members: Any) -> None:
        super().__init__(detail)
        self.status, self.kind, self.detail, self.members = status, kind, detail, members


def answer(problem: Problem, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Return the problem as its media type wants it."""
    body = {
        "type": f"urn:outlast:problem:{problem.kind}",
        "title": problem.kind.replace("-", " "),
        "status": problem.status,
        "detail": problem.detail,
        **problem.members,
    }
    if problem.status == 401:
        headers = {"WWW-Authenticate": "Bearer"}
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
        kind = HTTP_KINDS.get(error.status_code, "http")
        return answer(Problem(error.status_code, kind, str(error.detail)), error.headers)

    _install_unforeseen(app)


def _install_unforeseen(app: FastAPI) -> None:
    @app.exception_handler(DataError)
    def on_data(_: Request, __: DataError) -> JSONResponse:
        reason = "a value in the address cannot be stored or compared; correct it"
        return answer(Problem(422, "invalid-input", reason, fields=[]))

    @app.exception_handler(OperationalError)
    def on_database(_: Request, __: OperationalError) -> JSONResponse:
        reason = "the database does not answer; repeat with the same Idempotency-Key"
        return answer(Problem(503, "not-ready", reason))

    @app.exception_handler(Exception)
    def on_anything(_: Request, error: Exception) -> JSONResponse:
        return answer(Problem(500, "internal", f"{type(error).__name__}; see the API's log"))
