"""A small definition that knows nothing of bugs: file a notice, say its text, close it."""

from __future__ import annotations

from typing import ClassVar, assert_never

from pydantic import Field

from orchestrator.contracts.payload import JsonObject, Payload
from orchestrator.workflows.decision import (
    ApprovalDecided,
    ApprovalExpired,
    BudgetRaised,
    CancelRequested,
    CorrectionGiven,
    Decision,
    EndRun,
    Event,
    Identity,
    Mutate,
    RetryRequested,
    RunStarted,
    StepFailed,
    StepSucceeded,
    TimerFired,
)


class NoticeState(Payload):
    """What a notice has come to."""

    KIND: ClassVar[str] = "notice"

    workflow_id: str
    repository: str = Field(min_length=3, max_length=200, pattern=r"^[^/\s]+/[^/\s]+$")
    title: str = Field(min_length=1, max_length=200)
    text: str = Field(min_length=1, max_length=20_000)
    phase: str = "filing"
    ticket: str | None = None


class Notice:
    """Three mutations in a row; each has its own operation and ends in one effect outside."""

    name = "notice"
    version = 1
    outcomes = frozenset({"filed", "failed", "cancelled"})
    state_type = NoticeState

    def start(self, identity: Identity, submission: JsonObject) -> NoticeState:
        """Return the first state. Raises ValueError naming the field that is wrong."""
        return NoticeState(workflow_id=identity.workflow_id, **submission)

    def phase(self, state: NoticeState) -> str:
        """Return the stage, for people."""
        return state.phase

    def decide(self, state: NoticeState, event: Event) -> Decision[NoticeState]:
        """Return what follows from the event."""
        match event:
            case RunStarted():
                request = {"repository": state.repository, "title": state.title, "body": state.text}
                return Decision(state, (Mutate("file", "create-ticket", "tracker", request),))
            case StepSucceeded(name="file", reference=reference):
                named = state.model_copy(update={"ticket": reference, "phase": "describing"})
                return Decision(named, (self._describe(named),))
            case StepSucceeded(name="describe"):
                closing = state.model_copy(update={"phase": "closing"})
                return Decision(closing, (self._close(closing),))
            case StepSucceeded():
                return Decision(state, (EndRun("filed"),))
            case StepFailed(reason=reason):
                return Decision(state, (EndRun("failed", reason),))
            case CancelRequested(by=by):
                return Decision(state, (EndRun("cancelled", f"by {by}"),))
            case (
                TimerFired()
                | ApprovalDecided()
                | ApprovalExpired()
                | CorrectionGiven()
                | BudgetRaised()
                | RetryRequested()
            ):
                return Decision(state)
            case _:
                assert_never(event)

    def _describe(self, state: NoticeState) -> Mutate:
        request = {
            "repository": state.repository,
            "number": int(state.ticket or 0),
            "section": state.text,
        }
        return Mutate("describe", "update-ticket", "tracker", request)

    def _close(self, state: NoticeState) -> Mutate:
        request = {
            "repository": state.repository,
            "number": int(state.ticket or 0),
            "reason": "completed",
        }
        return Mutate("close", "close-ticket", "tracker", request)
