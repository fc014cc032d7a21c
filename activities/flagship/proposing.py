"""Ask a model for the next candidate, with what is known and nothing more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from activities.activity import Context, Outcome
from activities.environment.provider import Prepared
from activities.flagship.verifying import Bench
from activities.model.provider import ModelProvider, Workbench
from activities.workspace.policy import PatchLimits, narrowed, violations
from orchestrator.contracts import work
from orchestrator.contracts.evidence import ReplayEvidence
from orchestrator.contracts.payload import JsonObject
from orchestrator.contracts.proposal import PriorCandidate, ProposalRequest
from orchestrator.domain.failures import ActivityFailed, FailureKind
from orchestrator.store.artifacts import Binding

SCREENING_READY_S = 4


@dataclass
class ProposeCandidate:
    """Restore the base, let the model propose, and check its answer against the contract (P20)."""

    bench: Bench
    model: ModelProvider
    memo: Path
    name: str = "propose-candidate"
    queue: str = "model"

    def run(self, given: JsonObject, context: Context) -> Outcome:
        """Return the candidate's patch as an artifact."""
        asked = work.Propose.model_validate(given)
        request = self._request(asked)
        with self.bench.workspaces.checkout(
            asked.repository, asked.revision, context.run_tag, f"propose-{context.generation}"
        ) as workspace:
            environments = self.bench.environments
            prepared = environments.prepare(
                workspace, asked.revision, asked.repository, context.run_tag, context.stop.event
            )
            workbench = Workbench(
                workspace=workspace,
                application=prepared.application,
                secrets=self.bench.secrets.some(request.procedure.secrets),
                open_session=lambda: environments.session(hurried(prepared), context.stop.event),
                progress=context.progress,
                stop=context.stop.event,
                substate=context.substate,
                memo=self.memo,
            )
            reach = narrowed(asked.allowed_paths, prepared.application.source)
            proposal = self.model.propose(
                request.model_copy(update={"allowed_paths": reach}), workbench
            )
        limits = PatchLimits(reach, asked.max_files, asked.max_patch_bytes)
        broken = violations(proposal.patch, limits)
        if broken:
            raise ActivityFailed(FailureKind.REFUSED, "the model's patch " + "; ".join(broken))
        name = f"candidate-{asked.ordinal}.patch"
        ref = self.bench.artifacts.put(proposal.patch.encode(), "patch", name)
        result = work.Proposed(
            patch_sha256=ref.sha256,
            hypothesis=proposal.hypothesis,
            provider=proposal.provider,
            operator=proposal.operator,
            screened=proposal.screened,
        )
        return Outcome(result.model_dump(mode="json"), (ref,), Binding(revision=asked.revision))

    def _request(self, asked: work.Propose) -> ProposalRequest:
        prior = tuple(
            PriorCandidate(
                ordinal=ordinal, patch_sha256=sha256, patch=self.bench.text(sha256), why_failed=why
            )
            for ordinal, (sha256, why) in enumerate(asked.prior, 1)
        )
        return ProposalRequest(
            ordinal=asked.ordinal,
            report_title=asked.title,
            report_text=asked.text,
            procedure=self.bench.procedure(asked.procedure_sha256),
            reproduction=ReplayEvidence.from_json(self.bench.stored(asked.reproduction_sha256)),
            allowed_paths=asked.allowed_paths,
            prior=prior,
            max_files=asked.max_files,
            max_patch_bytes=asked.max_patch_bytes,
        )


def hurried(prepared: Prepared) -> Prepared:
    """Return the same environment with little patience: a candidate that hangs is a dead one."""
    application = prepared.application
    ready = application.ready.model_copy(
        update={"timeout_s": min(SCREENING_READY_S, application.ready.timeout_s)}
    )
    hurried = application.model_copy(update={"ready": ready})
    return replace(prepared, spec=prepared.spec.model_copy(update={"application": hurried}))
