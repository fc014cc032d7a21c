"""Outside messages: accepted once without reading the run, decided by a worker, answered once."""

from __future__ import annotations

from functools import partial
from typing import assert_never

from sqlalchemy import Connection, RowMapping

from orchestrator.contracts.messages import (
    ApprovalAnswer,
    CancelWish,
    Correction,
    Message,
    PauseWish,
    RaiseWish,
    ResumeWish,
    RetryWish,
    TerminateWish,
    read_message,
)
from orchestrator.contracts.payload import JsonObject, fingerprint
from orchestrator.domain.failures import MessageConflict
from orchestrator.domain.states import ApprovalStatus, RunStatus
from orchestrator.engine import cancel, pause, reopen, terminate
from orchestrator.engine.database import Database
from orchestrator.engine.fold import fold
from orchestrator.engine.set_aside import guarded
from orchestrator.store import approvals, messages, runs
from orchestrator.store.messages import MessageKey
from orchestrator.store.records import Run
from orchestrator.workflows.decision import (
    ApprovalDecided,
    BudgetRaised,
    CorrectionGiven,
    RetryRequested,
)
from orchestrator.workflows.registry import Definitions


def accept(database: Database, key: MessageKey, message: Message) -> JsonObject | None:
    """Accept a message once; return its answer if it has one already.

    Raises MessageConflict for the same key with other words. Does not raise for a run that
    has ended: the answer says so. The run must exist.
    """
    payload = message.to_json()
    with database.commit("accept-message") as tx:
        row = messages.accept(tx, key, message.KIND, payload)
    if row["fingerprint"] != fingerprint({"kind": message.KIND, "payload": payload}):
        raise MessageConflict(key.message_id)
    answer: JsonObject | None = row["answer"]
    return answer


def answer_of(database: Database, key: MessageKey) -> JsonObject | None:
    """Return the answer of an accepted message, or None while it is undecided."""
    with database.read() as tx:
        row = messages.find(tx, key)
    return None if row is None else row["answer"]


def decide_some(database: Database, definitions: Definitions, limit: int = 20) -> int:
    """Decide undecided messages of up to `limit` runs; return how many were decided."""
    with database.read() as tx:
        waiting = messages.undecided_runs(tx, limit)
    return sum(
        guarded(database, run, partial(_decide_run, database, definitions, run), 0)
        for run in waiting
    )


def _decide_run(database: Database, definitions: Definitions, workflow_id: str) -> int:
    with database.commit("decide-messages") as tx:
        run = runs.lock_if_free(tx, workflow_id)
        if run is None:
            return 0
        waiting = messages.undecided(tx, workflow_id)
        for row in waiting:
            run, said = _decide(tx, definitions, run, row)
            messages.answer(tx, row, said)
        return len(waiting)


def _decide(
    tx: Connection, definitions: Definitions, run: Run, row: RowMapping
) -> tuple[Run, JsonObject]:
    message, by = read_message(row["payload"]), row["principal"]
    match message:
        case ApprovalAnswer():
            return _approval(tx, definitions, run, message, by)
        case CancelWish():
            return _cancel(tx, definitions, run, by)
        case TerminateWish(reason=reason):
            return _terminate(tx, run, by, reason)
        case PauseWish():
            return _pause(tx, run, by)
        case ResumeWish():
            return _resume(tx, run, by)
        case Correction(text=text):
            return _correct(tx, definitions, run, CorrectionGiven(run.now, by, text))
        case RetryWish(step=step):
            return reopen.retry(tx, definitions, run, RetryRequested(run.now, by), step)
        case RaiseWish(budget=budget, amount=amount):
            event = BudgetRaised(run.now, by, budget, amount)
            return reopen.raise_budget(tx, definitions, run, event)
        case _:
            assert_never(message)


