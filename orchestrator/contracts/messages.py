"""What people and other systems may say to a run."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from orchestrator.contracts.payload import JsonObject, Payload, UnreadablePayload


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


Message = ApprovalAnswer | CancelWish


def read_message(raw: JsonObject) -> Message:
    """Read a stored message. Raises UnreadablePayload for a kind that this release lacks."""
    match raw.get("kind"):
        case ApprovalAnswer.KIND:
            return ApprovalAnswer.from_json(raw)
        case CancelWish.KIND:
            return CancelWish.from_json(raw)
        case other:
            raise UnreadablePayload("a message", str(other))
