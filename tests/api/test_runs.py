"""What people see of a run: list, pages, checkpoint, parts, files with checked bytes."""

from __future__ import annotations

import hashlib
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.api.judge import problem, wrong_field
from tests.support.scripted import BASE, HEAD, PROCEDURE, SCREENSHOT
from tests.support.served import Served

SHA256 = hashlib.sha256(SCREENSHOT).hexdigest()
PARTS = ["", "/history", "/steps", "/operations", "/resources", "/evidence", "/approvals"]


@pytest.fixture(scope="module")
def run(shared: Served) -> str:
    """Return a run that waits for review."""
    return shared.awaiting()[0]


def stored(served: Served) -> Path:
    """Return where the screenshot lies."""
    return served.artifacts / SHA256[:2] / SHA256


def test_a_run_shows_its_checkpoint(shared: Served, run: str) -> None:
    shown = shared.get(f"/v1/runs/{run}")
    assert (shown["id"], shown["status"], shown["phase"]) == (run, "waiting", "awaiting-review")
    state = shown["state"]
    assert state["target_revision"] == BASE
    assert state["ticket"]["number"] == 12
    assert state["reproduction"]["procedure_sha256"] == PROCEDURE
    assert state["publication"]["head"] == state["pending_approval"]["head"] == HEAD


def test_its_history_is_whole_in_order_and_comes_in_pages(shared: Served, run: str) -> None:
    events = shared.get(f"/v1/runs/{run}/history")["events"]
    assert events[0]["kind"] == "run-started"
    assert [event["position"] for event in events] == list(range(1, len(events) + 1))
    first = shared.get(f"/v1/runs/{run}/history", limit=2)["events"]
    second = shared.get(f"/v1/runs/{run}/history", after=2, limit=2)["events"]
    assert first + second == events[:4]
    assert shared.get(f"/v1/runs/{run}/history", after=len(events))["events"] == []


def test_its_steps_have_their_attempts(shared: Served, run: str) -> None:
    steps = shared.get(f"/v1/runs/{run}/steps")["steps"]
    assert [step["name"] for step in steps[:3]] == [
        "create-ticket",
        "derive-procedure",
        "resolve-revision",
    ]
    assert {step["status"] for step in steps} == {"succeeded"}
    [attempt] = steps[0]["attempt_records"]
    assert (attempt["worker"], attempt["outcome"]) == ("w1", "succeeded")


def test_its_operations_name_guarantee_and_reference(shared: Served, run: str) -> None:
    operations = shared.get(f"/v1/runs/{run}/operations")["operations"]
    ticket = operations[0]
    assert (ticket["id"], ticket["status"]) == (f"{run}:create-ticket:1", "confirmed")
    assert (ticket["guarantee"], ticket["reference"]) == ("natural", "12")


def test_its_resources_are_listed(shared: Served, run: str) -> None:
    resources = shared.get(f"/v1/runs/{run}/resources")["resources"]
    assert [(each["kind"], each["status"]) for each in resources] == [
        ("branch", "live"),
        ("environment", "live"),
    ]


def test_its_evidence_names_what_it_was_obtained_on(shared: Served, run: str) -> None:
    [picture] = shared.get(f"/v1/runs/{run}/evidence")["artifacts"]
    assert (picture["sha256"], picture["kind"]) == (SHA256, "screenshot")
    assert picture["size"] == len(SCREENSHOT)
    bound = (picture["revision"], picture["procedure_sha256"], picture["environment_sha256"])
    assert bound == (BASE, PROCEDURE, "env")


def test_a_file_is_downloaded_byte_for_byte(shared: Served, run: str) -> None:
    answer = shared.as_("submitter").get(f"/v1/runs/{run}/artifacts/{SHA256}")
    assert (answer.status_code, answer.content) == (200, SCREENSHOT)
    disposition = answer.headers["content-disposition"]
    assert disposition.startswith("attachment")
    assert "run-1-the" in disposition


