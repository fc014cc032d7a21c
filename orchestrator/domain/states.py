"""Every machine's transitions, as data: guards, CHECKs and the drawn diagrams follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar


class RunStatus(StrEnum):
    """What the engine does with a run. `paused`: a person holds it, and no step starts."""

    RUNNING = "running"
    WAITING = "waiting"
    PAUSED = "paused"
    CANCELLING = "cancelling"
    ENDED = "ended"
    SET_ASIDE = "set-aside"


class CancelStage(StrEnum):
    """How far a cancellation has come."""

    NONE = "none"
    REQUESTED = "requested"
    STOPPING = "stopping"
    PRESERVING = "preserving"
    CLEANING = "cleaning"
    DONE = "done"


class StopCause(StrEnum):
    """Why a run's active work is stopped: somebody asked, or its time is over."""

    PERSON = "person"
    DEADLINE = "deadline"


class Cleanup(StrEnum):
    """What became of what the run owned outside; beside the outcome, never instead of it."""

    NONE = "none"
    RUNNING = "running"
    CLEAN = "clean"
    INCOMPLETE = "incomplete"


class StepStatus(StrEnum):
    """One scheduled use of an activity. `unsettled`: sent, and the reconciler has the word."""

    DUE = "due"
    LEASED = "leased"
    UNSETTLED = "unsettled"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class OperationStatus(StrEnum):
    """One logical mutation outside. Only `intended` proves that nothing was sent."""

    INTENDED = "intended"
    SENT = "sent"
    CONFIRMED = "confirmed"
    REFUSED = "refused"
    AMBIGUOUS = "ambiguous"
    ABANDONED = "abandoned"


