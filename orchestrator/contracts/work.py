"""Inputs and results of the flagship's activities: focused, built from durable facts."""

from __future__ import annotations

from typing import Literal

from orchestrator.contracts.payload import Shape
from orchestrator.contracts.requests import Branch, Number, Repository, Revision


class DeriveProcedure(Shape):
    """A report in plain language."""

    title: str
    text: str


class DerivedProcedure(Shape):
    """The procedure's artifact, or what the report lacks; never both."""

    procedure_sha256: str | None = None
    missing: tuple[str, ...] = ()


class ResolveRevision(Shape):
    """Which revision a branch stands on."""

    repository: Repository
    base: Branch


class ResolvedRevision(Shape):
    """The branch's revision as the repository itself said."""

    revision: Revision


class ProvisionedEnvironment(Shape):
    """The environment's recovery input, and what was last observed of it."""

    spec_sha256: str
    environment_sha256: str
    tier: str


class Replay(Shape):
    """Replay a procedure on a revision as it stands."""

    repository: Repository
    revision: Revision
    procedure_sha256: str
    secrets: tuple[str, ...] = ()


class Replayed(Shape):
    """What n runs of the procedure came to, with the evidence that says so."""

    verdict: Literal["passed", "failed", "flaky", "inconclusive"]
    revision: Revision
    procedure_sha256: str
    environment_sha256: str
    evidence_sha256: str
    expected: str
    observed: str
    tier: str
    browser: str


class Propose(Shape):
    """Ask for one candidate that differs from the earlier ones."""

    ordinal: int
    repository: Repository
    revision: Revision
    title: str
    text: str
    procedure_sha256: str
    reproduction_sha256: str
    allowed_paths: tuple[str, ...]
    prior: tuple[tuple[str, str], ...] = ()
    max_files: int
    max_patch_bytes: int


class Proposed(Shape):
    """A candidate's patch artifact and why it should help."""

    patch_sha256: str
    hypothesis: str
    provider: str
    operator: str = ""
    screened: int = 0


class Verify(Shape):
    """Build the candidate's commit on the revision and test exactly that commit.

    `patch_sha256` None verifies the revision as it stands, as after others changed the branch.
    """

    repository: Repository
    revision: Revision
    patch_sha256: str | None
    procedure_sha256: str
    allowed_paths: tuple[str, ...]
    max_files: int
    max_patch_bytes: int
    message: str
    committed_at: str


class Verified(Shape):
    """What became of the candidate. `commit` is the revision that was tested, and no other."""

    passed: bool
    why: str
    base_revision: Revision
    commit: Revision
    bundle_sha256: str | None
    environment_sha256: str
    procedure_sha256: str
    checks_sha256: str | None
    replay_sha256: str | None
    tier: str


class Revalidate(Shape):
    """Read a pull request, its branch and its base again."""

    repository: Repository
    number: Number
    branch: Branch
    base: Branch


class Revalidated(Shape):
    """The outside as it stands now; branch and base as the repository itself says."""

    state: Literal["open", "closed"]
    merged: bool
    draft: bool
    head: Revision | None
    base: Branch
    base_revision: Revision
