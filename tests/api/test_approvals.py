"""Approve, reject, cancel: accepted once, decided by a worker, about exactly what was shown."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from api import messages
from orchestrator.contracts.payload import JsonObject
from orchestrator.engine import inbox
from tests.api.judge import problem, wrong_field
from tests.support.database import Clock
from tests.support.scripted import BASE, HEAD, MERGE
from tests.support.served import Served


def decide(
    served: Served,
    run: str,
    word: str,
    decision: JsonObject,
    who: str = "reviewer",
    **headers: str,
) -> httpx.Response:
    """Say it while a worker decides."""
    path = f"/v1/runs/{run}/approvals/1/{word}"
    with served.deciding():
        return served.as_(who).post(path, json=decision, headers=headers)


def statuses(served: Served, run: str) -> list[str]:
    """Return the statuses of the run's approvals."""
    rows = served.get(f"/v1/runs/{run}/approvals")["approvals"]
    return [row["status"] for row in rows]


def test_what_waits_shows_its_exact_scope(served: Served) -> None:
    run, decision = served.awaiting()
    [asked] = served.get("/v1/approvals")["approvals"]
    assert (asked["workflow_id"], asked["ordinal"], asked["status"]) == (run, 1, "pending")
    scope = asked["scope"]
    assert (scope["action"], scope["repository"]) == ("merge", "demo/shop")
    assert (scope["pull_request"], scope["head"]) == (13, HEAD)
    assert (scope["base"], scope["base_revision"]) == ("main", BASE)
    assert scope["manifest_sha256"] == decision["manifest_sha256"]
    assert scope["policy_version"] == "1"
    assert asked["expires_at"] > asked["requested_at"]
    assert served.get(f"/v1/runs/{run}/approvals")["approvals"] == [asked]


def test_an_approval_leads_to_a_merge(shared: Served) -> None:
    run, decision = shared.awaiting()
    answer = decide(shared, run, "approve", {**decision, "comment": "good"})
    assert (answer.status_code, answer.json()) == (
        200,
        {"result": "approved", "ordinal": 1, "by": "reviewer"},
    )
    shared.line.work()
    shown = shared.get(f"/v1/runs/{run}")
    assert (shown["outcome"], shown["state"]["merge_commit"]) == ("merged", MERGE)
    [row] = shared.get(f"/v1/runs/{run}/approvals")["approvals"]
    assert (row["status"], row["decided_by"], row["comment"]) == ("used", "reviewer", "good")


def test_a_rejection_ends_the_run_with_its_reason(shared: Served) -> None:
    run, decision = shared.awaiting()
    answer = decide(shared, run, "reject", {**decision, "comment": "wrong place"})
    assert (answer.status_code, answer.json()["result"]) == (200, "rejected")
    shared.line.work()
    shown = shared.get(f"/v1/runs/{run}")
    assert shown["outcome"] == "rejected"
    assert "rejected by reviewer: wrong place" in shown["reason"]


def test_decided_approvals_are_listed_when_asked_for(served: Served) -> None:
    run, decision = served.awaiting()
    decide(served, run, "approve", decision)
    assert served.get("/v1/approvals")["approvals"] == []
    for status in ("approved", ""):
        rows = served.get("/v1/approvals", status=status)["approvals"]
        assert [row["workflow_id"] for row in rows] == [run]
    wrong = served.as_("reviewer").get("/v1/approvals?status=maybe")
    problem(wrong, 422, "invalid-input")


@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "k1"}])
def test_a_repeat_gets_the_first_answer_though_the_run_went_on(
    shared: Served, headers: dict[str, str]
) -> None:
    run, decision = shared.awaiting()
    first = decide(shared, run, "approve", decision, **headers)
    shared.line.work()
    again = decide(shared, run, "approve", decision, **headers)
    assert (again.status_code, again.json()) == (200, first.json())


def test_the_same_key_with_other_words_is_a_conflict(shared: Served) -> None:
    run, decision = shared.awaiting()
    key = {"Idempotency-Key": "k1"}
    decide(shared, run, "approve", decision, **key)
    other = {**decision, "comment": "another"}
    problem(decide(shared, run, "approve", other, **key), 409, "conflicting-repeat")
    problem(decide(shared, run, "reject", decision, **key), 409, "conflicting-repeat")


def test_of_two_reviewers_the_first_decides(shared: Served) -> None:
    run, decision = shared.awaiting()
    assert decide(shared, run, "approve", decision).status_code == 200
    second = decide(shared, run, "reject", decision, who="second-reviewer")
    assert "approval 1 is approved" in problem(second, 409, "message-refused")["detail"]
    shared.line.work()
    [row] = shared.get(f"/v1/runs/{run}/approvals")["approvals"]
    assert (row["status"], row["decided_by"]) == ("used", "reviewer")


