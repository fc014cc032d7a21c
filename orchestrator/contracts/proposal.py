"""What a repairing model is asked and what it may answer. Its answer is data (P20)."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from orchestrator.contracts.evidence import ReplayEvidence
from orchestrator.contracts.payload import Payload, Shape
from orchestrator.contracts.procedure import Procedure


class PriorCandidate(Shape):
    """A candidate that was verified and failed, so that the next one differs."""

    ordinal: int
    patch_sha256: str
    patch: str
    why_failed: str


class ProposalRequest(Payload):
    """The focused input of one proposing activity, built from durable facts only."""

    KIND: ClassVar[str] = "proposal-request"

    ordinal: int = Field(ge=1)
    report_title: str
    report_text: str
    procedure: Procedure
    reproduction: ReplayEvidence
    allowed_paths: tuple[str, ...]
    forbidden_paths: tuple[str, ...] = ()
    prior: tuple[PriorCandidate, ...] = ()
    max_files: int = 3
    max_patch_bytes: int = 20_000
    seed: int = 0


class Proposal(Payload):
    """One candidate: a unified diff against the base, why it should help, what was screened."""

    KIND: ClassVar[str] = "proposal"

    patch: str
    hypothesis: str
    provider: str
    operator: str = ""
    screened: int = 0
    places: tuple[str, ...] = ()
