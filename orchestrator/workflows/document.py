"""A document that needs an approval before it is published. No bugs in it.

    checking -> filing -> awaiting-approval -> publishing -> closing
                                |    ^
                                v    | corrected by a reviewer
                              revising

It is checked, filed as a ticket for people to read, shown to a reviewer, who approves, rejects or
corrects it, and published under exactly the approved text. Nobody answering leads to a reminder,
then to another request within the escalation budget, then to an honest ending.
"""

from __future__ import annotations

from typing import ClassVar, assert_never

from pydantic import Field

from orchestrator.contracts.payload import JsonObject, Payload, fingerprint
from orchestrator.domain.budgets import Budget, Limits
from orchestrator.domain.states import StopCause
from orchestrator.workflows.decision import (
    ApprovalDecided,
    ApprovalExpired,
    AskApproval,
    BudgetRaised,
    CancelRequested,
    CancelTimer,
    CorrectionGiven,
    Decision,
    Effect,
    EndRun,
    Event,
    Identity,
    Mutate,
    Notify,
    RetryRequested,
    RunActivity,
    RunStarted,
    SetDeadline,
    StartTimer,
    StepFailed,
    StepSucceeded,
    TimerFired,
)

CHECK_LIMITS = Limits(queue_s=3600.0, attempt_s=60.0, total_s=7200.0, progress_s=25.0)


class DocumentState(Payload):
    """What a document has come to. `text` is what was last filed or is being checked."""

    KIND: ClassVar[str] = "document"

    workflow_id: str
    repository: str = Field(min_length=3, max_length=200, pattern=r"^[^/\s]+/[^/\s]+$")
    title: str = Field(min_length=1, max_length=200)
    text: str = Field(min_length=1, max_length=50_000)
    expires_s: float = Field(default=86_400.0, ge=1.0, le=31_536_000.0)
    deadline_s: float = Field(default=1_209_600.0, ge=1.0, le=31_536_000.0)
    escalations: int = Field(default=2, ge=1, le=20)
    phase: str = "checking"
    ticket: str | None = None
    drafts: int = 1
    asked: int = 0
    tries: int = 1
    failed: str | None = None
    ending: str | None = None
    reason: str = ""


Next = Decision[DocumentState]


class Document:
    """The decision code of `document`. Pure (P2)."""

    name = "document"
    version = 1
    outcomes = frozenset(
        {
            "published",
            "rejected",
            "refused",
            "failed",
            "needs-human-review",
            "cancelled",
            "deadline-exceeded",
        }
    )
    state_type = DocumentState

    def start(self, identity: Identity, submission: JsonObject) -> DocumentState:
        """Return the first state. Raises ValueError naming the field that is wrong."""
        allowed = {"repository", "title", "text", "expires_s", "deadline_s", "escalations"}
        unknown = sorted(set(submission) - allowed)
        if unknown:
            raise ValueError(f"unknown fields: {', '.join(unknown)}")
        return DocumentState(workflow_id=identity.workflow_id, **submission)

    def phase(self, state: DocumentState) -> str:
        """Return the stage, for people."""
        return state.phase

    def decide(self, state: DocumentState, event: Event) -> Next:
        """Return what follows from the event."""
        match event:
            case RunStarted():
                return Decision(state, (SetDeadline(state.deadline_s), _check(state)))
            case StepSucceeded(name=name, result=result, reference=reference):
                return _succeeded(state, name, result, reference)
            case StepFailed(name=name, reason=reason):
                return _failed(state, name, reason)
            case ApprovalDecided():
                return _decided(state, event)
            case ApprovalExpired():
                return _ask(state)
            case TimerFired():
                return _remind(state)
            case CorrectionGiven(text=text):
                return _corrected(state, text)
            case RetryRequested():
                return _again(state)
            case BudgetRaised(budget=budget, amount=amount):
                return _raised(state, budget, amount)
            case CancelRequested(by=by, because=because):
                late = because is StopCause.DEADLINE
                return _close(state, "deadline-exceeded" if late else "cancelled", f"by {by}")
            case _:
                assert_never(event)


def _succeeded(state: DocumentState, name: str, result: JsonObject, reference: str | None) -> Next:
    match name:
        case "check":
            return _checked(state, result)
        case "file":
            return _ask(_with(state, ticket=reference))
        case "revise":
            return _ask(state)
        case "publish":
            return _close(state, "published", "")
        case "close":
            return Decision(state, (EndRun(state.ending or "failed", state.reason),))
        case _:
            raise LookupError(f"the definition schedules no step {name}")


def _checked(state: DocumentState, result: JsonObject) -> Next:
    findings = [str(finding) for finding in result.get("findings", [])]
    if findings:
        return _close(state, "refused", "; ".join(findings))
    if state.ticket is None:
        filing = _with(state, phase="filing")
        return Decision(filing, (_file(filing),))
    revising = _with(state, phase="revising")
    return Decision(revising, (_write(revising, "revise"),))


