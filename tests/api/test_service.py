"""Health, readiness, and the description that the API serves of itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator

from activities.artifacts import ArtifactStore
from tests.api.judge import problem
from tests.support.database import Databases, render
from tests.support.served import REPORT, TOKENS, Served, listening

OPEN = {"/health", "/ready"}


def get(url: str, path: str) -> httpx.Response:
    """Ask as somebody with a token."""
    headers = {"Authorization": f"Bearer {TOKENS['operator']}"}
    return httpx.get(f"{url}{path}", headers=headers, timeout=30, trust_env=False)


def test_it_lives_and_is_ready_and_names_the_schema(shared: Served) -> None:
    nobody = shared.with_token(None)
    assert nobody.get("/health").json() == {"status": "alive"}
    answer = nobody.get("/ready")
    assert (answer.status_code, answer.json()["status"]) == (200, "ready")
    assert answer.json()["schema"]


def test_without_a_schema_it_lives_and_is_not_ready(databases: Databases, tmp_path: Path) -> None:
    with (
        databases.lend("bare") as bare,
        listening(render(bare), ArtifactStore(tmp_path), {}) as url,
    ):
        assert get(url, "/health").status_code == 200
        assert "upgraded" in problem(get(url, "/ready"), 503, "not-ready")["detail"]


def test_without_a_database_every_request_says_so(databases: Databases, tmp_path: Path) -> None:
    with databases.lend("gone") as gone:
        dsn = render(gone)
    with listening(dsn, ArtifactStore(tmp_path), {}) as url:
        assert get(url, "/health").status_code == 200
        problem(get(url, "/ready"), 503, "not-ready")
        assert "database" in problem(get(url, "/v1/runs"), 503, "not-ready")["detail"]


def test_an_unforeseen_fault_is_a_problem_without_its_text(
    shared: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("canary")

    monkeypatch.setattr("orchestrator.store.reads.list_runs", broken)
    answer = shared.as_("operator").get("/v1/runs")
    problem(answer, 500, "internal")
    assert "canary" not in answer.text


@pytest.fixture(scope="module")
def described(shared: Served) -> dict[str, Any]:
    """Return the served description."""
    found: dict[str, Any] = shared.with_token(None).get("/openapi.json").json()
    return found


def operations(described: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield path, method and description of everything that can be called."""
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def test_the_description_is_of_version_3_1_and_its_schemas_are_valid(
    described: dict[str, Any],
) -> None:
    assert described["openapi"].startswith("3.1")
    assert {"title", "version"} <= set(described["info"])
    schemas = described["components"]["schemas"]
    assert {"Report", "Document", "Decision", "Reason", "Corrected", "More"} <= set(schemas)
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)


def test_every_reference_in_the_description_leads_somewhere(described: dict[str, Any]) -> None:
    found = list(references(described))
    assert found
    for reference in found:
        place: Any = described
        for part in reference.removeprefix("#/").split("/"):
            place = place[part]


def references(value: Any) -> Iterator[str]:
    """Yield every reference below a value."""
    if isinstance(value, dict):
        yield from [value["$ref"]] if "$ref" in value else []
    for each in value.values() if isinstance(value, dict) else value:
        if isinstance(each, dict | list):
            yield from references(each)


def test_every_operation_has_one_name_its_parameters_and_its_lock(
    described: dict[str, Any],
) -> None:
    names = [operation["operationId"] for _, _, operation in operations(described)]
    assert len(names) == len(set(names)) >= 14
    for path, _, operation in operations(described):
        declared = {p["name"] for p in operation.get("parameters", []) if p["in"] == "path"}
        assert declared == {part[1:-1] for part in path.split("/") if part.startswith("{")}
        assert ("security" in operation) == (path not in OPEN), path


def test_every_operation_describes_its_problems_as_they_are(
    shared: Served, described: dict[str, Any]
) -> None:
    wrong = [
        shared.with_token(None).get("/v1/runs"),
        shared.as_("operator").get("/v1/runs/none"),
        shared.as_("submitter").post("/v1/reports", json={}),
    ]
    for _, _, operation in operations(described):
        content = operation["responses"]["default"]["content"]
        assert set(content) == {"application/problem+json"}
        assert "422" not in operation["responses"]
        for answer in wrong:
            Draft202012Validator(content["application/problem+json"]["schema"]).validate(
                answer.json()
            )


def test_a_report_that_is_accepted_fits_the_description(described: dict[str, Any]) -> None:
    schema = {**described["components"]["schemas"]["Report"], "components": described["components"]}
    judge = Draft202012Validator(schema)
    judge.validate(REPORT)
    assert not judge.is_valid({**REPORT, "unknown": 1})
    assert not judge.is_valid({**REPORT, "repository": "shop"})
