"""The canonical requests of every external mutation. Stored once, sent verbatim ever after (R3).

The marker of the operation is not part of a request: the receiver's code adds it from the call.
`repository` is `owner/name`; revisions are full object ids; `number` is the host's own number.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from orchestrator.contracts.payload import Shape

Repository = Annotated[str, StringConstraints(pattern=r"^[\w.-]+/[\w.-]+$", max_length=200)]
Revision = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
Branch = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]*$", max_length=200)]
Number = Annotated[int, Field(ge=1)]


class CreateTicket(Shape):
    """Open a ticket."""

    repository: Repository
    title: str
    body: str


class UpdateTicket(Shape):
    """Set our own section of a ticket's body to this text; the rest of the body stays."""

    repository: Repository
    number: Number
    section: str


class CloseTicket(Shape):
    """Close a ticket with a reason."""

    repository: Repository
    number: Number
    reason: Literal["completed", "not_planned"]


class PushBranch(Shape):
    """Put a branch on a revision that the bundle holds; `expected` None creates it, only."""

    repository: Repository
    branch: Branch
    revision: Revision
    expected: Revision | None
    bundle_sha256: str


class CreateDraftPullRequest(Shape):
    """Open a draft pull request from our branch."""

    repository: Repository
    head: Branch
    base: Branch
    title: str
    body: str


class AttachEvidence(Shape):
    """Set the evidence section of a pull request's body to this text."""

    repository: Repository
    number: Number
    section: str
    manifest_sha256: str


class RequestReview(Shape):
    """Ask these people for a review."""

    repository: Repository
    number: Number
    reviewers: tuple[str, ...]


class MarkReady(Shape):
    """Set a draft to ready for review."""

    repository: Repository
    number: Number


class ConvertToDraft(Shape):
    """Set a pull request back to draft."""

    repository: Repository
    number: Number


class Merge(Shape):
    """Merge exactly this head. `base_revision` is the approved base (R24)."""

    repository: Repository
    number: Number
    sha: Revision
    method: Literal["merge", "squash"]
    base: Branch
    base_revision: Revision


class ClosePullRequest(Shape):
    """Close a pull request without merging it."""

    repository: Repository
    number: Number


class DeleteBranch(Shape):
    """Delete a branch that still stands on the expected revision."""

    repository: Repository
    branch: Branch
    expected: Revision


class ProvisionEnvironment(Shape):
    """Build and prove an environment of this revision under the run's tag."""

    repository: Repository
    revision: Revision
    tag: str


class TearDownEnvironment(Shape):
    """End every process and remove every file of the environment with this tag."""

    tag: str
