"""What a replay and a check leave behind. Accepted only when bound to what was tested (P17)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from orchestrator.contracts.payload import Payload, Shape

Sha256 = str
StepStatus = Literal["ok", "assertion-failed", "procedure-error", "infrastructure", "not-run"]


class ArtifactRef(Shape):
    """A stored file: its hash, what it is, and its size in bytes."""

    sha256: Sha256
    kind: str
    name: str
    size: int = Field(ge=0)


class StepResult(Shape):
    """One step or expectation of one run: what was expected and what was seen."""

    id: str
    status: StepStatus
    expected: str = ""
    observed: str = ""
    error_class: str = ""
    took_ms: int = 0
    screenshot: ArtifactRef | None = None


class ProcedureRun(Shape):
    """One of the n runs. `failed` needs an unmet expectation on a living page and application."""

    verdict: Literal["passed", "failed", "procedure-error", "infrastructure"]
    steps: tuple[StepResult, ...]
    console: tuple[str, ...] = ()
    page_errors: tuple[str, ...] = ()
    bad_responses: tuple[str, ...] = ()
    requests: tuple[str, ...] = ()
    page_text: str = ""
    application_log_tail: str = ""
    artifacts: tuple[ArtifactRef, ...] = ()


class ReplayEvidence(Payload):
    """The same procedure, n runs, one revision, one environment."""

    KIND: ClassVar[str] = "replay-evidence"

    verdict: Literal["passed", "failed", "flaky", "inconclusive"]
    revision: str
    candidate_sha256: Sha256 | None = None
    procedure_sha256: Sha256
    environment_sha256: Sha256
    browser: str
    tier: str
    runs: tuple[ProcedureRun, ...]


class CheckEvidence(Payload):
    """The application's own checks on one revision (plus candidate patch, when named)."""

    KIND: ClassVar[str] = "check-evidence"

    passed: bool
    revision: str
    candidate_sha256: Sha256 | None = None
    environment_sha256: Sha256
    commands: tuple[str, ...]
    output_tail: str = ""
    log: ArtifactRef | None = None
