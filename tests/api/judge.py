"""What every error of the API is: problem details with a stable type."""

from __future__ import annotations

from typing import Any

import httpx

from orchestrator.contracts.payload import JsonObject


def problem(answer: httpx.Response, status: int, kind: str) -> JsonObject:
    """Return the problem after checking that it is whole."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    said: JsonObject = answer.json()
    assert said["type"] == f"urn:outlast:problem:{kind}"
    assert said["status"] == status
    assert said["title"]
    assert said["detail"]
    return said


def wrong_field(answer: httpx.Response) -> str:
    """Return the one field that the problem names, and check that the detail names it too."""
    said = problem(answer, 422, "invalid-input")
    fields: list[dict[str, Any]] = said["fields"]
    [field] = fields
    assert field["wrong"]
    assert field["field"] in said["detail"]
    return str(field["field"])
