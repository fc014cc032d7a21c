"""What follows from looking outside: one pure table over guarantee and observation."""

from __future__ import annotations

from typing import assert_never

from activities.mutation import Absent, Conflicting, Found, Observed, Unreadable
from orchestrator.domain.failures import FailureKind
from orchestrator.domain.operations import (
    Adopt,
    Conflict,
    Guarantee,
    SendAgain,
    StillUnknown,
    Verdict,
)


def verdict(guarantee: Guarantee, observed: Observed) -> Verdict:
    """Return what follows. "Not found" alone never settles anything (P9).

    Found is adopted and a stranger in the place is a conflict, whatever the guarantee. Absence
    allows another send only where the receiver itself refuses a duplicate.
    """
    match observed:
        case Found(reference, facts):
            return Adopt(reference, facts)
        case Conflicting(reason, facts):
            return Conflict(reason, facts)
        case Unreadable(reason, kind):
            return StillUnknown(f"unreadable, {kind}: {reason}", needs_person=_needs_person(kind))
        case Absent(reason, _):
            return _absent(guarantee, reason)
        case _:
            assert_never(observed)


def _needs_person(kind: FailureKind) -> bool:
    """Return whether looking again is of no use until somebody changes something."""
    match kind:
        case FailureKind.TRANSIENT | FailureKind.ENVIRONMENTAL | FailureKind.AMBIGUOUS:
            return False
        case (
            FailureKind.PERMANENT
            | FailureKind.POLICY_BOUND
            | FailureKind.REFUSED
            | FailureKind.DOMAIN_NEGATIVE
        ):
            return True
        case _:
            assert_never(kind)


def _absent(guarantee: Guarantee, reason: str) -> Verdict:
    match guarantee:
        case (
            Guarantee.IDEMPOTENCY_KEY
            | Guarantee.UNIQUE_KEY
            | Guarantee.CONDITIONAL_WRITE
            | Guarantee.NATURAL
        ):
            return SendAgain(f"absent ({reason}), and the receiver enforces {guarantee}")
        case Guarantee.NONE:
            return StillUnknown(f"absent ({reason}), and the receiver enforces nothing")
        case _:
            assert_never(guarantee)
