"""What people and other systems may say to a run."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from orchestrator.contracts.payload import JsonObject, Payload, UnreadablePayload
from orchestrator.domain.budgets import Budget


class ApprovalAnswer(Payload):
    """A reviewer's decision about exactly what they were shown."""

    KIND: ClassVar[str] = "approval-answer"

    ordinal: int = Field(ge=1)
    approve: bool
    head: str
    manifest_sha256: str
    comment: str = Field(default="", max_length=4000)


class CancelWish(Payload):
    """A wish that the run stop coherently and clean what it owns."""

    KIND: ClassVar[str] = "cancel-wish"

    reason: str = Field(default="", max_length=2000)


class TerminateWish(Payload):
    """A wish that the run stop at once, whatever stays uncertain."""

    KIND: ClassVar[str] = "terminate-wish"

    reason: str = Field(default="", max_length=2000)


class PauseWish(Payload):
    """A wish that no further step start until somebody says so."""

    KIND: ClassVar[str] = "pause-wish"


class ResumeWish(Payload):
    """A wish that a paused run, or one that was set aside, go on."""

    KIND: ClassVar[str] = "resume-wish"


class Correction(Payload):
    """What is wrong with what a reviewer was shown, in their words."""

    KIND: ClassVar[str] = "correction"

    text: str = Field(min_length=1, max_length=20_000)


class RetryWish(Payload):
    """A wish that what failed be tried again; `step` names a step whose back-off is to end."""

    KIND: ClassVar[str] = "retry-wish"

    step: str = Field(default="", max_length=200)


class RaiseWish(Payload):
    """More of a budget: a count, or seconds for `workflow-time`."""

    KIND: ClassVar[str] = "raise-wish"

    budget: Budget
    amount: int = Field(ge=1, le=31_536_000)


Message = (
    ApprovalAnswer
    | CancelWish
    | TerminateWish
    | PauseWish
    | ResumeWish
    | Correction
    | RetryWish
    | RaiseWish
)
KINDS: dict[str, type[Message]] = {
    kind.KIND: kind
    for kind in (
        ApprovalAnswer,
        CancelWish,
        TerminateWish,
        PauseWish,
        ResumeWish,
        Correction,
        RetryWish,
        RaiseWish,
    )
}


def read_message(raw: JsonObject) -> Message:
    """Read a stored message. Raises UnreadablePayload for a kind that this release lacks."""
    kind = KINDS.get(str(raw.get("kind")))
    if kind is None:
        raise UnreadablePayload("a message", str(raw.get("kind")))
    return kind.from_json(raw)
