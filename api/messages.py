"""What people say to a run, from approve to terminate. Accepted once, decided by a worker."""

from __future__ import annotations

import secrets
from typing import Annotated, Literal

from fastapi import APIRouter, Header, Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from api.problems import Problem
from api.security import Anyone, Operator, Reviewer
from api.words import Words
from orchestrator.clock import WaitedTooLong, wait_for
from orchestrator.contracts import messages
from orchestrator.contracts.messages import ApprovalAnswer, CancelWish, Message
from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.budgets import Budget
from orchestrator.domain.states import ApprovalStatus
from orchestrator.engine import inbox
from orchestrator.store import reads
from orchestrator.store.messages import MessageKey
from orchestrator.store.principals import Principal

router = APIRouter(tags=["messages"])
Key = Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=200)]
Ordinal = Annotated[int, Path(ge=1, le=1_000_000)]
ANSWER_WITHIN_S = 5.0


class Decision(BaseModel):
    """A decision about exactly what was shown: repeat the head and manifest that were read."""

    model_config = ConfigDict(extra="forbid")

    head: str = Field(pattern=r"^[0-9a-f]{40}$")
    manifest_sha256: Words = Field(min_length=1, max_length=100)
    comment: Words = Field(default="", max_length=4000)


class Reason(BaseModel):
    """Why the run should stop."""

    model_config = ConfigDict(extra="forbid")

    reason: Words = Field(default="", max_length=2000)


class Corrected(BaseModel):
    """What is wrong, or for a document the text as it should read."""

    model_config = ConfigDict(extra="forbid")

    text: Words = Field(min_length=1, max_length=20_000)


class Retried(BaseModel):
    """Which step's back-off is to end; none offers the retry to the definition."""

    model_config = ConfigDict(extra="forbid")

    step: Words = Field(default="", max_length=200)


class More(BaseModel):
    """How much more: a count, or seconds of workflow time."""

    model_config = ConfigDict(extra="forbid")

    amount: int = Field(ge=1, le=31_536_000)


@router.get("/v1/approvals")
def list_approvals(
    request: Request, _: Anyone, status: ApprovalStatus | Literal[""] = ApprovalStatus.PENDING
) -> JsonObject:
    """Return requests for a decision: pending ones, or of another status; empty means all."""
    with request.app.state.database.read() as tx:
        return {"approvals": reads.approvals(tx, status=status or None)}


@router.get("/v1/runs/{run}/approvals")
def of_run(run: str, request: Request, _: Anyone) -> JsonObject:
    """Return the run's requests with their exact scope: head, base, evidence, policy, expiry."""
    with request.app.state.database.read() as tx:
        reads.run(tx, run)
        return {"approvals": reads.approvals(tx, workflow_id=run)}


@router.post("/v1/runs/{run}/approvals/{ordinal}/approve")
def approve(
    run: str,
    ordinal: Ordinal,
    decision: Decision,
    request: Request,
    response: Response,
    who: Reviewer,
    key: Key = None,
) -> JsonObject:
    """Approve the action. 200 with the answer, or 202 while no worker has decided yet."""
    message = ApprovalAnswer(ordinal=ordinal, approve=True, **decision.model_dump())
    return _say(request, response, _named(run, who, message, key), message)


@router.post("/v1/runs/{run}/approvals/{ordinal}/reject")
def reject(
    run: str,
    ordinal: Ordinal,
    decision: Decision,
    request: Request,
    response: Response,
    who: Reviewer,
    key: Key = None,
) -> JsonObject:
    """Reject the action; the run closes its draft and ends."""
    message = ApprovalAnswer(ordinal=ordinal, approve=False, **decision.model_dump())
    return _say(request, response, _named(run, who, message, key), message)


@router.post("/v1/runs/{run}/correct")
def correct(
    run: str,
    correction: Corrected,
    request: Request,
    response: Response,
    who: Reviewer,
    key: Key = None,
) -> JsonObject:
    """Say what is wrong with what is shown; what was asked is void and work goes on from there."""
    return _tell(run, request, response, who, key, messages.Correction(text=correction.text))