def test_a_reviewer_cannot_take_an_approval_back(shared: Served) -> None:
    run, decision = shared.awaiting()
    decide(shared, run, "approve", decision)
    problem(decide(shared, run, "reject", decision), 409, "message-refused")
    assert statuses(shared, run) == ["approved"]


@pytest.mark.parametrize("wrong", [{"head": "c" * 40}, {"manifest_sha256": "sha256:" + "0" * 64}])
def test_an_answer_about_something_else_is_refused_and_the_right_one_still_counts(
    shared: Served, wrong: JsonObject
) -> None:
    """No key is sent: a refused answer must not stand in the way of the corrected one."""
    run, decision = shared.awaiting()
    said = problem(decide(shared, run, "approve", decision | wrong), 409, "message-refused")
    [name] = wrong
    assert f"{name} is {decision[name]}" in said["detail"]
    assert "read the approval again" in said["detail"]
    assert said["answer"]["result"] == "refused"
    assert statuses(shared, run) == ["pending"]
    assert decide(shared, run, "approve", decision).status_code == 200


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"head": "main"}, "body.head"),
        ({"head": HEAD.upper()}, "body.head"),
        ({"manifest_sha256": ""}, "body.manifest_sha256"),
        ({"manifest_sha256": "a\x00"}, "body.manifest_sha256"),
        ({"comment": "x" * 4001}, "body.comment"),
        ({"comment": "a\x00"}, "body.comment"),
        ({"force": True}, "body.force"),
    ],
)
@pytest.mark.parametrize("word", ["approve", "reject"])
def test_a_malformed_answer_names_its_field(
    shared: Served, word: str, change: JsonObject, field: str
) -> None:
    body = {"head": HEAD, "manifest_sha256": "m", **change}
    answer = shared.as_("reviewer").post(f"/v1/runs/r/approvals/1/{word}", json=body)
    assert wrong_field(answer) == field


@pytest.mark.parametrize("ordinal", ["0", "-1", "one", str(10**12)])
def test_a_malformed_number_names_its_field(shared: Served, ordinal: str) -> None:
    body = {"head": HEAD, "manifest_sha256": "m"}
    answer = shared.as_("reviewer").post(f"/v1/runs/r/approvals/{ordinal}/approve", json=body)
    assert wrong_field(answer) == "path.ordinal"


def test_an_approval_that_was_never_asked_for_is_refused(shared: Served) -> None:
    run, decision = shared.awaiting()
    with shared.deciding():
        answer = shared.as_("reviewer").post(f"/v1/runs/{run}/approvals/2/approve", json=decision)
    assert "there is no approval 2" in problem(answer, 409, "message-refused")["detail"]


def test_an_expired_approval_cannot_be_given(served: Served, clock: Clock) -> None:
    run, decision = served.awaiting()
    clock.advance(172_801)
    said = problem(decide(served, run, "approve", decision), 409, "message-refused")
    assert "expired" in said["detail"]
    assert served.get(f"/v1/runs/{run}")["state"]["merge_commit"] is None


def test_an_approval_for_an_ended_run_is_refused(shared: Served) -> None:
    run, decision = shared.awaiting()
    decide(shared, run, "reject", decision)
    shared.line.work()
    assert shared.get(f"/v1/runs/{run}")["status"] == "ended"
    late = decide(shared, run, "approve", decision, who="second-reviewer")
    assert "approval 1 is rejected" in problem(late, 409, "message-refused")["detail"]


@pytest.mark.parametrize("path", ["approvals/1/approve", "approvals/1/reject", "cancel"])
def test_nothing_can_be_said_to_a_run_that_is_not_there(shared: Served, path: str) -> None:
    body: dict[str, Any] = {"head": HEAD, "manifest_sha256": "m"} if path != "cancel" else {}
    who = "operator" if path == "cancel" else "reviewer"
    answer = shared.as_(who).post(f"/v1/runs/bug-repair-999/{path}", json=body)
    problem(answer, 404, "run-not-found")


def test_without_a_worker_it_is_accepted_and_its_repeat_gets_the_answer_later(
    shared: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "ANSWER_WITHIN_S", 0.05)
    run, decision = shared.awaiting()
    path = f"/v1/runs/{run}/approvals/1/approve"
    answer = shared.as_("reviewer").post(path, json=decision)
    assert (answer.status_code, answer.json()["result"]) == (202, "accepted")
    assert statuses(shared, run) == ["pending"]
    assert inbox.decide_some(shared.line.database, shared.line.definitions) == 1
    again = shared.as_("reviewer").post(path, json=decision)
    assert (again.status_code, again.json()["result"]) == (200, "approved")


