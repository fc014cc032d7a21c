"""The words between the engine and a definition: events go in, a state and effects come out.

A definition is pure (P2): no I/O, no clock, no randomness. What it needs of time is `at`, which
the engine read from the database's clock when it accepted the event.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, Protocol, TypeVar

from orchestrator.contracts.payload import JsonObject, Payload
from orchestrator.domain.budgets import DEFAULT_LIMITS, Budget, Limits
from orchestrator.domain.failures import FailureKind
from orchestrator.domain.states import StopCause


@dataclass(frozen=True)
class Identity:
    """Which run this is, in which installation; `tag` marks all that it owns outside (R5)."""

    workflow_id: str
    installation: str
    tag: str


@dataclass(frozen=True)
class RunStarted:
    """The run was submitted; the definition made its first state from the submission."""

    at: datetime


@dataclass(frozen=True)
class StepSucceeded:
    """A step's result was accepted. For a mutation, `reference` is the outside's own name."""

    at: datetime
    name: str
    ordinal: int
    result: JsonObject
    reference: str | None = None


@dataclass(frozen=True)
class StepFailed:
    """A step failed for good: its kind allows no retry, or a budget ran out."""

    at: datetime
    name: str
    ordinal: int
    kind: FailureKind
    reason: str
    exhausted: str | None = None
    facts: JsonObject = field(default_factory=dict)


@dataclass(frozen=True)
class TimerFired:
    """A timer that the definition started has come due."""

    at: datetime
    name: str


@dataclass(frozen=True)
class ApprovalDecided:
    """A person decided the pending approval of this ordinal, within its time."""

    at: datetime
    ordinal: int
    approved: bool
    by: str
    comment: str


@dataclass(frozen=True)
class ApprovalExpired:
    """Nobody decided in time."""

    at: datetime
    ordinal: int


@dataclass(frozen=True)
class CancelRequested:
    """The run's active work was stopped; decide what is to be cleaned and how the run ends.

    `because` says whether a person asked for it or the run's deadline has passed.
    """

    at: datetime
    by: str
    because: StopCause = StopCause.PERSON


@dataclass(frozen=True)
class CorrectionGiven:
    """A person says what is wrong with what they were shown.

    A definition that has no use for it now returns its state as it was, and the person is told so.
    """

    at: datetime
    by: str
    text: str


@dataclass(frozen=True)
class BudgetRaised:
    """An operator gave more of a budget. On an ended run, effects reopen it; none refuse."""

    at: datetime
    by: str
    budget: Budget
    amount: int


@dataclass(frozen=True)
class RetryRequested:
    """An operator wants what failed tried again. Effects do it, as a new intent; none refuse."""

    at: datetime
    by: str


Event = (
    RunStarted
    | StepSucceeded
    | StepFailed
    | TimerFired
    | ApprovalDecided
    | ApprovalExpired
    | CancelRequested
    | CorrectionGiven
    | BudgetRaised
    | RetryRequested
)


@dataclass(frozen=True)
class RunActivity:
    """Schedule an activity that changes nothing outside."""

    name: str
    activity: str
    queue: str
    input: JsonObject
    ordinal: int = 1
    limits: Limits = DEFAULT_LIMITS


@dataclass(frozen=True)
class Owned:
    """An outside thing that the mutation makes and the run then owns."""

    kind: str
    tag: str


@dataclass(frozen=True)
class Mutate:
    """Schedule an external mutation. `request` is the canonical request, stored once (R3).

    `approval` names the approval whose life is checked when the operation is marked sent (R2).
    `makes` is registered in the same transaction, before the thing exists; `cleans` marks it as
    being cleaned and `keeps` says that it stays on purpose.
    """

    name: str
    activity: str
    queue: str
    request: JsonObject
    ordinal: int = 1
    limits: Limits = DEFAULT_LIMITS
    approval: int | None = None
    makes: Owned | None = None
    cleans: Owned | None = None
    keeps: Owned | None = None


@dataclass(frozen=True)
class StartTimer:
    """Fire `TimerFired(name)` after this many seconds; a timer of that name is replaced."""

    name: str
    seconds: float


@dataclass(frozen=True)
class SetDeadline:
    """After this many seconds the run's outcome is of no use: its work is stopped and cleaned."""

    seconds: float


@dataclass(frozen=True)
class CancelTimer:
    """Forget a timer; nothing happens when there is none."""

    name: str


@dataclass(frozen=True)
class AskApproval:
    """Ask a person. The ordinal must be new; an earlier undecided one is superseded."""

    ordinal: int
    scope: JsonObject
    expires_s: float


@dataclass(frozen=True)
class WithdrawApproval:
    """What was asked is of no use any more; an answer that comes later is refused and says so."""


@dataclass(frozen=True)
class Notify:
    """Publish a message after the commit, at least once, with a stable id (R28)."""

    topic: str
    payload: JsonObject


@dataclass(frozen=True)
class EndRun:
    """End the run. `reason` is for people and stands beside the outcome."""

    outcome: str
    reason: str = ""


Effect = (
    RunActivity
    | Mutate
    | StartTimer
    | CancelTimer
    | SetDeadline
    | AskApproval
    | WithdrawApproval
    | Notify
    | EndRun
)

S = TypeVar("S", bound=Payload)


@dataclass(frozen=True)
class Decision(Generic[S]):
    """The state after an event, and what the event asks for."""

    state: S
    effects: tuple[Effect, ...] = ()


class Definition(Protocol[S]):
    """A workflow's decision code, with a version."""

    name: str
    version: int
    outcomes: frozenset[str]
    state_type: type[S]

    def start(self, identity: Identity, submission: JsonObject) -> S:
        """Return the first state. Raises ValueError naming the field that is wrong."""

    def phase(self, state: S) -> str:
        """Return the definition's own stage, for people."""

    def decide(self, state: S, event: Event) -> Decision[S]:
        """Return what follows from the event. Pure."""
