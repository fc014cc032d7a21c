"""The flagship's checkpoint: typed facts from which any worker goes on. No prose, no payloads.

Large things (traces, screenshots, patches, logs) are artifacts; here stand their hashes.
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from pydantic import Field

from orchestrator.contracts.payload import JsonObject, Payload, Shape
from orchestrator.contracts.requests import Branch, Repository, Revision

MOST_REPAIR_ATTEMPTS = 20
MOST_ESCALATIONS = 20


class Phase(StrEnum):
    """The definition's own stages."""

    TICKETING = "ticketing"
    PREPARING_ENVIRONMENT = "preparing-environment"
    REPRODUCING = "reproducing"
    DIAGNOSING = "diagnosing"
    VERIFYING_FIX = "verifying-fix"
    PUBLISHING = "publishing"
    AWAITING_REVIEW = "awaiting-review"
    MERGING = "merging"
    CLOSING = "closing"


class Outcome(StrEnum):
    """How a bug repair ends."""

    MERGED = "merged"
    NEEDS_HUMAN_TRIAGE = "needs-human-triage"
    REPAIR_BUDGET_EXHAUSTED = "repair-budget-exhausted"
    REJECTED = "rejected"
    NEEDS_HUMAN_REVIEW = "needs-human-review"
    CANCELLED = "cancelled"
    DEADLINE_EXCEEDED = "deadline-exceeded"


class BugReport(Shape):
    """What was submitted."""

    repository: Repository
    title: str = Field(min_length=1, max_length=200)
    text: str = Field(min_length=1, max_length=50_000)
    base: Branch = "main"


class WorkContract(Shape):
    """What the run may do, within which limits, and what done means."""

    repository: Repository
    allowed_paths: tuple[str, ...] = ()
    repair_attempts: int = Field(default=4, ge=1, le=MOST_REPAIR_ATTEMPTS)
    max_files: int = Field(default=3, ge=1, le=50)
    max_patch_bytes: int = Field(default=20_000, ge=100, le=1_000_000)
    escalations: int = Field(default=3, ge=1, le=MOST_ESCALATIONS)
    approval_expires_s: float = Field(default=172_800.0, ge=1.0)
    deadline_s: float = Field(default=1_209_600.0, ge=1.0, le=31_536_000.0)
    may_publish_draft: bool = True
    may_merge_after_approval: bool = True
    reviewers: tuple[str, ...] = ()
    merge_method: str = Field(default="merge", pattern="^(merge|squash)$")
    policy_version: str = "1"
    done_means: str = (
        "the same procedure that failed on the base passes in every run on the exact commit, and "
        "the application's own checks pass"
    )


class TicketFact(Shape):
    """The ticket as the tracker names it."""

    number: int
    operation_id: str


class EnvironmentFact(Shape):
    """What rebuilds the environment; `last_observed_status` is an earlier observation."""

    tag: str
    recovery_spec: str | None = None
    environment_sha256: str | None = None
    last_observed_status: str = "registered"


class ReproductionFact(Shape):
    """The accepted reproduction and what it was obtained on."""

    status: str
    revision: Revision
    procedure_sha256: str
    environment_sha256: str
    evidence_sha256: str
    expected: str
    observed: str
    tier: str
    browser: str


class CandidateFact(Shape):
    """One candidate change and what became of it."""

    ordinal: int
    patch_sha256: str
    hypothesis: str
    provider: str
    verification_status: str = "pending"
    why: str = ""
    commit: Revision | None = None
    base_revision: Revision | None = None
    bundle_sha256: str | None = None
    environment_sha256: str | None = None
    checks_sha256: str | None = None
    replay_sha256: str | None = None


class PublicationFact(Shape):
    """What stands at the host: branch, its head, the pull request, the evidence's manifest."""

    branch: Branch
    head: Revision
    base_revision: Revision
    pushed: bool = False
    has_foreign_commits: bool = False
    pull_request: int | None = None
    manifest: JsonObject = {}
    manifest_sha256: str = ""


class PendingApproval(Shape):
    """What a person was asked."""

    ordinal: int
    head: Revision
    base: Branch
    base_revision: Revision
    manifest_sha256: str
    policy_version: str


class ClosingFact(Shape):
    """How the run ends and what is still to be done for it, in order."""

    outcome: Outcome
    reason: str
    todo: tuple[str, ...]


class BugRepairState(Payload):
    """Workflow id and version, phase, target revision, attempt, ticket, environment,
    reproduction, candidate change and pending approval."""

    KIND: ClassVar[str] = "bug-repair"

    workflow_id: str
    workflow_version: int
    phase: Phase
    report: BugReport
    contract: WorkContract
    started_at: str = ""
    procedure_sha256: str | None = None
    target_revision: Revision | None = None
    repair_attempt: int = 0
    ticket: TicketFact | None = None
    environment: EnvironmentFact | None = None
    reproduction: ReproductionFact | None = None
    candidates: tuple[CandidateFact, ...] = ()
    publication: PublicationFact | None = None
    publications: int = 0
    approvals_asked: int = 0
    revalidations: int = 0
    pending_approval: PendingApproval | None = None
    merge_commit: Revision | None = None
    closing: ClosingFact | None = None
    closings: int = 0

    @property
    def candidate_change(self) -> CandidateFact | None:
        """The newest candidate."""
        return self.candidates[-1] if self.candidates else None
