"""What the demonstration reads when the run has ended: the outside's records, not our tables."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from activities.artifacts import ArtifactStore
from activities.environment.provider import Environments
from activities.procedures.grammar import Missing, read_report
from activities.secrets import SecretSource
from cli.client import Client
from cli.commands import look
from cli.outside import Outside, shown_head
from orchestrator.contracts.payload import JsonObject
from sandbox.acceptance.check import check
from sandbox.reports import SampleReport


@dataclass(frozen=True)
class Fact:
    """One promise, whether it holds, and what was read that says so."""

    what: str
    holds: bool
    read: str


def examine(
    outside: Outside, sample: SampleReport, shown: JsonObject, tag: str, home: Path
) -> list[Fact]:
    """Return every fact of the ending, for the outcome that the report truly has."""
    facts = [
        Fact("outcome", shown["outcome"] == sample.outcome, f"{shown['outcome']}"),
        _reason(sample, shown),
        _count("tickets of this run", len(outside.tickets(tag)), 1),
        _count("running environments", len(outside.environments(tag)), 0),
    ]
    merges = sample.outcome == "merged"
    facts.append(_count("branches of this run", len(outside.branches(tag)), int(merges)))
    pulls = outside.pulls(tag)
    facts.append(_count("pull requests of this run", len(pulls), int(merges)))
    if merges and pulls:
        facts += _merged(outside, sample, pulls[0], home)
    return facts


def keep_pictures(operator: Client, run: str, folder: Path) -> None:
    """Put screenshots, traces, patch, logs and the timeline into a folder, by their names."""
    rows = operator.get(f"/v1/runs/{run}/evidence")["artifacts"]
    for row in rows:
        target = folder / row["name"]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(operator.download(f"/v1/runs/{run}/artifacts/{row['sha256']}"))
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "nothing").open("w") as nowhere:
        picture = Console(record=True, width=120, file=nowhere)
        picture.print(look(operator, run))
    (folder / "nothing").unlink()
    picture.save_svg(str(folder / "timeline.svg"), title=run)
    history = operator.get(f"/v1/runs/{run}/history")
    (folder / "history.json").write_text(json.dumps(history, indent=2))


def _merged(outside: Outside, sample: SampleReport, pull: JsonObject, home: Path) -> Iterator[Fact]:
    """Yield the facts of a merge: its head, and the repaired application built anew from it."""
    yield Fact("pull request merged", pull["merged"] is True, f"#{pull['number']}")
    verified = shown_head(pull)
    head = pull["head"]["sha"]
    yield Fact("head is the verified revision", head == verified, head[:12])
    with tempfile.TemporaryDirectory() as name:
        base, merge = Path(name) / "base", Path(name) / "merge"
        outside.clone(base, pull["base"]["sha"])
        outside.clone(merge, pull["merge_commit_sha"])
        red = check(base, sample.name)
        green = check(merge, sample.name)
        yield Fact("acceptance check red on the base", bool(red), f"{len(red)} problems")
        yield Fact("acceptance check green on the merge", not green, "; ".join(green) or "none")
    yield _replayed(outside, sample, pull["merge_commit_sha"], home)


def _replayed(outside: Outside, sample: SampleReport, revision: str, home: Path) -> Fact:
    """Play the procedure in a browser on merged main, cloned anew."""
    environments = Environments(home, ArtifactStore(home / "artifacts"))
    place = environments.folder("demo-proof") / "work" / "merged"
    place.parent.mkdir(parents=True, exist_ok=True)
    outside.clone(place, revision)
    procedure = read_report(sample.title, sample.text)
    if isinstance(procedure, Missing):
        return Fact("procedure passes on merged main", False, "the report has no procedure")
    prepared = environments.prepare(place, revision, outside.repository, "demo-proof")
    secrets = SecretSource(home / "secrets.toml").some(procedure.secrets)
    evidence = environments.replay(prepared, procedure, secrets)
    passed = sum(run.verdict == "passed" for run in evidence.runs)
    said = f"{passed} of {len(evidence.runs)} runs, {evidence.tier}"
    return Fact("procedure passes on merged main", evidence.verdict == "passed", said)


def _reason(sample: SampleReport, shown: JsonObject) -> Fact:
    said = shown["reason"] or ""
    return Fact("reason", sample.reason in said, said[:100] or "-")


def _count(what: str, found: int, wanted: int) -> Fact:
    return Fact(what, found == wanted, f"{found}")