@router.post("/v1/runs/{run}/cancel")
def cancel(
    run: str, wish: Reason, request: Request, response: Response, who: Operator, key: Key = None
) -> JsonObject:
    """Ask the run to stop coherently and to clean what it owns."""
    return _tell(run, request, response, who, key, CancelWish(reason=wish.reason))


@router.post("/v1/runs/{run}/terminate")
def terminate(
    run: str, wish: Reason, request: Request, response: Response, who: Operator, key: Key = None
) -> JsonObject:
    """End the run at once; the answer lists what stays uncertain and what may remain."""
    return _tell(run, request, response, who, key, messages.TerminateWish(reason=wish.reason))


@router.post("/v1/runs/{run}/pause")
def pause(
    run: str, request: Request, response: Response, who: Operator, key: Key = None
) -> JsonObject:
    """Hold the run: what is running ends, nothing further starts."""
    return _tell(run, request, response, who, key, messages.PauseWish())


@router.post("/v1/runs/{run}/resume")
def resume(
    run: str, request: Request, response: Response, who: Operator, key: Key = None
) -> JsonObject:
    """Let a paused run go on, or one that was set aside."""
    return _tell(run, request, response, who, key, messages.ResumeWish())


@router.post("/v1/runs/{run}/retry")
def retry(
    run: str, wish: Retried, request: Request, response: Response, who: Operator, key: Key = None
) -> JsonObject:
    """End a step's back-off, or have what failed tried again as a new intent."""
    return _tell(run, request, response, who, key, messages.RetryWish(step=wish.step))


@router.post("/v1/runs/{run}/budgets/{budget}")
def raise_budget(
    run: str,
    budget: Budget,
    more: More,
    request: Request,
    response: Response,
    who: Operator,
    key: Key = None,
) -> JsonObject:
    """Give more of a budget; a run that ended for want of it goes on where it can."""
    message = messages.RaiseWish(budget=budget, amount=more.amount)
    return _tell(run, request, response, who, key, message)


def _tell(
    run: str,
    request: Request,
    response: Response,
    who: Principal,
    key: str | None,
    message: Message,
) -> JsonObject:
    named = MessageKey(run, "run", who.name, key or secrets.token_urlsafe(18))
    return _say(request, response, named, message)


def _named(run: str, who: Principal, message: ApprovalAnswer, key: str | None) -> MessageKey:
    """Return the answer's identity. Without a key it is its words: a repeat is the same answer,
    and one that was refused for a wrong scope does not stand in the way of the right one."""
    return MessageKey(run, f"approval:{message.ordinal}", who.name, key or message.fingerprint())


def _say(request: Request, response: Response, key: MessageKey, message: Message) -> JsonObject:
    """Accept, then wait a little for the answer; 202 says that it is accepted and undecided."""
    database = request.app.state.database
    with database.read() as tx:
        reads.run(tx, key.workflow_id)
    answer = inbox.accept(database, key, message)
    if answer is None:
        answer = _soon(request, key)
    if answer is None:
        response.status_code = 202
        return {"result": "accepted", "message": key.message_id}
    if answer["result"] in ("refused", "too-late"):
        detail = answer.get("reason") or f"the run is {answer.get('status')}"
        raise Problem(409, f"message-{answer['result']}", detail, answer=answer)
    return answer


def _soon(request: Request, key: MessageKey) -> JsonObject | None:
    found: list[JsonObject] = []

    def answered() -> bool:
        answer = inbox.answer_of(request.app.state.database, key)
        if answer is not None:
            found.append(answer)
        return bool(found)

    try:
        wait_for(answered, ANSWER_WITHIN_S, "a worker's decision", every=0.1)
    except WaitedTooLong:
        return None
    return found[0]