def _ask(state: DocumentState) -> Next:
    """Show exactly this text to a person, within the escalation budget."""
    if state.asked >= state.escalations:
        reason = f"a person was asked {state.asked} times"
        return _close(state, "needs-human-review", reason)
    asking = _with(state, phase="awaiting-approval", asked=state.asked + 1)
    scope = {
        "head": fingerprint(asking.text).removeprefix("sha256:")[:40],
        "manifest_sha256": fingerprint({"title": asking.title, "text": asking.text}),
        "title": asking.title,
    }
    effects = (
        AskApproval(asking.asked, scope, asking.expires_s),
        StartTimer("remind", asking.expires_s / 2),
        Notify("approval-asked", {"run": asking.workflow_id, "approval": asking.asked}),
    )
    return Decision(asking, effects)


def _decided(state: DocumentState, event: ApprovalDecided) -> Next:
    if event.ordinal != state.asked or state.phase != "awaiting-approval":
        return Decision(state)
    if not event.approved:
        return _close(state, "rejected", f"by {event.by}: {event.comment}".rstrip(": "))
    publishing = _with(state, phase="publishing")
    return Decision(publishing, (CancelTimer("remind"), _publish(publishing)))


def _remind(state: DocumentState) -> Next:
    if state.phase != "awaiting-approval":
        return Decision(state)
    said = {"run": state.workflow_id, "approval": state.asked}
    return Decision(state, (Notify("approval-reminder", said),))


def _corrected(state: DocumentState, text: str) -> Next:
    """Take a reviewer's text: it is checked, filed and shown anew; the old request is void."""
    if state.phase != "awaiting-approval":
        return Decision(state)
    revised = _with(state, phase="checking", text=text, drafts=state.drafts + 1)
    return Decision(revised, (CancelTimer("remind"), _check(revised)))


def _failed(state: DocumentState, name: str, reason: str) -> Next:
    """End, and remember which step it was: an operator may have it tried again."""
    stopped = _with(state, failed=name, reason=f"{name}: {reason}")
    return Decision(stopped, (EndRun("failed", stopped.reason),))


def _again(state: DocumentState) -> Next:
    """Try the failed step again, as a new intent (R4)."""
    again = _with(state, failed=None, reason="", tries=state.tries + 1)
    match state.failed:
        case "check":
            return Decision(again, (_check(again),))
        case "file":
            return Decision(again, (_file(again),))
        case "revise":
            return Decision(again, (_write(again, "revise"),))
        case "publish":
            return _ask(again)
        case "close":
            return Decision(again, (_close_ticket(again),))
        case _:
            return Decision(state)


def _raised(state: DocumentState, budget: Budget, amount: int) -> Next:
    """Take more of the escalation budget; a run that ended for want of an answer asks again."""
    if budget is not Budget.ESCALATION:
        return Decision(state)
    more = _with(state, escalations=min(20, state.escalations + amount))
    if state.ending != "needs-human-review":
        return Decision(more)
    return _ask(_with(more, ending=None, reason="", tries=state.tries + 1))


def _close(state: DocumentState, ending: str, reason: str) -> Next:
    """Close the ticket, if there is one, then end."""
    closing = _with(state, phase="closing", ending=ending, reason=reason)
    if state.ticket is None:
        return Decision(closing, (EndRun(ending, reason),))
    return Decision(closing, (CancelTimer("remind"), _close_ticket(closing)))


def _check(state: DocumentState) -> RunActivity:
    given = {"title": state.title, "text": state.text}
    return RunActivity(
        "check", "check-document", "text", given, ordinal=_ordinal(state), limits=CHECK_LIMITS
    )


def _file(state: DocumentState) -> Effect:
    request = {"repository": state.repository, "title": state.title, "body": state.text}
    return Mutate("file", "create-ticket", "tracker", request, ordinal=_ordinal(state))


def _write(state: DocumentState, name: str, approval: int | None = None) -> Mutate:
    request = {
        "repository": state.repository,
        "number": int(state.ticket or 0),
        "section": state.text,
    }
    ordinal = approval or _ordinal(state)
    return Mutate(name, "update-ticket", "tracker", request, ordinal=ordinal, approval=approval)


def _publish(state: DocumentState) -> Mutate:
    return _write(state, "publish", approval=state.asked)


def _close_ticket(state: DocumentState) -> Mutate:
    reason = "completed" if state.ending == "published" else "not_planned"
    request = {"repository": state.repository, "number": int(state.ticket or 0), "reason": reason}
    return Mutate("close", "close-ticket", "tracker", request, ordinal=_ordinal(state))


def _ordinal(state: DocumentState) -> int:
    """Return the intent's number: each draft and each try is an intent of its own."""
    return 100 * (state.drafts - 1) + state.tries


def _with(state: DocumentState, **values: object) -> DocumentState:
    return state.model_copy(update=values)
