"""Activities that only read: a report's words, a branch's revision, a pull request's state."""

from __future__ import annotations

from dataclasses import dataclass

from activities.activity import Context, Outcome
from activities.artifacts import ArtifactStore
from activities.git.mirror import Remote, read_ref
from activities.github.pull_state import PullStates
from activities.procedures.grammar import Missing, read_report
from orchestrator.contracts import work
from orchestrator.contracts.payload import JsonObject, canonical
from orchestrator.domain.failures import ActivityFailed, FailureKind
from orchestrator.store.artifacts import Binding


@dataclass
class DeriveProcedure:
    """Read the report by the grammar; what it lacks is a result, not a failure."""

    artifacts: ArtifactStore
    name: str = "derive-procedure"
    queue: str = "model"

    def run(self, given: JsonObject, context: Context) -> Outcome:
        """Return the procedure's artifact, or what the report lacks."""
        report = work.DeriveProcedure.model_validate(given)
        read = read_report(report.title, report.text)
        if isinstance(read, Missing):
            return Outcome(work.DerivedProcedure(missing=read.lacks).model_dump(mode="json"))
        ref = self.artifacts.put(canonical(read.to_json()), "procedure", "procedure.json")
        result = work.DerivedProcedure(procedure_sha256=ref.sha256)
        binding = Binding(procedure_sha256=ref.sha256)
        return Outcome(result.model_dump(mode="json"), (ref,), binding)


@dataclass
class ResolveRevision:
    """Ask the repository itself where a branch stands."""

    remote: Remote
    name: str = "resolve-revision"
    queue: str = "git"

    def run(self, given: JsonObject, context: Context) -> Outcome:
        """Return the revision. A branch that does not exist is a permanent failure."""
        asked = work.ResolveRevision.model_validate(given)
        revision = read_ref(self.remote, asked.repository, f"refs/heads/{asked.base}")
        if revision is None:
            reason = f"{asked.repository} has no branch {asked.base}"
            raise ActivityFailed(FailureKind.PERMANENT, reason)
        return Outcome(work.ResolvedRevision(revision=revision).model_dump(mode="json"))


@dataclass
class RevalidatePullRequest:
    """Read pull request, branch and base again after the wait."""

    states: PullStates
    name: str = "revalidate"
    queue: str = "git"

    def run(self, given: JsonObject, context: Context) -> Outcome:
        """Return what stands outside now."""
        asked = work.Revalidate.model_validate(given)
        return Outcome(self.states.read(asked).model_dump(mode="json"))