class ApprovalStatus(StrEnum):
    """One request for a person's decision."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    USED = "used"


class ResourceStatus(StrEnum):
    """One owned thing outside. `kept`: left in place on purpose, as a merged branch is."""

    REGISTERED = "registered"
    LIVE = "live"
    CLEANING = "cleaning"
    GONE = "gone"
    KEPT = "kept"
    REMAINS = "remains"


class OutboxStatus(StrEnum):
    """One message to publish after its commit."""

    PENDING = "pending"
    TAKEN = "taken"
    PUBLISHED = "published"


S = TypeVar("S", bound=StrEnum)
Table = Mapping[S, frozenset[S]]

RUN: Table[RunStatus] = {
    RunStatus.RUNNING: frozenset(
        {
            RunStatus.WAITING,
            RunStatus.PAUSED,
            RunStatus.CANCELLING,
            RunStatus.ENDED,
            RunStatus.SET_ASIDE,
        }
    ),
    RunStatus.WAITING: frozenset(
        {
            RunStatus.RUNNING,
            RunStatus.PAUSED,
            RunStatus.CANCELLING,
            RunStatus.ENDED,
            RunStatus.SET_ASIDE,
        }
    ),
    RunStatus.PAUSED: frozenset(
        {
            RunStatus.RUNNING,
            RunStatus.WAITING,
            RunStatus.CANCELLING,
            RunStatus.ENDED,
            RunStatus.SET_ASIDE,
        }
    ),
    RunStatus.CANCELLING: frozenset({RunStatus.ENDED, RunStatus.SET_ASIDE}),
    RunStatus.SET_ASIDE: frozenset(
        {RunStatus.RUNNING, RunStatus.WAITING, RunStatus.CANCELLING, RunStatus.ENDED}
    ),
    RunStatus.ENDED: frozenset({RunStatus.RUNNING, RunStatus.WAITING}),
}

CANCELLATION: Table[CancelStage] = {
    CancelStage.NONE: frozenset({CancelStage.REQUESTED}),
    CancelStage.REQUESTED: frozenset({CancelStage.STOPPING}),
    CancelStage.STOPPING: frozenset({CancelStage.PRESERVING}),
    CancelStage.PRESERVING: frozenset({CancelStage.CLEANING}),
    CancelStage.CLEANING: frozenset({CancelStage.DONE}),
    CancelStage.DONE: frozenset({CancelStage.NONE}),
}

STEP: Table[StepStatus] = {
    StepStatus.DUE: frozenset({StepStatus.LEASED, StepStatus.FAILED, StepStatus.CANCELLED}),
    StepStatus.LEASED: frozenset(
        {
            StepStatus.DUE,
            StepStatus.UNSETTLED,
            StepStatus.SUCCEEDED,
            StepStatus.FAILED,
            StepStatus.CANCELLED,
        }
    ),
    StepStatus.UNSETTLED: frozenset(
        {StepStatus.DUE, StepStatus.SUCCEEDED, StepStatus.FAILED, StepStatus.CANCELLED}
    ),
    StepStatus.SUCCEEDED: frozenset(),
    StepStatus.FAILED: frozenset(),
    StepStatus.CANCELLED: frozenset(),
}

OPERATION: Table[OperationStatus] = {
    OperationStatus.INTENDED: frozenset(
        {OperationStatus.SENT, OperationStatus.REFUSED, OperationStatus.ABANDONED}
    ),
    OperationStatus.SENT: frozenset(
        {
            OperationStatus.INTENDED,
            OperationStatus.CONFIRMED,
            OperationStatus.REFUSED,
            OperationStatus.AMBIGUOUS,
        }
    ),
    OperationStatus.AMBIGUOUS: frozenset(
        {
            OperationStatus.INTENDED,
            OperationStatus.CONFIRMED,
            OperationStatus.REFUSED,
            OperationStatus.ABANDONED,
        }
    ),
    OperationStatus.CONFIRMED: frozenset(),
    OperationStatus.REFUSED: frozenset(),
    OperationStatus.ABANDONED: frozenset(),
}

APPROVAL: Table[ApprovalStatus] = {
    ApprovalStatus.PENDING: frozenset(
        {
            ApprovalStatus.APPROVED,
            ApprovalStatus.REJECTED,
            ApprovalStatus.EXPIRED,
            ApprovalStatus.SUPERSEDED,
        }
    ),
    ApprovalStatus.APPROVED: frozenset(
        {ApprovalStatus.USED, ApprovalStatus.EXPIRED, ApprovalStatus.SUPERSEDED}
    ),
    ApprovalStatus.REJECTED: frozenset(),
    ApprovalStatus.EXPIRED: frozenset(),
    ApprovalStatus.SUPERSEDED: frozenset(),
    ApprovalStatus.USED: frozenset(),
}

RESOURCE: Table[ResourceStatus] = {
    ResourceStatus.REGISTERED: frozenset(
        {ResourceStatus.LIVE, ResourceStatus.CLEANING, ResourceStatus.GONE}
    ),
    ResourceStatus.LIVE: frozenset({ResourceStatus.CLEANING, ResourceStatus.KEPT}),
    ResourceStatus.CLEANING: frozenset({ResourceStatus.GONE, ResourceStatus.REMAINS}),
    ResourceStatus.REMAINS: frozenset({ResourceStatus.CLEANING, ResourceStatus.GONE}),
    ResourceStatus.GONE: frozenset(),
    ResourceStatus.KEPT: frozenset(),
}

OUTBOX: Table[OutboxStatus] = {
    OutboxStatus.PENDING: frozenset({OutboxStatus.TAKEN}),
    OutboxStatus.TAKEN: frozenset({OutboxStatus.TAKEN, OutboxStatus.PUBLISHED}),
    OutboxStatus.PUBLISHED: frozenset(),
}


class RefusedTransition(ValueError):
    """A machine was asked for a transition that its table does not have."""

    def __init__(self, before: StrEnum, after: StrEnum) -> None:
        super().__init__(f"{type(before).__name__} never goes from {before} to {after}")
        self.before, self.after = before, after


def move(table: Table[S], before: S, after: S) -> S:
    """Return `after` if the table allows it. Raises RefusedTransition."""
    if after not in table[before]:
        raise RefusedTransition(before, after)
    return after


def sources(table: Table[S], after: S) -> tuple[S, ...]:
    """Return every state from which `after` may be reached, for a statement's guard."""
    return tuple(before for before in table if after in table[before])