def test_a_file_of_another_run_is_not_found(shared: Served, run: str) -> None:
    other = shared.submitted()
    answer = shared.as_("operator").get(f"/v1/runs/{other}/artifacts/{SHA256}")
    problem(answer, 404, "artifact-not-found")
    assert shared.get(f"/v1/runs/{run}/evidence")["artifacts"]


@pytest.mark.parametrize(
    "sha256", ["../../etc/passwd", "%2e%2e", "x", "A" * 64, f"{SHA256}/../../../x", "\0"]
)
def test_a_name_that_is_no_hash_reaches_no_file(shared: Served, run: str, sha256: str) -> None:
    path = f"/v1/runs/{run}/artifacts/{quote(sha256, safe='')}"
    answer = shared.as_("operator").get(path)
    assert answer.status_code in (404, 422)
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_damaged_or_lost_file_is_a_problem_that_names_it(served: Served) -> None:
    run, _ = served.awaiting()
    path = f"/v1/runs/{run}/artifacts/{SHA256}"
    stored(served).write_bytes(SCREENSHOT[:-1] + b"?")
    assert SHA256 in problem(served.as_("operator").get(path), 502, "artifact-unreadable")["detail"]
    stored(served).unlink()
    problem(served.as_("operator").get(path), 502, "artifact-unreadable")
    assert served.get(f"/v1/runs/{run}")["status"] == "waiting"


@pytest.mark.parametrize("part", [*PARTS, f"/artifacts/{SHA256}"])
@pytest.mark.parametrize("name", ["bug-repair-999", "x%20y", "%00"])
def test_a_run_that_is_not_there_is_a_problem(shared: Served, name: str, part: str) -> None:
    answer = shared.as_("operator").get(f"/v1/runs/{name}{part}")
    if name == "%00":
        problem(answer, 422, "invalid-input")
    else:
        problem(answer, 404, "run-not-found")


def test_a_path_or_method_that_is_not_there_is_a_problem(shared: Served) -> None:
    problem(shared.as_("operator").get("/v2/runs"), 404, "not-found")
    answer = shared.as_("operator").delete("/v1/runs")
    problem(answer, 405, "method-not-allowed")
    assert answer.headers["allow"] == "GET"


def test_runs_come_newest_first_in_pages_without_gap_or_repeat(served: Served) -> None:
    made = [served.submitted() for _ in range(5)][::-1]
    seen: list[str] = []
    while page := served.get("/v1/runs", limit=2, **({"before": seen[-1]} if seen else {}))["runs"]:
        seen += [row["id"] for row in page]
    assert seen == made
    assert "state" not in served.get("/v1/runs")["runs"][0]


def test_runs_of_a_status_are_listed_alone(served: Served) -> None:
    ended, running = served.ended(), served.submitted()
    assert [row["id"] for row in served.get("/v1/runs", status="ended")["runs"]] == [ended]
    assert [row["id"] for row in served.get("/v1/runs", status="running")["runs"]] == [running]


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/v1/runs?status=done", "query.status"),
        ("/v1/runs?limit=0", "query.limit"),
        ("/v1/runs?limit=501", "query.limit"),
        ("/v1/runs?limit=many", "query.limit"),
        ("/v1/runs/{run}/history?after=-1", "query.after"),
        (f"/v1/runs/{{run}}/history?after={10**30}", "query.after"),
        ("/v1/runs/{run}/history?limit=0", "query.limit"),
    ],
)
def test_a_wrong_question_is_named(shared: Served, run: str, path: str, field: str) -> None:
    assert wrong_field(shared.as_("operator").get(path.format(run=run))) == field


def test_a_page_after_a_run_that_is_not_there_is_no_empty_page(shared: Served) -> None:
    answer = shared.as_("operator").get("/v1/runs?before=bug-repair-999")
    problem(answer, 404, "run-not-found")
