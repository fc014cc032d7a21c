"""Separate budgets and time limits, and the whole retry policy on one screen.

| kind            | spends                                              |
|-----------------|-----------------------------------------------------|
| transient       | transport; a wait that the receiver names is not counted as an attempt |
| environmental   | tool                                                |
| lost worker     | lost (a small one of its own; R14)                  |
| refused         | refusal                                             |
| domain-negative | nothing here: the definition spends its repair budget on a different candidate |
| permanent, policy-bound | nothing: the definition is told at once     |
| ambiguous       | nothing: the reconciler has it                      |

A time limit says what stopped moving, and each has a next step of its own:

| limit     | what stopped moving                           | next                              |
|-----------|-----------------------------------------------|-----------------------------------|
| queue     | no worker started the step                    | the definition is told            |
| attempt   | one attempt did not come to an end            | another attempt; spends tool      |
| heartbeat | its worker stopped reporting                  | another attempt; spends lost      |
| progress  | its worker reports, and the work stands still | another attempt; spends tool      |
| total     | all attempts of the step together             | the definition is told            |
| deadline  | the whole run                                 | its work is stopped and cleaned   |
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, assert_never

from orchestrator.domain.failures import FailureKind


class Budget(StrEnum):
    """What a retry of a step may be charged to, and below that what a run may spend."""

    TRANSPORT = "transport"
    TOOL = "tool"
    REFUSAL = "refusal"
    LOST = "lost"
    REPAIR = "repair"
    ESCALATION = "escalation"
    WORKFLOW_TIME = "workflow-time"


OF_STEPS = (Budget.TRANSPORT, Budget.TOOL, Budget.REFUSAL, Budget.LOST)


class TimeLimit(StrEnum):
    """Which clock ran out; its name says what stopped moving."""

    QUEUE = "queue"
    ATTEMPT = "attempt"
    HEARTBEAT = "heartbeat"
    PROGRESS = "progress"
    TOTAL = "total"
    DEADLINE = "deadline"


@dataclass(frozen=True)
class Limits:
    """How long a step may take and how often each budget may be spent. Seconds, counts.

    `queue_s` is from due to started, `attempt_s` one attempt, `total_s` from scheduled to the end,
    back-off and queue included. `progress_s` is the longest time between two reports of progress;
    None means that the activity reports none. The heartbeat limit is the worker's lease. `send_s`
    is how long a mutation's request may be in flight: its lease is held at least so long when it
    is sent (R10).
    """

    queue_s: float = 86_400.0
    attempt_s: float = 600.0
    total_s: float = 172_800.0
    progress_s: float | None = None
    send_s: float = 15.0
    transport: int = 8
    tool: int = 3
    refusal: int = 1
    lost: int = 3
    asked_wait_total_s: float = 7200.0
    first_pause_s: float = 0.5
    longest_pause_s: float = 60.0

    def to_json(self) -> dict[str, float | None]:
        """Return the limits as they are stored with the step."""
        return dict(vars(self))

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Limits:
        """Read stored limits; a limit that a later release added takes its default."""
        known = {key: raw[key] for key in vars(cls()) if key in raw}
        return cls(**known)

    def raised(self, budget: Budget, by: int) -> Limits:
        """Return the limits with one budget of a step raised."""
        return replace(self, **{str(budget): int(getattr(self, budget)) + by})


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True)
class Spent:
    """What a step has spent so far, budget by budget."""

    transport: int = 0
    tool: int = 0
    refusal: int = 0
    lost: int = 0
    asked_wait_s: float = 0.0

    def to_json(self) -> dict[str, float]:
        """Return what was spent as it is stored with the step."""
        return dict(vars(self))

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Spent:
        """Read what was spent; an absent budget was never touched."""
        return cls(**{key: raw[key] for key in vars(cls()) if key in raw})


@dataclass(frozen=True)
class Retry:
    """Try again after a pause, in seconds; `spent` is what the books say afterwards.

    `asked` says that the receiver named the pause.
    """

    after_s: float
    spent: Spent
    asked: bool = False

    def pause(self, key: str) -> float:
        """Return the pause with its jitter."""
        return spread_after(self.after_s, key) if self.asked else spread(self.after_s, key)


@dataclass(frozen=True)
class GiveUp:
    """Tell the definition. `exhausted` names the budget or the time that ran out, if one did."""

    exhausted: Budget | TimeLimit | None


Move = Retry | GiveUp


def after_failure(
    kind: FailureKind, limits: Limits, spent: Spent, *, asked_wait_s: float | None = None
) -> Move:
    """Return what follows from a failed attempt, by its kind alone."""
    match kind:
        case FailureKind.TRANSIENT if asked_wait_s is not None:
            return _wait_as_asked(limits, spent, asked_wait_s)
        case FailureKind.TRANSIENT:
            return _charge(Budget.TRANSPORT, limits, spent)
        case FailureKind.ENVIRONMENTAL:
            return _charge(Budget.TOOL, limits, spent)
        case FailureKind.REFUSED:
            return _charge(Budget.REFUSAL, limits, spent)
        case (
            FailureKind.PERMANENT
            | FailureKind.POLICY_BOUND
            | FailureKind.DOMAIN_NEGATIVE
            | FailureKind.AMBIGUOUS
        ):
            return GiveUp(None)
        case _:
            assert_never(kind)


def after_time_limit(limit: TimeLimit, limits: Limits, spent: Spent) -> Move:
    """Return what follows when a step's time limit was reached."""
    match limit:
        case TimeLimit.ATTEMPT | TimeLimit.PROGRESS:
            return _charge(Budget.TOOL, limits, spent)
        case TimeLimit.HEARTBEAT:
            return after_lost_worker(limits, spent)
        case TimeLimit.QUEUE | TimeLimit.TOTAL | TimeLimit.DEADLINE:
            return GiveUp(limit)
        case _:
            assert_never(limit)


def after_lost_worker(limits: Limits, spent: Spent) -> Move:
    """Return what follows when an attempt's worker went without a word."""
    return _charge(Budget.LOST, limits, spent, pause=False)


def spread(seconds: float, key: str) -> float:
    """Return the pause with jitter that the key alone decides: half of it up to all of it.

    Many steps that failed in one moment come back at different moments, and a replay of one gives
    the same pause.
    """
    return seconds * (0.5 + _fraction(key) / 2)


def spread_after(seconds: float, key: str) -> float:
    """Return a wait that a receiver asked for, never shortened, and up to a tenth longer."""
    return seconds * (1 + _fraction(key) / 10)


def _fraction(key: str) -> float:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "big") / 2**32


def _wait_as_asked(limits: Limits, spent: Spent, seconds: float) -> Move:
    total = spent.asked_wait_s + seconds
    if total > limits.asked_wait_total_s:
        return GiveUp(Budget.TRANSPORT)
    return Retry(seconds, replace(spent, asked_wait_s=total), asked=True)


def _charge(budget: Budget, limits: Limits, spent: Spent, *, pause: bool = True) -> Move:
    used = int(getattr(spent, budget))
    if used >= int(getattr(limits, budget)):
        return GiveUp(budget)
    after_s = min(limits.longest_pause_s, limits.first_pause_s * 2**used) if pause else 0.0
    return Retry(after_s, replace(spent, **{str(budget): used + 1}))
