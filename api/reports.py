"""Submit a bug report: a run starts, once per Idempotency-Key."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Annotated

from fastapi import APIRouter, Header, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from api.problems import wrong_fields
from api.security import Submitter
from api.words import Path, Words
from orchestrator.contracts.payload import JsonObject
from orchestrator.engine.submit import Submission, start_once

router = APIRouter(tags=["reports"])
# Each half has a letter, digit, `_` or `-`: `..` is no name.
Key = Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=200)]
NAME = r"[A-Za-z0-9_.-]*[A-Za-z0-9_-][A-Za-z0-9_.-]*"


class Wanted(BaseModel):
    """What a submitter may narrow in the installation's work contract; nothing can be widened."""

    model_config = ConfigDict(extra="forbid")

    repair_attempts: int | None = Field(default=None, ge=1, le=20)
    allowed_paths: list[Path] | None = Field(default=None, min_length=1, max_length=50)
    may_publish_draft: bool | None = None
    may_merge_after_approval: bool | None = None


class Report(BaseModel):
    """A bug report in plain language."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    repository: str = Field(pattern=f"^{NAME}/{NAME}$", max_length=200, examples=["demo/shop"])
    title: Words = Field(min_length=1, max_length=200)
    text: Words = Field(min_length=1, max_length=50_000)
    base: str = Field(default="main", pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]*$", max_length=200)
    contract: Wanted = Wanted()


class Document(BaseModel):
    """A document that is to be published under an approval."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    repository: str = Field(pattern=f"^{NAME}/{NAME}$", max_length=200, examples=["demo/shop"])
    title: Words = Field(min_length=1, max_length=200)
    text: Words = Field(min_length=1, max_length=50_000)
    expires_s: float = Field(default=86_400.0, ge=1, le=31_536_000)
    deadline_s: float = Field(default=1_209_600.0, ge=1, le=31_536_000)
    escalations: int = Field(default=2, ge=1, le=20)


@router.post("/v1/documents", status_code=201)
def submit_document(
    document: Document, request: Request, response: Response, who: Submitter, key: Key = None
) -> JsonObject:
    """Start a run for the document. The same key and document give the same run again."""
    submission = Submission(
        "document", document.model_dump(), who.name, key or secrets.token_urlsafe(18)
    )
    return _started(request, response, submission)


@router.post("/v1/reports", status_code=201)
def submit(
    report: Report, request: Request, response: Response, who: Submitter, key: Key = None
) -> JsonObject:
    """Start a run for the report. The same key and report give the same run again."""
    state = request.app.state
    body = report.model_dump(exclude={"contract"})
    submission = Submission(
        definition="bug-repair",
        body={**body, "contract": _narrowed(state.policy, report.contract)},
        principal=who.name,
        key=key or secrets.token_urlsafe(18),
    )
    return _started(request, response, submission)


def _started(request: Request, response: Response, submission: Submission) -> JsonObject:
    state = request.app.state
    workflow_id = start_once(state.database, state.definitions, submission)
    response.headers["Location"] = f"/v1/runs/{workflow_id}"
    return {"run": workflow_id, "href": f"/v1/runs/{workflow_id}"}


def _narrowed(policy: JsonObject, wanted: Wanted) -> JsonObject:
    """Return the installation's contract with what the submitter took away from it.

    Raises Problem for a path that the installation does not permit.
    """
    contract = dict(policy)
    if wanted.repair_attempts is not None:
        most = int(policy.get("repair_attempts", 4))
        contract["repair_attempts"] = min(wanted.repair_attempts, most)
    if wanted.allowed_paths is not None:
        _refuse_outside(policy.get("allowed_paths", ()), wanted.allowed_paths)
        contract["allowed_paths"] = wanted.allowed_paths
    for name in ("may_publish_draft", "may_merge_after_approval"):
        asked = getattr(wanted, name)
        if asked is not None:
            contract[name] = bool(policy.get(name, True)) and asked
    return contract


def _refuse_outside(permitted: Sequence[str], asked: Sequence[str]) -> None:
    """Raise Problem naming each path outside of the permitted ones; none permits every path."""
    outside = [
        {"loc": ("body", "contract", "allowed_paths", at), "msg": f"not in {', '.join(permitted)}"}
        for at, path in enumerate(asked)
        if not any(PurePosixPath(path).is_relative_to(place) for place in permitted)
    ]
    if permitted and outside:
        raise wrong_fields(outside)
