"""Activities that test: reproduce on the base, verify a candidate as the commit it becomes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from activities.activity import Context, Outcome
from activities.artifacts import ArtifactStore, ArtifactUnreadable
from activities.environment.application_file import read_application_file
from activities.environment.provider import Environments, Prepared
from activities.secrets import SecretSource
from activities.workspace.policy import PatchLimits, narrowed
from activities.workspace.restore import Commit, Workspaces, apply_patch, build_commit
from orchestrator.contracts import work
from orchestrator.contracts.evidence import ArtifactRef, CheckEvidence, ReplayEvidence, StepResult
from orchestrator.contracts.payload import JsonObject, Payload, canonical
from orchestrator.contracts.procedure import Procedure
from orchestrator.domain.failures import ActivityFailed, FailureKind
from orchestrator.store.artifacts import Binding


@dataclass(frozen=True)
class Bench:
    """What testing activities share: where files, workspaces, environments and secrets are."""

    artifacts: ArtifactStore
    workspaces: Workspaces
    environments: Environments
    secrets: SecretSource

    def procedure(self, sha256: str) -> Procedure:
        """Return a stored procedure. Raises ActivityFailed, permanent, when it is unreadable."""
        return Procedure.from_json(self.stored(sha256))

    def stored(self, sha256: str) -> JsonObject:
        """Return a stored JSON artifact. Raises ActivityFailed, permanent."""
        try:
            read = _json(self.artifacts.read(sha256))
        except ArtifactUnreadable as fault:
            raise ActivityFailed(FailureKind.PERMANENT, str(fault)) from fault
        if read is None:
            raise ActivityFailed(FailureKind.PERMANENT, f"artifact {sha256} is no JSON object")
        return read

    def text(self, sha256: str) -> str:
        """Return a stored text. Raises ActivityFailed, permanent."""
        try:
            return self.artifacts.read(sha256).decode()
        except (ArtifactUnreadable, UnicodeDecodeError) as fault:
            raise ActivityFailed(FailureKind.PERMANENT, str(fault)) from fault

    def keep(self, evidence: Payload, name: str) -> ArtifactRef:
        """Store evidence as its canonical JSON."""
        return self.artifacts.put(canonical(evidence.to_json()), evidence.KIND, name)


@dataclass
class Reproduce:
    """Play the procedure on the base; the workspace is made for this attempt and goes with it."""

    bench: Bench
    name: str = "reproduce"
    queue: str = "browser"

    def run(self, given: JsonObject, context: Context) -> Outcome:
        """Return the verdict with its evidence."""
        asked = work.Replay.model_validate(given)
        procedure = self.bench.procedure(asked.procedure_sha256)
        values = self.bench.secrets.some(procedure.secrets)
        with self.bench.workspaces.checkout(
            asked.repository, asked.revision, context.run_tag, f"reproduce-{context.generation}"
        ) as workspace:
            environments = self.bench.environments
            prepared = environments.prepare(
                workspace, asked.revision, asked.repository, context.run_tag, context.stop.event
            )
            evidence = environments.replay(
                prepared,
                procedure,
                values,
                progress=context.progress,
                stop=context.stop.event,
            )
        ref = self.bench.keep(evidence, "reproduction.json")
        expected, observed = summary(evidence)
        result = work.Replayed(
            verdict=evidence.verdict,
            revision=asked.revision,
            procedure_sha256=asked.procedure_sha256,
            environment_sha256=evidence.environment_sha256,
            evidence_sha256=ref.sha256,
            expected=expected,
            observed=observed,
            tier=evidence.tier,
            browser=evidence.browser,
        )
        files = (ref, *attached(evidence, "base"))
        return Outcome(result.model_dump(mode="json"), files, binding(evidence))


@dataclass
class VerifyCandidate:
    """Build the candidate's commit on a fresh checkout and test exactly that commit."""

    bench: Bench
    name: str = "verify-candidate"
    queue: str = "browser"

    def run(self, given: JsonObject, context: Context) -> Outcome:
        """Return whether it passes checks and replay, with the evidence of both."""
        asked = work.Verify.model_validate(given)
        procedure = self.bench.procedure(asked.procedure_sha256)
        values = self.bench.secrets.some(procedure.secrets)
        with self.bench.workspaces.checkout(
            asked.repository, asked.revision, context.run_tag, f"verify-{context.generation}"
        ) as workspace:
            commit = self._commit(asked, workspace)
            revision = commit.revision if commit else asked.revision
            prepared = self.bench.environments.prepare(
                workspace, revision, asked.repository, context.run_tag, context.stop.event
            )
            checks = self.bench.environments.check(prepared, asked.patch_sha256, context.stop.event)
            context.progress({"checks": checks.passed})
            replay = self._replay(asked, prepared, procedure, values, context, checks)
        return self._outcome(asked, commit, revision, checks, replay)

    def _commit(self, asked: work.Verify, place: Path) -> Commit | None:
        if asked.patch_sha256 is None:
            return None
        reach = narrowed(asked.allowed_paths, read_application_file(place).source)
        limits = PatchLimits(reach, asked.max_files, asked.max_patch_bytes)
        apply_patch(place, self.bench.text(asked.patch_sha256), limits)
        return build_commit(place, asked.message, asked.committed_at)

    def _replay(
        self,
        asked: work.Verify,
        prepared: Prepared,
        procedure: Procedure,
        values: dict[str, str],
        context: Context,
        checks: CheckEvidence,
    ) -> ReplayEvidence | None:
        """Replay only what the application's own checks let pass."""
        if not checks.passed:
            return None
        return self.bench.environments.replay(
            prepared,
            procedure,
            values,
            asked.patch_sha256,
            context.progress,
            context.stop.event,
        )

    def _outcome(
        self,
        asked: work.Verify,
        commit: Commit | None,
        revision: str,
        checks: CheckEvidence,
        replay: ReplayEvidence | None,
    ) -> Outcome:
        files = [self.bench.keep(checks, "checks.json")]
        checks_sha256 = files[0].sha256
        files += [checks.log] if checks.log else []
        replay_sha256 = None
        if replay is not None:
            ref = self.bench.keep(replay, "replay.json")
            replay_sha256 = ref.sha256
            files += [ref, *attached(replay, "candidate")]
        bundle = None
        if commit is not None:
            bundle = self.bench.artifacts.put(commit.bundle, "bundle", f"{revision}.bundle")
            files.append(bundle)
        result = work.Verified(
            passed=checks.passed and replay is not None and replay.verdict == "passed",
            why=why(checks, replay),
            base_revision=asked.revision,
            commit=revision,
            bundle_sha256=bundle.sha256 if bundle else None,
            environment_sha256=checks.environment_sha256,
            procedure_sha256=asked.procedure_sha256,
            checks_sha256=checks_sha256,
            replay_sha256=replay_sha256,
            tier=self.bench.environments.tier,
        )
        return Outcome(result.model_dump(mode="json"), tuple(files), binding(replay or checks))