def _cancel(tx: Connection, definitions: Definitions, run: Run, by: str) -> tuple[Run, JsonObject]:
    match run.status:
        case RunStatus.ENDED:
            return run, {"result": "too-late", "status": run.status}
        case RunStatus.CANCELLING:
            return run, {"result": "already-cancelling", "stage": run.cancel_stage}
        case RunStatus.RUNNING | RunStatus.WAITING | RunStatus.PAUSED | RunStatus.SET_ASIDE:
            run = cancel.begin(tx, definitions, run, by)
            return run, {"result": "accepted", "stage": run.cancel_stage}
        case _:
            assert_never(run.status)


def _terminate(tx: Connection, run: Run, by: str, reason: str) -> tuple[Run, JsonObject]:
    if run.status is RunStatus.ENDED:
        return run, {"result": "too-late", "status": run.status}
    run, left = terminate.terminate(tx, run, by, reason)
    return run, {"result": "terminated", **left}


def _pause(tx: Connection, run: Run, by: str) -> tuple[Run, JsonObject]:
    match run.status:
        case RunStatus.RUNNING | RunStatus.WAITING:
            return pause.pause(tx, run, by), {"result": "paused", "by": by}
        case RunStatus.PAUSED:
            return run, {"result": "already-paused"}
        case RunStatus.CANCELLING | RunStatus.SET_ASIDE | RunStatus.ENDED:
            return run, {"result": "too-late", "status": run.status}
        case _:
            assert_never(run.status)


def _resume(tx: Connection, run: Run, by: str) -> tuple[Run, JsonObject]:
    match run.status:
        case RunStatus.PAUSED | RunStatus.SET_ASIDE:
            run = pause.resume(tx, run, by)
            return run, {"result": "resumed", "status": run.status}
        case RunStatus.RUNNING | RunStatus.WAITING:
            return run, {"result": "already-going-on", "status": run.status}
        case RunStatus.CANCELLING | RunStatus.ENDED:
            return run, {"result": "too-late", "status": run.status}
        case _:
            assert_never(run.status)


def _correct(
    tx: Connection, definitions: Definitions, run: Run, event: CorrectionGiven
) -> tuple[Run, JsonObject]:
    if run.status in (RunStatus.ENDED, RunStatus.CANCELLING, RunStatus.SET_ASIDE):
        return run, {"result": "too-late", "status": run.status}
    return reopen.offer(tx, definitions, run, event)


def _approval(
    tx: Connection, definitions: Definitions, run: Run, message: ApprovalAnswer, by: str
) -> tuple[Run, JsonObject]:
    if run.status is RunStatus.SET_ASIDE:
        return run, {"result": "refused", "reason": "the run was set aside; resume it first"}
    row = approvals.read(tx, run.id, message.ordinal)
    refusal = _why_not(row, message)
    if refusal is not None:
        return run, {"result": "refused", "reason": refusal}
    after = ApprovalStatus.APPROVED if message.approve else ApprovalStatus.REJECTED
    approvals.decide_if_pending(tx, run.id, message.ordinal, after, by, message.comment)
    event = ApprovalDecided(
        at=run.now,
        ordinal=message.ordinal,
        approved=message.approve,
        by=by,
        comment=message.comment,
    )
    run = fold(tx, definitions, run, event, f"principal:{by}")
    return run, {"result": str(after), "ordinal": message.ordinal, "by": by}


def _why_not(row: RowMapping | None, message: ApprovalAnswer) -> str | None:
    """Return why the answer cannot stand, or None. Scope is compared, not assumed."""
    if row is None:
        return f"there is no approval {message.ordinal}"
    if row["status"] != ApprovalStatus.PENDING:
        return f"approval {message.ordinal} is {row['status']}"
    if not row["live"]:
        return f"approval {message.ordinal} expired at {row['expires_at'].isoformat()}"
    for name, shown in (("head", message.head), ("manifest_sha256", message.manifest_sha256)):
        asked = row["scope"].get(name)
        if shown != asked:
            return f"{name} is {asked}, the answer was about {shown}; read the approval again"
    return None