def test_cancelling_a_waiting_run_cleans_what_it_owns(shared: Served) -> None:
    run, decision = shared.awaiting()
    with shared.deciding():
        answer = shared.as_("operator").post(f"/v1/runs/{run}/cancel", json={"reason": "enough"})
    assert (answer.status_code, answer.json()) == (200, {"result": "accepted", "stage": "cleaning"})
    assert statuses(shared, run) == ["superseded"]
    late = decide(shared, run, "approve", decision)
    assert "superseded" in problem(late, 409, "message-refused")["detail"]
    shared.line.work()
    shown = shared.get(f"/v1/runs/{run}")
    assert (shown["outcome"], shown["cleanup"]) == ("cancelled", "clean")


def test_a_second_cancel_says_how_far_it_is_and_one_after_the_end_is_too_late(
    shared: Served,
) -> None:
    run, _ = shared.awaiting()
    path, operator = f"/v1/runs/{run}/cancel", shared.as_("operator")
    with shared.deciding():
        operator.post(path, json={})
        second = operator.post(path, json={})
        assert second.json() == {"result": "already-cancelling", "stage": "cleaning"}
        shared.line.work()
        assert "ended" in problem(operator.post(path, json={}), 409, "message-too-late")["detail"]


def test_a_repeated_cancel_with_its_key_gets_the_first_answer(shared: Served) -> None:
    run, _ = shared.awaiting()
    path, operator, key = f"/v1/runs/{run}/cancel", shared.as_("operator"), "c1"
    headers = {"Idempotency-Key": key}
    with shared.deciding():
        first = operator.post(path, json={}, headers=headers)
        shared.line.work()
        assert operator.post(path, json={}, headers=headers).json() == first.json()
        other = operator.post(path, json={"reason": "x"}, headers=headers)
    problem(other, 409, "conflicting-repeat")


@pytest.mark.parametrize(
    ("body", "field"),
    [({"reason": "a\x00"}, "body.reason"), ({"reason": "x" * 2001}, "body.reason")],
)
def test_a_malformed_cancel_names_its_field(shared: Served, body: JsonObject, field: str) -> None:
    assert wrong_field(shared.as_("operator").post("/v1/runs/r/cancel", json=body)) == field


WISHES = [
    ("pause", None, "paused"),
    ("resume", None, "already-going-on"),
    ("retry", {"step": ""}, "refused"),
    ("budgets/escalation", {"amount": 2}, "accepted"),
    ("terminate", {"reason": "no more"}, "terminated"),
]


@pytest.mark.parametrize(("path", "body", "result"), WISHES, ids=lambda part: str(part)[:20])
def test_an_operator_tells_a_run_what_to_do(
    shared: Served, path: str, body: JsonObject | None, result: str
) -> None:
    run, _ = shared.awaiting()
    with shared.deciding():
        said = shared.as_("operator").post(f"/v1/runs/{run}/{path}", json=body)
    answer = said.json()
    if result == "refused":
        problem(said, 409, "message-refused")
        answer = answer["answer"]
    assert answer["result"] == result
    assert shared.as_("reviewer").post(f"/v1/runs/{run}/{path}", json=body).status_code == 403


def test_a_reviewer_corrects_and_the_old_question_is_void(shared: Served) -> None:
    run, decision = shared.awaiting()
    with shared.deciding():
        said = shared.as_("reviewer").post(
            f"/v1/runs/{run}/correct", json={"text": "keep the field's old name"}
        )
    assert said.json()["result"] == "accepted"
    assert statuses(shared, run) == ["superseded"]
    problem(decide(shared, run, "approve", decision), 409, "message-refused")


def test_an_unknown_budget_or_no_amount_names_the_field(shared: Served) -> None:
    run, _ = shared.awaiting()
    operator, budgets = shared.as_("operator"), f"/v1/runs/{run}/budgets"
    unknown = operator.post(f"{budgets}/luck", json={"amount": 1})
    assert wrong_field(unknown) == "path.budget"
    nothing = operator.post(f"{budgets}/tool", json={"amount": 0})
    assert wrong_field(nothing) == "body.amount"


def test_a_document_is_submitted_once_per_key(shared: Served) -> None:
    body = {"repository": "demo/shop", "title": "Opening hours", "text": "From two to three."}
    submitter, headers = shared.as_("submitter"), {"Idempotency-Key": "document-1"}
    first = submitter.post("/v1/documents", json=body, headers=headers)
    assert first.status_code == 201
    assert submitter.post("/v1/documents", json=body, headers=headers).json() == first.json()
    shown = shared.get(first.json()["href"])
    assert (shown["definition"], shown["phase"]) == ("document", "checking")
    assert shown["deadline"] is not None
    none = submitter.post("/v1/documents", json={**body, "escalations": 0})
    assert wrong_field(none) == "body.escalations"


def test_receivers_in_trouble_are_listed(shared: Served) -> None:
    assert shared.get("/v1/receivers") == {"receivers": []}
