"""What a run may be called: `failed` needs an unmet expectation on a page that provably lives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from activities.environment.provider import Environments, Prepared, judge
from activities.environment.sweep import list_processes
from orchestrator.clock import wait_for
from orchestrator.contracts.evidence import ProcedureRun, ReplayEvidence
from orchestrator.domain.failures import ActivityFailed, FailureKind
from tests.support.sentences import click, fill, go, holds, shows

Replay = Callable[..., ReplayEvidence]
Raw = dict[str, Any]


def test_met_expectations_pass_in_every_run_on_fresh_data(replay: Replay) -> None:
    evidence = replay([go("/visits")], [shows("Visit 1")], repeat=2)
    assert evidence.verdict == "passed"
    assert [run.verdict for run in evidence.runs] == ["passed", "passed"]


def test_an_unmet_expectation_fails_and_says_what_was_expected_and_seen(replay: Replay) -> None:
    evidence = replay([go("/form"), click("Order")], [shows("Ordered 2"), shows("Ordered 1")])
    assert evidence.verdict == "failed"
    steps = {step.id: step for step in evidence.runs[0].steps}
    assert steps["e0"].status == "assertion-failed"
    assert (steps["e0"].expected, steps["e0"].observed) == (
        "the page shows 'Ordered 2'",
        "Ordered 1 Red off",
    )
    assert steps["e1"].status == "ok"


def test_every_step_and_expectation_of_the_contract_is_played(replay: Replay) -> None:
    steps = [
        go("/form"),
        fill("Amount", "3"),
        {"do": "select", "target": {"by": "label", "value": "Colour"}, "option": "Blue"},
        {"do": "check", "target": {"by": "label", "value": "Wrap it"}},
        {"do": "fill", "target": {"by": "placeholder", "value": "A note"}, "value": "x"},
        {"do": "fill", "target": {"by": "test_id", "value": "note"}, "value": "y"},
        {"do": "press", "key": "Enter"},
    ]
    expectations = [
        shows("Ordered 3 Blue on"),
        shows("Sorry", is_shown=False),
        {"expect": "path", "equals": "/order"},
        {"expect": "visible", "target": {"by": "role", "value": "heading", "name": "Ordered"}},
        {"expect": "visible", "target": {"by": "text", "value": "Sorry"}, "is_visible": False},
        {"expect": "count", "target": {"by": "role", "value": "heading"}, "equals": 1},
    ]
    evidence = replay(steps, expectations)
    assert [step.observed for step in evidence.runs[0].steps if step.status != "ok"] == []
    assert evidence.verdict == "passed"


def test_a_control_is_found_by_the_row_that_it_stands_in(replay: Replay) -> None:
    evidence = replay(
        [go("/list"), click("Edit", within="Red mug")],
        [{"expect": "path", "equals": "/item/2"}, shows("Nothing at /item/2")],
    )
    assert evidence.verdict == "passed"


def test_a_page_that_replaces_itself_is_awaited(replay: Replay) -> None:
    assert replay([go("/later")], [shows("Blue mug")]).verdict == "passed"


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (click("Edit"), "several elements are named"),
        (click("Nowhere"), "no element is named"),
        (click("Twice"), "several elements are named"),
        (click("Locked"), "Timeout"),
        ({"do": "press", "key": "NoSuchKey"}, "Unknown key"),
    ],
)
def test_a_step_that_cannot_be_done_is_the_procedures_fault(
    replay: Replay, step: Raw, words: str
) -> None:
    evidence = replay([go("/list"), step], [shows("Blue mug")])
    assert (evidence.verdict, evidence.runs[0].verdict) == ("inconclusive", "procedure-error")
    assert words in evidence.runs[0].steps[-1].observed


def test_an_expectation_of_what_is_not_there_is_unmet_but_an_unclear_one_proves_nothing(
    replay: Replay,
) -> None:
    absent = replay([go("/form")], [holds("Post code", "1")])
    assert (absent.verdict, absent.runs[0].steps[-1].status) == ("failed", "assertion-failed")
    unclear = replay(
        [go("/list")],
        [{"expect": "value", "target": {"by": "control", "value": "Twice"}, "equals": "1"}],
    )
    assert (unclear.verdict, unclear.runs[0].verdict) == ("inconclusive", "procedure-error")


def test_an_answer_with_a_server_error_is_judged_by_the_expectations(replay: Replay) -> None:
    evidence = replay([go("/form"), fill("Amount", "13"), click("Order")], [shows("Ordered 13")])
    assert evidence.verdict == "failed"
    assert evidence.runs[0].bad_responses == ("POST /order 500",)


@pytest.mark.parametrize("harm", ["/kill-renderer", "/kill-browser", "/die"])
def test_what_dies_during_a_run_is_never_evidence_of_a_fault(
    replay: Replay, prepared: Prepared, harm: str
) -> None:
    with pytest.raises(ActivityFailed, match="could not be judged") as failed:
        replay([go("/form"), go(harm)], [shows("this is shown nowhere")], repeat=3)
    assert failed.value.kind is FailureKind.ENVIRONMENTAL
    wait_for(lambda: list_processes(prepared.run_tag) == [], 5, "its processes to be gone")


@pytest.mark.parametrize(
    "wanted",
    [
        {"expect": "count", "target": {"by": "role", "value": "heading"}, "equals": 7},
        {"expect": "visible", "target": {"by": "text", "value": "nowhere"}},
    ],
)
def test_a_page_whose_script_never_ends_keeps_nobody_waiting_and_proves_nothing(
    replay: Replay, prepared: Prepared, wanted: Raw
) -> None:
    with pytest.raises(ActivityFailed, match="could not be judged") as failed:
        replay([go("/busy"), click("Spin")], [wanted], step_timeout_ms=1_000)
    assert failed.value.kind is FailureKind.ENVIRONMENTAL
    wait_for(lambda: list_processes(prepared.run_tag) == [], 5, "its processes to be gone")


def test_a_browser_that_does_not_start_is_an_environments_failure(
    replay: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUTLAST_CHROMIUM", "/bin/false")
    with pytest.raises(ActivityFailed, match="the browser did not start") as failed:
        replay([go("/form")], [shows("Order desk")])
    assert failed.value.kind is FailureKind.ENVIRONMENTAL


def test_evidence_names_what_it_was_obtained_on(
    replay: Replay, prepared: Prepared, environments: Environments
) -> None:
    evidence = replay([go("/form")], [shows("Order desk")])
    assert evidence.revision == prepared.spec.revision
    assert evidence.environment_sha256 == prepared.environment_sha256
    assert (evidence.candidate_sha256, evidence.tier) == ("c" * 64, environments.tier)
    assert evidence.browser.split(".")[0].isdigit()


@pytest.mark.parametrize(
    ("verdicts", "verdict"),
    [
        (["passed", "passed"], "passed"),
        (["failed", "failed"], "failed"),
        (["failed", "passed"], "flaky"),
        (["failed", "procedure-error"], "inconclusive"),
        (["passed", "infrastructure"], "inconclusive"),
        (["procedure-error"], "inconclusive"),
    ],
)
def test_runs_come_to_one_verdict(verdicts: list[Any], verdict: str) -> None:
    assert judge([ProcedureRun(verdict=each, steps=()) for each in verdicts]) == verdict
