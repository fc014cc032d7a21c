"""Separate budgets, and the whole retry policy on one screen.

| kind            | spends                                              |
|-----------------|-----------------------------------------------------|
| transient       | transport; a wait that the receiver names is not counted as an attempt |
| environmental   | tool                                                |
| lost worker     | lost (a small one of its own; R14)                  |
| refused         | refusal                                             |
| domain-negative | nothing here: the definition spends its repair budget on a different candidate |
| permanent, policy-bound | nothing: the definition is told at once     |
| ambiguous       | nothing: the reconciler has it                      |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, assert_never

from orchestrator.domain.failures import FailureKind


class Budget(StrEnum):
    """What a retry of a step may be charged to."""

    TRANSPORT = "transport"
    TOOL = "tool"
    REFUSAL = "refusal"
    LOST = "lost"


@dataclass(frozen=True)
class Limits:
    """How long one attempt may take and how often each budget may be spent. Seconds, counts.

    `send_s` is how long a mutation's request may be in flight: its lease is held at least so long
    when it is sent (R10).
    """

    attempt_s: float = 600.0
    send_s: float = 15.0
    transport: int = 8
    tool: int = 3
    refusal: int = 1
    lost: int = 3
    asked_wait_total_s: float = 7200.0
    first_pause_s: float = 0.5
    longest_pause_s: float = 60.0

    def to_json(self) -> dict[str, float]:
        """Return the limits as they are stored with the step."""
        return dict(vars(self))

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Limits:
        """Read stored limits; a limit that a later release added takes its default."""
        known = {key: raw[key] for key in vars(cls()) if key in raw}
        return cls(**known)


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
    """Try again after a pause, in seconds; `spent` is what the books say afterwards."""

    after_s: float
    spent: Spent


@dataclass(frozen=True)
class GiveUp:
    """Tell the definition. `exhausted` names the budget that ran out, if one did."""

    exhausted: Budget | None


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


def after_lost_worker(limits: Limits, spent: Spent) -> Move:
    """Return what follows when an attempt's lease ended without a word from its worker."""
    return _charge(Budget.LOST, limits, spent, pause=False)


def _wait_as_asked(limits: Limits, spent: Spent, seconds: float) -> Move:
    total = spent.asked_wait_s + seconds
    if total > limits.asked_wait_total_s:
        return GiveUp(Budget.TRANSPORT)
    return Retry(seconds, replace(spent, asked_wait_s=total))


def _charge(budget: Budget, limits: Limits, spent: Spent, *, pause: bool = True) -> Move:
    used = int(getattr(spent, budget))
    if used >= int(getattr(limits, budget)):
        return GiveUp(budget)
    after_s = min(limits.longest_pause_s, limits.first_pause_s * 2**used) if pause else 0.0
    return Retry(after_s, replace(spent, **{str(budget): used + 1}))
