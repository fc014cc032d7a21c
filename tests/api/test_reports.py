"""Submitting: a run for each key, and bad input that names its field and leaves nothing."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from api.app import BODY_MAX_BYTES
from tests.api.judge import problem, wrong_field
from tests.support.served import REPORT, TOKENS, Served

KEY = {"Idempotency-Key": "k1"}
PERMITTED = {
    "allowed_paths": ["shop", "lib/core"],
    "repair_attempts": 3,
    "may_merge_after_approval": False,
}


def runs(served: Served) -> list[str]:
    """Return the ids of all runs, newest first."""
    return [row["id"] for row in served.get("/v1/runs")["runs"]]


def test_a_report_starts_a_run_and_says_where_it_is(served: Served) -> None:
    answer = served.as_("submitter").post("/v1/reports", json=REPORT)
    assert answer.status_code == 201
    run = answer.json()["run"]
    assert answer.headers["location"] == answer.json()["href"] == f"/v1/runs/{run}"
    shown = served.get(answer.headers["location"])
    assert (shown["submitter"], shown["phase"]) == ("submitter", "ticketing")
    assert shown["state"]["report"] == {**REPORT, "base": "main"}


def test_the_same_key_and_report_give_the_same_run_again(served: Served) -> None:
    first = served.as_("submitter").post("/v1/reports", json=REPORT, headers=KEY)
    again = served.as_("submitter").post("/v1/reports", json=REPORT, headers=KEY)
    assert (again.status_code, again.json()) == (201, first.json())
    assert runs(served) == [first.json()["run"]]


def test_the_same_key_with_another_report_is_a_conflict(served: Served) -> None:
    first = served.as_("submitter").post("/v1/reports", json=REPORT, headers=KEY)
    other = {**REPORT, "title": "Another fault"}
    answer = served.as_("submitter").post("/v1/reports", json=other, headers=KEY)
    assert "k1" in problem(answer, 409, "conflicting-repeat")["detail"]
    assert runs(served) == [first.json()["run"]]


def test_without_a_key_two_equal_reports_are_two_runs(served: Served) -> None:
    first, second = served.submitted(), served.submitted()
    assert runs(served) == [second, first]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"text": ""}, "body.text"),
        ({"text": " \n "}, "body.text"),
        ({"text": "x" * 50_001}, "body.text"),
        ({"text": None}, "body.text"),
        ({"text": "a\x00b"}, "body.text"),
        ({"text": "a\ud800b"}, "body.text"),
        ({"title": ""}, "body.title"),
        ({"title": "x" * 201}, "body.title"),
        ({"title": "a\x00b"}, "body.title"),
        ({"repository": "shop"}, "body.repository"),
        ({"repository": "demo/shop/more"}, "body.repository"),
        ({"repository": "demo/sh op"}, "body.repository"),
        ({"repository": "../.."}, "body.repository"),
        ({"base": "-f"}, "body.base"),
        ({"unknown": 1}, "body.unknown"),
        ({"contract": {"may_do_anything": True}}, "body.contract.may_do_anything"),
        ({"contract": {"repair_attempts": 0}}, "body.contract.repair_attempts"),
        ({"contract": {"allowed_paths": ["a\x00"]}}, "body.contract.allowed_paths.0"),
        ({"contract": {"allowed_paths": ["../else"]}}, "body.contract.allowed_paths.0"),
        ({"contract": {"allowed_paths": []}}, "body.contract.allowed_paths"),
    ],
)
def test_a_wrong_field_is_named_and_nothing_starts(
    shared: Served, change: dict[str, Any], field: str
) -> None:
    body = json.dumps({**REPORT, **change})
    headers = {"Content-Type": "application/json"}
    answer = shared.as_("submitter").post("/v1/reports", content=body, headers=headers)
    assert wrong_field(answer) == field
    assert runs(shared) == []


def test_a_missing_field_is_named(shared: Served) -> None:
    answer = shared.as_("submitter").post("/v1/reports", json={**REPORT, "text": 1})
    assert wrong_field(answer) == "body.text"
    less = {name: value for name, value in REPORT.items() if name != "repository"}
    assert wrong_field(shared.as_("submitter").post("/v1/reports", json=less)) == "body.repository"


def test_a_problem_never_repeats_the_value(shared: Served) -> None:
    answer = shared.as_("submitter").post("/v1/reports", json={**REPORT, "base": "-canary"})
    assert "canary" not in answer.text


@pytest.mark.parametrize("raw", [b"{", b"", b"[]", b'"text"'])
def test_a_body_that_is_no_report_names_the_body(shared: Served, raw: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    answer = shared.as_("submitter").post("/v1/reports", content=raw, headers=headers)
    assert wrong_field(answer).startswith("body")


def test_a_body_that_is_no_text_is_unreadable(shared: Served) -> None:
    headers = {"Content-Type": "application/json"}
    answer = shared.as_("submitter").post(
        "/v1/reports", content=b'{"text": "\xff"}', headers=headers
    )
    problem(answer, 400, "unreadable-request")


def test_a_key_that_is_too_long_names_the_header(shared: Served) -> None:
    headers = {"Idempotency-Key": "k" * 201}
    answer = shared.as_("submitter").post("/v1/reports", json=REPORT, headers=headers)
    assert wrong_field(answer) == "header.Idempotency-Key"


def test_an_enormous_report_is_refused_before_it_is_read(shared: Served) -> None:
    """Only the head is sent: an answer proves that the body was not waited for."""
    said = raw_answer(shared, f"Content-Length: {BODY_MAX_BYTES + 1}")
    assert said.startswith(b"HTTP/1.1 413 ")
    assert b"urn:outlast:problem:body-too-large" in said
    assert str(BODY_MAX_BYTES).encode() in said


def test_an_enormous_report_that_is_sent_gets_its_answer(shared: Served) -> None:
    body = {**REPORT, "text": "x" * BODY_MAX_BYTES}
    problem(shared.as_("submitter").post("/v1/reports", json=body), 413, "body-too-large")
    assert runs(shared) == []


def test_a_body_without_a_length_is_refused(shared: Served) -> None:
    def pieces() -> Iterator[bytes]:
        yield json.dumps(REPORT).encode()

    answer = shared.as_("submitter").post("/v1/reports", content=pieces())
    problem(answer, 411, "length-required")
    said = raw_answer(shared, "Accept: */*")
    assert said.startswith(b"HTTP/1.1 411 ")
    assert runs(shared) == []


def raw_answer(shared: Served, header: str) -> bytes:
    """Send the head of a request with this header, no body, and return what is answered."""
    where = urlsplit(shared.url)
    token = f"Authorization: Bearer {TOKENS['submitter']}"
    head = ["POST /v1/reports HTTP/1.1", f"Host: {where.netloc}", token, header]
    with socket.create_connection((where.hostname or "", where.port or 0), timeout=20) as line:
        line.sendall("\r\n".join([*head, "Connection: close", "", ""]).encode())
        said = b""
        while piece := line.recv(65536):
            said += piece
    return said


class TestContract:
    """A submitter narrows the installation's work contract and never widens it."""

    def contract(self, shared: Served, **wanted: Any) -> dict[str, Any]:
        """Return the contract of a run that was submitted with these wishes."""
        run = shared.submitted(contract=wanted)
        contract: dict[str, Any] = shared.get(f"/v1/runs/{run}")["state"]["contract"]
        return contract

    def test_without_wishes_it_is_the_installations(self, strict: Served) -> None:
        contract = self.contract(strict)
        assert {name: contract[name] for name in PERMITTED} == PERMITTED

    def test_it_is_narrowed(self, strict: Served) -> None:
        wanted = {"allowed_paths": ["shop/cart"], "repair_attempts": 1, "may_publish_draft": False}
        contract = self.contract(strict, **wanted)
        assert {name: contract[name] for name in wanted} == wanted

    def test_more_attempts_and_permissions_are_not_given(self, strict: Served) -> None:
        contract = self.contract(strict, repair_attempts=20, may_merge_after_approval=True)
        assert (contract["repair_attempts"], contract["may_merge_after_approval"]) == (3, False)

    @pytest.mark.parametrize("path", ["other", "shopping", ".", "lib"])
    def test_a_path_outside_is_refused_by_name(self, strict: Served, path: str) -> None:
        body = {**REPORT, "contract": {"allowed_paths": ["shop", path]}}
        before = len(runs(strict))
        answer = strict.as_("submitter").post("/v1/reports", json=body)
        assert wrong_field(answer) == "body.contract.allowed_paths.1"
        assert len(runs(strict)) == before
