"""The repairer on real applications in a sandbox: it finds, differs, resumes and keeps secrets."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from activities.artifacts import ArtifactStore
from activities.environment.provider import Environments, Prepared
from activities.model.provider import Workbench
from activities.procedures.grammar import read_report
from activities.repair.light import LightClient
from activities.repair.repairer import OfflineRepairer
from activities.repair.screening import Screening
from orchestrator.contracts.evidence import ProcedureRun, ReplayEvidence, StepResult
from orchestrator.contracts.payload import JsonObject
from orchestrator.contracts.procedure import Procedure
from orchestrator.contracts.proposal import PriorCandidate, Proposal, ProposalRequest
from orchestrator.domain.failures import ActivityFailed
from sandbox.app_repository import APP, build
from sandbox.reports import DEMO_SECRETS, REPORTS

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def environments(tmp_path_factory: pytest.TempPathFactory) -> Environments:
    """Return the environments of a home of this module's own."""
    home = tmp_path_factory.mktemp("home")
    return Environments(home, ArtifactStore(home / "artifacts"))


@pytest.fixture
def prepared(environments: Environments, tmp_path: Path) -> Prepared:
    """Return the sample application in a workspace of this test's own."""
    tag = f"outlast-test-{tmp_path.name}"
    place = environments.folder(tag) / "work" / "a"
    place.parent.mkdir(parents=True)
    revision = build(APP, place)
    return environments.prepare(place, revision, "demo/shop", tag)


def request_for(name: str, **more: Any) -> ProposalRequest:
    """Return the request that a reproduced sample report leads to."""
    report = REPORTS[name]
    procedure = read_report(report.title, report.text)
    assert isinstance(procedure, Procedure)
    step = StepResult(id="expect-1", status="assertion-failed", expected="", observed="")
    fields: dict[str, Any] = {
        "ordinal": 1,
        "report_title": report.title,
        "report_text": report.text,
        "procedure": procedure,
        "reproduction": ReplayEvidence(
            verdict="failed",
            revision="a" * 40,
            procedure_sha256="-",
            environment_sha256="-",
            browser="-",
            tier="-",
            runs=(ProcedureRun(verdict="failed", steps=(step,)),),
        ),
        "allowed_paths": (),
    }
    return ProposalRequest(**{**fields, **more})


def propose(
    environments: Environments,
    prepared: Prepared,
    request: ProposalRequest,
    most: int = 60,
    **more: Any,
) -> Proposal:
    """Ask the repairer."""
    bench = Workbench(
        workspace=prepared.workspace,
        application=prepared.application,
        secrets=DEMO_SECRETS,
        open_session=lambda: environments.session(prepared),
        **more,
    )
    return OfflineRepairer(most_screened=most).propose(request, bench)


@pytest.mark.parametrize("name", ["paging", "total", "address"])
def test_a_sample_fault_is_repaired_by_the_first_candidate(
    environments: Environments, prepared: Prepared, name: str
) -> None:
    said: list[JsonObject] = []
    proposal = propose(environments, prepared, request_for(name), progress=said.append)
    assert "passes the procedure and the checks" in proposal.hypothesis
    assert proposal.patch.count("\n@@") == 1
    words = proposal.model_dump_json() + str(said)
    assert not any(secret in words for secret in DEMO_SECRETS.values())


def test_the_same_request_gives_the_same_proposal_and_leaves_the_base_as_it_was(
    environments: Environments, prepared: Prepared
) -> None:
    before = {p: p.read_bytes() for p in (prepared.workspace / "shop").rglob("*.py")}
    first = propose(environments, prepared, request_for("total"))
    assert propose(environments, prepared, request_for("total")).patch == first.patch
    assert {p: p.read_bytes() for p in (prepared.workspace / "shop").rglob("*.py")} == before


def test_an_earlier_candidate_is_never_proposed_again(
    environments: Environments, prepared: Prepared, tmp_path: Path
) -> None:
    memo = tmp_path / "memo"
    first = propose(environments, prepared, request_for("total"), memo=memo)
    prior = PriorCandidate(ordinal=1, patch_sha256="-", patch=first.patch, why_failed="said so")
    second = propose(environments, prepared, request_for("total", prior=(prior,)), 25, memo=memo)
    assert second.patch != first.patch


def test_an_interrupted_search_goes_on_from_its_substate(
    environments: Environments, prepared: Prepared
) -> None:
    said: list[JsonObject] = []
    first = propose(environments, prepared, request_for("total"), progress=said.append)
    fresh: list[JsonObject] = []
    again = propose(
        environments, prepared, request_for("total"), progress=fresh.append, substate=said[-1]
    )
    assert again.patch == first.patch
    assert fresh[-1]["screened"] == said[-1]["screened"]


def test_nothing_outside_the_allowed_paths_is_touched(
    environments: Environments, prepared: Prepared
) -> None:
    request = request_for("total", allowed_paths=("shop/money.py",))
    patch = propose(environments, prepared, request, most=15).patch
    assert [line for line in patch.splitlines() if line.startswith("+++")] == [
        "+++ b/shop/money.py"
    ]


def test_a_search_that_is_told_to_stop_stops(
    environments: Environments, prepared: Prepared
) -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(ActivityFailed, match="stopped as told"):
        propose(environments, prepared, request_for("total"), stop=stop)


def test_the_failing_procedures_way_through_the_code_is_known(
    environments: Environments, prepared: Prepared
) -> None:
    """Without it the ranking would be blind, and nothing else would say so."""
    bench = Workbench(
        workspace=prepared.workspace,
        application=prepared.application,
        secrets=DEMO_SECRETS,
        open_session=lambda: environments.session(prepared),
    )
    procedure = request_for("total").procedure
    with environments.session(prepared) as session:
        client = LightClient(session, DEMO_SECRETS)
        trail = Screening(bench).look_at_base(
            session, client, lambda playing, after: playing.play(procedure, after)
        )
    files = {path for path, _ in trail.executed}
    assert "shop/basket.py" in files
    assert trail.late <= trail.executed
    assert not any(path.startswith(("tests/", ".deps")) for path in files)
    assert list(prepared.workspace.glob(".trace-*")) == []
