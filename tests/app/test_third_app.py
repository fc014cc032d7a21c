"""The third application: written after the repairer's operators, without known faults."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from benchmarks.corpus.scenarios import WORKSHOP, Scenario, scenarios
from sandbox.acceptance.running import read_recipe, run_own_checks, running
from sandbox.app_repository import APP, THIRD_APP


def test_it_needs_exactly_what_the_shop_needs() -> None:
    def pins(folder: Path) -> set[str]:
        lines = (folder / "requirements.txt").read_text().splitlines()
        return {line.strip() for line in lines if line.strip() and not line.startswith("#")}

    assert pins(THIRD_APP) <= pins(APP)


def test_its_own_checks_pass(third_app: Path) -> None:
    assert run_own_checks(read_recipe(third_app)) == ""


def test_its_own_checks_can_fail(third_app: Path) -> None:
    fees = third_app / "workshop" / "fees.py"
    fees.write_text(fees.read_text().replace("LATE_CAP_PERCENT = 40", "LATE_CAP_PERCENT = 41"))
    assert "FAIL: " in run_own_checks(read_recipe(third_app))


def test_it_answers_and_says_which_day_it_is(third_app: Path) -> None:
    with running(read_recipe(third_app)) as address:
        shown = httpx.get(f"{address}/tools", trust_env=False)
    assert shown.status_code == 200
    assert "Next page" in shown.text


@pytest.mark.parametrize("scenario", scenarios(WORKSHOP), ids=lambda scenario: scenario.name)
def test_a_scenario_of_it_is_read_by_the_grammar(scenario: Scenario) -> None:
    procedure = scenario.procedure("anything")
    assert procedure.steps
    assert procedure.expectations[0].model_dump()["contains"] == "anything"
