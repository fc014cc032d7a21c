"""Measure how often the offline repairer repairs faults that it did not make.

    python -m benchmarks.repair_rates [--mutants 20] [--seed 7] [--most-screened 60] [--quick]

No fault is counted twice. Each mutant makes at least one scenario's last page differ from the
faultless application's. It counts as repaired only if, under the first candidate, every scenario
shows what the faultless application shows and the application's own checks pass; as plausible if
the failing scenario passes and the checks do.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from activities.artifacts import ArtifactStore
from activities.environment.provider import Environments, Prepared
from activities.flagship.proposing import hurried
from activities.model.provider import ScreeningSession, Workbench
from activities.repair.light import LightClient, NotExpressible
from activities.repair.repairer import OfflineRepairer
from benchmarks.corpus.mutator import Mutant, mutants
from benchmarks.corpus.scenarios import REFUGE, SHOP, Scenario, scenarios
from orchestrator.contracts.evidence import ProcedureRun, ReplayEvidence, StepResult
from orchestrator.contracts.proposal import ProposalRequest
from orchestrator.domain.failures import ActivityFailed
from sandbox.app_repository import APP, SECOND_APP, build
from sandbox.reports import DEMO_SECRETS

PATCHES = Path(__file__).parents[1] / "tests" / "app" / "reference_patches"
WINDOW = 4
QUICK = (4, 25)
LOST = "(the page was not reached)"


@dataclass(frozen=True)
class Row:
    """What became of one mutant."""

    application: str
    kind: str
    result: str
    operator: str


@dataclass
class Subject:
    """One application in a workspace, with what its faultless form shows."""

    name: str
    prepared: Prepared
    environments: Environments
    cases: list[Scenario]

    def pages(self, session: ScreeningSession) -> dict[str, str]:
        """Return the last page of every scenario, each on fresh data."""
        return {case.name: self._page(session, case) for case in self.cases}

    def passes_checks(self, session: ScreeningSession) -> bool:
        """Run the application's own checks."""
        checks = self.prepared.application.check
        done = [session.run(list(c), checks.timeout_s).returncode for c in checks.commands]
        return not any(done)

    def _page(self, session: ScreeningSession, case: Scenario) -> str:
        try:
            session.start_app()
            played = LightClient(session, DEMO_SECRETS).play(case.procedure("x"))
        except (ActivityFailed, NotExpressible):
            return LOST
        return LOST if played.broke else played.texts[-1]


def main() -> None:
    """Measure both applications and print the tables."""
    words = argparse.ArgumentParser()
    words.add_argument("--mutants", type=int, default=20)
    words.add_argument("--seed", type=int, default=7)
    words.add_argument("--most-screened", type=int, default=60)
    words.add_argument("--application", choices=("shop", "refuge"))
    words.add_argument("--quick", action="store_true", help="four mutants each, 25 screened")
    given = words.parse_args()
    if given.quick:
        given.mutants, given.most_screened = QUICK
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name, Progress(console=Console(stderr=True)) as bar:
        home = Path(name)
        environments = Environments(home, ArtifactStore(home / "artifacts"))
        for subject in subjects(environments):
            if given.application not in (None, subject.name):
                continue
            task = bar.add_task(subject.name, total=given.mutants)
            for row in measure(subject, given.mutants, given.seed, given.most_screened):
                rows.append(row)
                bar.console.print(row)
                bar.advance(task)
    show(rows)


def subjects(environments: Environments) -> Iterator[Subject]:
    """Yield both applications without faults, each in a workspace of its own."""
    for name, source, cases, patches in (
        ("shop", APP, SHOP, sorted(PATCHES.glob("*.patch"))),
        ("refuge", SECOND_APP, REFUGE, []),
    ):
        place = environments.folder(name) / "work" / "clean"
        place.parent.mkdir(parents=True)
        revision = build(source, place)
        for patch in patches:
            subprocess.run(["git", "apply", str(patch)], cwd=place, check=True)
        prepared = hurried(environments.prepare(place, revision, f"demo/{name}", name))
        yield Subject(name, prepared, environments, scenarios(cases))