def summary(evidence: ReplayEvidence) -> tuple[str, str]:
    """Return what was expected and what was seen, in a sentence each."""
    first = evidence.runs[0]
    unmet = [step for step in first.steps if step.status != "ok"]
    shown = unmet or [step for step in first.steps if step.expected]
    expected = "; ".join(step.expected for step in shown if step.expected) or "-"
    observed = "; ".join(_seen(step) for step in shown) or "-"
    return expected[:600], observed[:600]


def why(checks: CheckEvidence, replay: ReplayEvidence | None) -> str:
    """Return in a sentence why a candidate passed or failed."""
    if not checks.passed:
        lines = [line for line in checks.output_tail.splitlines() if line.strip()]
        return f"the application's own checks fail: {' '.join(lines[-4:])}"[:600]
    if replay is None:
        return "it was not replayed"
    passed = sum(run.verdict == "passed" for run in replay.runs)
    said = f"the procedure passes in {passed} of {len(replay.runs)} runs"
    if replay.verdict == "passed":
        return f"{said}, and the application's own checks pass"
    return f"{said}; {summary(replay)[1]}"[:600]


def attached(evidence: ReplayEvidence, where: str) -> Sequence[ArtifactRef]:
    """Return the evidence's pictures and traces, named by where they were taken."""
    refs = [
        ref
        for run in evidence.runs
        for ref in (*(step.screenshot for step in run.steps), *run.artifacts)
        if ref is not None
    ]
    return [ref.model_copy(update={"name": f"{where}/{ref.name}"}) for ref in refs]


def binding(evidence: ReplayEvidence | CheckEvidence) -> Binding:
    """Return what the evidence's files were obtained on."""
    procedure = evidence.procedure_sha256 if isinstance(evidence, ReplayEvidence) else None
    return Binding(evidence.revision, procedure, evidence.environment_sha256)


def _seen(step: StepResult) -> str:
    return step.observed or f"{step.id}: {step.status}"


def _json(data: bytes) -> JsonObject | None:
    try:
        read = json.loads(data)
    except ValueError:
        return None
    return read if isinstance(read, dict) else None
