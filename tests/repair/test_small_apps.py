"""Faults in applications that the operators were not written for, in real sandboxes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from activities.artifacts import ArtifactStore
from activities.environment.provider import Environments
from activities.model.provider import Workbench
from activities.repair.repairer import OfflineRepairer
from orchestrator.contracts.evidence import ReplayEvidence
from orchestrator.contracts.payload import JsonObject
from orchestrator.contracts.procedure import Procedure
from orchestrator.contracts.proposal import PriorCandidate, Proposal, ProposalRequest
from orchestrator.domain.failures import ActivityFailed, FailureKind
from tests.support.small_apps import APPS, SmallApp, lay_out

pytestmark = pytest.mark.timeout(200)
REVISION = "a" * 40
SECRET = "canary-7c1f"
EVIDENCE = ReplayEvidence(
    verdict="failed",
    revision=REVISION,
    procedure_sha256="-",
    environment_sha256="-",
    browser="-",
    tier="-",
    runs=(),
)


class Repair:
    """An application in a workspace of its own, and a repairer at work on it."""

    def __init__(self, home: Path, app: SmallApp) -> None:
        self._environments = Environments(home, ArtifactStore(home / "artifacts"))
        place = lay_out(app, self._environments.folder("test") / "work" / "a")
        self._prepared = self._environments.prepare(place, REVISION, "demo/small", "test")
        self.workspace, self.said = place, list[JsonObject]()
        self._memo = home / "memo"

    def propose(self, procedure: Procedure, most: int = 60, **more: Any) -> Proposal:
        """Ask for a candidate."""
        request = ProposalRequest(
            ordinal=1,
            report_title="It is wrong",
            report_text="It is wrong",
            procedure=procedure,
            reproduction=EVIDENCE,
            allowed_paths=(),
            **more,
        )
        bench = Workbench(
            workspace=self.workspace,
            application=self._prepared.application,
            secrets={"GUEST_NAME": SECRET},
            open_session=lambda: self._environments.session(self._prepared),
            progress=self.said.append,
            memo=self._memo,
        )
        return OfflineRepairer(most).propose(request, bench)


def fill(label: str, value: str) -> JsonObject:
    """Return a step that fills a field."""
    return {"do": "fill", "target": {"by": "label", "value": label}, "value": value}


def procedure_of(steps: list[JsonObject], expected: str) -> Procedure:
    """Return a procedure that ends in the expectation of a text."""
    numbered = [{**step, "id": f"step-{number}"} for number, step in enumerate(steps, 1)]
    shown = {"expect": "text", "id": "expect-1", "contains": expected}
    body = {"title": "small", "steps": numbered, "expectations": [shown]}
    secret = any("secret" in step for step in steps)
    return Procedure.model_validate({**body, "secrets": ["GUEST_NAME"] if secret else []})


START: JsonObject = {"do": "navigate", "path": "/"}
SIX_PEOPLE = procedure_of(
    [
        START,
        fill("Cars", "1"),
        fill("People", "5"),
        {"do": "click", "target": {"by": "control", "value": "Ask"}},
    ],
    "The crossing is 60 crowns.",
)
BY_SECRET: JsonObject = {
    "do": "fill",
    "target": {"by": "label", "value": "Name"},
    "secret": "GUEST_NAME",
}
BOOKING = procedure_of(
    [
        START,
        BY_SECRET,
        fill("Seats", "2"),
        {"do": "click", "target": {"by": "role", "value": "button", "name": "Book"}},
    ],
    "has 2 seats",
)
ELDEST = procedure_of([START], "Ada, 1931")
RIGHT = {
    "ferry": (SIX_PEOPLE, "app/pages.py", "    if people >= 5:"),
    "choir": (ELDEST, "app/pages.py", "ORDER BY born ASC"),
    "cinema": (BOOKING, "app/form.html", 'name="seats"'),
}


def prior_of(proposals: list[Proposal]) -> tuple[PriorCandidate, ...]:
    """Return proposals as candidates that were verified and failed."""
    return tuple(
        PriorCandidate(ordinal=number, patch_sha256="-", patch=each.patch, why_failed="it failed")
        for number, each in enumerate(proposals, 1)
    )


def test_an_earlier_candidate_is_known_again_in_another_spelling(tmp_path: Path) -> None:
    repair = Repair(tmp_path, APPS["ferry"])
    first = repair.propose(SIX_PEOPLE)
    spelled = "".join(
        f"{line.rstrip()}  # in other words\n" if line.startswith("+ ") else line
        for line in first.patch.splitlines(keepends=True)
    )
    assert spelled != first.patch
    second = repair.propose(
        SIX_PEOPLE, prior=prior_of([first.model_copy(update={"patch": spelled})])
    )
    assert second.patch != first.patch


@pytest.mark.parametrize("name", RIGHT)
def test_a_fault_in_a_small_application_is_repaired_within_three_candidates(
    tmp_path: Path, name: str
) -> None:
    procedure, path, right = RIGHT[name]
    repair = Repair(tmp_path, APPS[name])
    before: Mapping[Path, bytes] = {p: p.read_bytes() for p in repair.workspace.rglob("*.*")}
    proposals: list[Proposal] = []
    while len(proposals) < 3 and not any(right in each.patch for each in proposals):
        proposals.append(repair.propose(procedure, prior=prior_of(proposals)))
    assert f"+++ b/{path}\n" in proposals[-1].patch
    assert any(line.startswith("+") and right in line for line in proposals[-1].patch.splitlines())
    assert "passes the procedure and the checks" in proposals[-1].hypothesis
    assert {p: p.read_bytes() for p in before} == before
    assert SECRET not in str([each.to_json() for each in proposals]) + str(repair.said)


def test_a_report_that_the_checks_contradict_gets_three_candidates_that_differ(
    tmp_path: Path,
) -> None:
    repair = Repair(tmp_path, APPS["lift"])
    procedure = procedure_of([{"do": "navigate", "path": "/?people=9"}], "9 may ride")
    proposals: list[Proposal] = []
    for _ in range(3):
        proposals.append(repair.propose(procedure, most=20, prior=prior_of(proposals)))
    assert len({each.patch for each in proposals}) == 3
    assert "against the checks" in proposals[0].hypothesis
    assert not any("passes the procedure and the checks" in each.hypothesis for each in proposals)


def test_what_only_comes_closer_is_said_to_be_no_repair_and_keeps_the_checks(
    tmp_path: Path,
) -> None:
    repair = Repair(tmp_path, APPS["lift"])
    procedure = procedure_of([{"do": "navigate", "path": "/?people=9"}], "nowhere in the code")
    said = repair.propose(procedure, most=20).hypothesis
    assert "changes what is seen, and the checks pass" in said


def test_a_procedure_that_needs_a_browser_is_screened_by_the_failing_checks(
    tmp_path: Path,
) -> None:
    app = replace(
        APPS["ferry"], check="from app.pages import fare\nassert fare(1, 5) == 60, fare(1, 5)\n"
    )
    procedure = procedure_of([START, {"do": "press", "key": "ArrowDown"}], "60 crowns")
    proposal = Repair(tmp_path, app).propose(procedure)
    assert "the application's checks alone: it makes those pass that fail" in proposal.hypothesis


def test_a_candidate_that_nothing_speaks_for_is_said_to_be_one(tmp_path: Path) -> None:
    procedure = procedure_of([START, {"do": "press", "key": "ArrowDown"}], "60 crowns")
    proposal = Repair(tmp_path, APPS["ferry"]).propose(procedure)
    assert "which does not show that it repairs anything" in proposal.hypothesis


def test_a_forbidden_path_leaves_no_idea(tmp_path: Path) -> None:
    repair = Repair(tmp_path, APPS["ferry"])
    with pytest.raises(ActivityFailed, match="no different candidate") as caught:
        repair.propose(SIX_PEOPLE, forbidden_paths=("app",))
    assert caught.value.kind is FailureKind.DOMAIN_NEGATIVE


def test_a_connection_that_the_application_drops_is_a_fault_and_not_the_end(
    tmp_path: Path,
) -> None:
    """The faulty form makes the handler raise, and the server closes without an answer."""
    proposal = Repair(tmp_path, APPS["cinema"]).propose(BOOKING)
    assert "passes the procedure" in proposal.hypothesis