def measure(subject: Subject, wanted: int, seed: int, most: int) -> Iterator[Row]:
    """Yield a row for each mutant that a user would notice, until there are enough."""
    workspace = subject.prepared.workspace
    with subject.environments.session(subject.prepared) as session:
        right = subject.pages(session)
    found = 0
    met: set[tuple[str, str]] = set()
    for mutant in mutants(workspace, subject.prepared.application.source, seed):
        if (mutant.path, mutant.text) in met:
            continue
        met.add((mutant.path, mutant.text))
        original = (workspace / mutant.path).read_text()
        (workspace / mutant.path).write_text(mutant.text)
        try:
            row = _one(subject, mutant, right, most)
        finally:
            (workspace / mutant.path).write_text(original)
        if row is not None:
            found += 1
            yield row
        if found >= wanted:
            return


def _one(subject: Subject, mutant: Mutant, right: dict[str, str], most: int) -> Row | None:
    with subject.environments.session(subject.prepared) as session:
        wrong = subject.pages(session)
    differing = [case for case in subject.cases if wrong[case.name] != right[case.name]]
    for case in differing:
        text = _missing(right[case.name], wrong[case.name])
        if text is not None:
            result, operator = _repair(subject, case, text, wrong[case.name], right, most)
            return Row(subject.name, mutant.kind, result, operator)
    return None


def _repair(
    subject: Subject, case: Scenario, text: str, seen: str, right: dict[str, str], most: int
) -> tuple[str, str]:
    """Return whether the first candidate is a repair, plausible, wrong, or there is none."""
    workspace = subject.prepared.workspace
    bench = Workbench(
        workspace=workspace,
        application=subject.prepared.application,
        secrets=DEMO_SECRETS,
        open_session=lambda: subject.environments.session(subject.prepared),
    )
    step = StepResult(id="expect-1", status="assertion-failed", expected=text, observed=seen[:600])
    request = ProposalRequest(
        ordinal=1,
        report_title=case.name,
        report_text=case.steps,
        procedure=case.procedure(text),
        reproduction=ReplayEvidence(
            verdict="failed",
            revision=subject.prepared.spec.revision,
            procedure_sha256="-",
            environment_sha256="-",
            browser="-",
            tier="-",
            runs=(ProcedureRun(verdict="failed", steps=(step,)),),
        ),
        allowed_paths=(),
    )
    try:
        proposal = OfflineRepairer(most).propose(request, bench)
    except ActivityFailed:
        return "none", ""
    return _judge(subject, proposal.patch, case, text, right), proposal.operator


def _judge(subject: Subject, patch: str, case: Scenario, text: str, right: dict[str, str]) -> str:
    workspace = subject.prepared.workspace
    kept = workspace.with_name("kept")
    shutil.copytree(workspace, kept, symlinks=True)
    try:
        subprocess.run(["git", "apply", "-"], cwd=workspace, input=patch.encode(), check=True)
        with subject.environments.session(subject.prepared) as session:
            pages, checks = subject.pages(session), subject.passes_checks(session)
    finally:
        shutil.rmtree(workspace)
        kept.rename(workspace)
    if checks and pages == right:
        return "repaired"
    if checks and text in pages[case.name]:
        return "plausible"
    return "wrong"


def _missing(right: str, wrong: str) -> str | None:
    """Return some words that the right page shows and the wrong one does not."""
    words = right.split()
    for size in range(1, WINDOW + 1):
        for at in range(len(words) - size + 1):
            text = " ".join(words[at : at + size])
            if text not in wrong and len(text) > 2 and '"' not in text:
                return text
    return None


def show(rows: list[Row]) -> None:
    """Print the rates by application, by kind of fault and by repairing operator."""
    console = Console()
    for title, column in (
        ("application", "application"),
        ("kind of fault", "kind"),
        ("operator of the first candidate", "operator"),
    ):
        counts: dict[str, Counter[str]] = {}
        for row in rows:
            named = str(getattr(row, column)) or "(none)"
            counts.setdefault(named, Counter())[row.result] += 1
        table = Table(title, "mutants", "repaired", "plausible", "wrong", "none", "rate")
        for name, count in sorted(counts.items()):
            total = sum(count.values())
            results = [str(count[r]) for r in ("repaired", "plausible", "wrong", "none")]
            table.add_row(name, str(total), *results, f"{count['repaired'] / total:.0%}")
        console.print(table)


if __name__ == "__main__":
    main()
