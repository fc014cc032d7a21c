"""Every sample report, whole, to its own true ending; read from the outside."""

from __future__ import annotations

import pytest

from orchestrator.contracts.payload import JsonObject
from sandbox.reports import REPORTS
from tests.support.whole import Whole

pytestmark = [pytest.mark.job, pytest.mark.timeout(600)]
UNMERGED = sorted(name for name, report in REPORTS.items() if report.outcome != "merged")


@pytest.fixture(scope="module")
def ended(whole: Whole) -> dict[str, JsonObject]:
    """Submit every report that does not end in a merge at once, and wait for all."""
    runs = {name: whole.submit(REPORTS[name]) for name in UNMERGED}
    return {name: whole.wait_ended(run) for name, run in runs.items()}


@pytest.mark.parametrize("name", UNMERGED)
def test_a_report_ends_as_it_truly_should_and_publishes_nothing(
    whole: Whole, ended: dict[str, JsonObject], name: str
) -> None:
    run, report = ended[name], REPORTS[name]
    assert (run["status"], run["outcome"]) == ("ended", report.outcome)
    assert report.reason in (run["reason"] or "")
    tag, outside = whole.tag(run["id"]), whole.outside()
    [ticket] = outside.tickets(tag)
    assert ticket["state"] == "open"
    assert report.outcome in ticket["body"]
    assert (outside.branches(tag), outside.pulls(tag), outside.environments(tag)) == ([], [], [])
    assert run["cleanup"] == ("none" if name == "vague" else "clean")


def test_an_exhausted_budget_leaves_three_distinct_candidates_with_failed_evidence(
    whole: Whole, ended: dict[str, JsonObject]
) -> None:
    run = ended["limit"]
    candidates = run["state"]["candidates"]
    assert len({each["patch_sha256"] for each in candidates}) >= 3
    assert {each["verification_status"] for each in candidates} == {"failed"}
    kinds = [row["kind"] for row in whole.part(run["id"], "evidence")]
    assert kinds.count("check-evidence") >= 3


def test_a_flaky_report_is_called_flaky_with_runs_of_both_kinds(
    whole: Whole, ended: dict[str, JsonObject]
) -> None:
    run = ended["delivery"]
    [row] = [row for row in whole.part(run["id"], "evidence") if row["kind"] == "replay-evidence"]
    path = f"/v1/runs/{run['id']}/artifacts/{row['sha256']}"
    text = whole.client("operator").download(path).decode()
    assert '"verdict":"flaky"' in text
    assert '"verdict":"passed"' in text
    assert '"verdict":"failed"' in text


def test_a_report_without_steps_is_told_what_it_lacks(
    whole: Whole, ended: dict[str, JsonObject]
) -> None:
    [ticket] = whole.outside().tickets(whole.tag(ended["vague"]["id"]))
    assert "numbered steps" in ticket["body"]
    assert [step["name"] for step in whole.part(ended["vague"]["id"], "steps")] == [
        "create-ticket",
        "derive-procedure",
        "update-ticket",
    ]


def test_a_raised_repair_budget_goes_on_from_the_next_candidate_and_ends_as_honestly(
    whole: Whole, ended: dict[str, JsonObject]
) -> None:
    """An operator gives an ended run one candidate more; what it knew and had spent is kept."""
    run, before = ended["limit"]["id"], ended["limit"]["state"]["candidates"]
    operator = whole.client("operator")
    said = operator.post(f"/v1/runs/{run}/budgets/repair", {"amount": 1})
    assert (said["result"], said["phase"], said["reopened"]) == ("accepted", "diagnosing", True)
    again = whole.wait_ended(run)
    assert (again["outcome"], again["cleanup"]) == ("repair-budget-exhausted", "clean")
    candidates = again["state"]["candidates"]
    assert candidates[: len(before)] == before
    assert len({each["patch_sha256"] for each in candidates}) == len(before) + 1
    tag, outside = whole.tag(run), whole.outside()
    assert len(outside.tickets(tag)) == 1
    assert (outside.branches(tag), outside.environments(tag)) == ([], [])
