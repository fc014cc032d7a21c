"""Who may do what: 401 without a known token, 403 without the role, tokens hashed at rest."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import update
from sqlalchemy.engine import make_url

from orchestrator.store import principals, tables
from tests.api.judge import problem
from tests.support.database import connect
from tests.support.served import REPORT, TOKENS, Served

READS = [
    "/v1/runs",
    "/v1/runs/bug-repair-1",
    "/v1/runs/bug-repair-1/history",
    "/v1/runs/bug-repair-1/steps",
    "/v1/runs/bug-repair-1/operations",
    "/v1/runs/bug-repair-1/resources",
    "/v1/runs/bug-repair-1/evidence",
    "/v1/runs/bug-repair-1/approvals",
    f"/v1/runs/bug-repair-1/artifacts/{'a' * 64}",
    "/v1/approvals",
]
WRITES = {
    "/v1/reports": ("submitter", REPORT),
    "/v1/runs/bug-repair-1/approvals/1/approve": (
        "reviewer",
        {"head": "b" * 40, "manifest_sha256": "m"},
    ),
    "/v1/runs/bug-repair-1/approvals/1/reject": (
        "reviewer",
        {"head": "b" * 40, "manifest_sha256": "m"},
    ),
    "/v1/runs/bug-repair-1/cancel": ("operator", {}),
}


@pytest.mark.parametrize("path", READS)
def test_nothing_is_read_without_a_token(shared: Served, path: str) -> None:
    answer = shared.with_token(None).get(path)
    assert "Authorization" in problem(answer, 401, "token-missing")["detail"]
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("path", WRITES)
def test_nothing_is_written_without_a_token(shared: Served, path: str) -> None:
    answer = shared.with_token(None).post(path, json=WRITES[path][1])
    problem(answer, 401, "token-missing")


@pytest.mark.parametrize("token", ["wrong", TOKENS["operator"] + "x", principals.token_hash("x")])
def test_an_unknown_token_is_refused_and_not_repeated(shared: Served, token: str) -> None:
    answer = shared.with_token(token).get("/v1/runs")
    problem(answer, 401, "token-unknown")
    assert token not in answer.text


def test_another_scheme_is_no_token(shared: Served) -> None:
    client = shared.with_token(None)
    answer = client.get("/v1/runs", auth=("operator", TOKENS["operator"]))
    problem(answer, 401, "token-missing")


def test_the_hash_of_a_token_is_no_token(shared: Served) -> None:
    stolen = principals.token_hash(TOKENS["operator"])
    problem(shared.with_token(stolen).get("/v1/runs"), 401, "token-unknown")


@pytest.mark.parametrize("path", WRITES)
@pytest.mark.parametrize("name", ["submitter", "reviewer", "operator"])
def test_only_the_role_may(shared: Served, path: str, name: str) -> None:
    role, body = WRITES[path]
    if name != role:
        said = problem(shared.as_(name).post(path, json=body), 403, "role-missing")
        assert f"needs the role {role}; yours: {name}" in said["detail"]
    else:
        wrong = shared.as_(name).post(path, json={**body, "unknown": 1})
        problem(wrong, 422, "invalid-input")


def test_a_disabled_principal_is_refused_at_once(served: Served) -> None:
    assert served.as_("operator").get("/v1/runs").status_code == 200
    with served.line.database.commit("disable") as tx:
        row = tables.principal
        tx.execute(update(row).where(row.c.name == "operator").values(disabled_at="2026-01-01"))
    problem(served.as_("operator").get("/v1/runs"), 401, "token-unknown")


def test_a_new_token_replaces_the_earlier_one(served: Served) -> None:
    with served.line.database.commit("rotate") as tx:
        principals.put(tx, "operator", ["operator"], "the next token")
    problem(served.as_("operator").get("/v1/runs"), 401, "token-unknown")
    assert served.with_token("the next token").get("/v1/runs").status_code == 200


def test_no_token_stands_in_any_table(served: Served, database_url: str) -> None:
    """The name of the principal is found by the same search, so the search finds things."""
    run, decision = served.awaiting()
    with served.deciding():
        served.as_("reviewer").post(f"/v1/runs/{run}/approvals/1/approve", json=decision)
        served.as_("operator").post(f"/v1/runs/{run}/cancel", json={"reason": "enough"})
    with connect(make_url(database_url)) as database:
        found = {name: text_of(database, name) for name in table_names(database)}
    assert "second-reviewer" in found["principal"]
    assert run in found["inbox"]
    for token in TOKENS.values():
        assert [name for name, text in found.items() if token in text] == []


def table_names(database: psycopg.Connection) -> list[str]:
    """Return every table of the schema."""
    listed = database.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    return [row[0] for row in listed.fetchall()]


def text_of(database: psycopg.Connection, table: str) -> str:
    """Return every row of a table as text."""
    rows = sql.SQL("SELECT t::text FROM {} t").format(sql.Identifier(table))
    return "\n".join(row[0] for row in database.execute(rows).fetchall())
