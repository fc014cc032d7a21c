"""One logical mutation outside: its identity, what its receiver enforces, what a retry may do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Guarantee(StrEnum):
    """What the receiver itself enforces about a mutation that arrives twice."""

    IDEMPOTENCY_KEY = "idempotency-key"
    UNIQUE_KEY = "unique-key"
    CONDITIONAL_WRITE = "conditional-write"
    NATURAL = "natural"
    NONE = "none"


def operation_id(workflow_id: str, name: str, ordinal: int) -> str:
    """Return the stable id of one intent; the ordinal counts intents of the same name (R4)."""
    return f"{workflow_id}:{name}:{ordinal}"


def marker(installation: str, operation: str) -> str:
    """Return what a created object carries so that it can be found and adopted (R5)."""
    return f"outlast:{installation}:{operation}"


def run_tag(installation: str, workflow_id: str) -> str:
    """Return the tag of everything that a run owns outside; cleanup touches nothing else (P13)."""
    return f"outlast-{installation}-{workflow_id}"


@dataclass(frozen=True)
class Adopt:
    """The effect stands outside and is ours: the operation is confirmed."""

    reference: str
    facts: dict[str, Any]


@dataclass(frozen=True)
class SendAgain:
    """It is absent and the receiver refuses a duplicate: the same request may go out again."""

    reason: str


@dataclass(frozen=True)
class Conflict:
    """Something else stands there: the operation is refused, and a person has the word."""

    reason: str
    facts: dict[str, Any]


@dataclass(frozen=True)
class StillUnknown:
    """Nothing follows from what was seen; look again after a pause.

    `needs_person`: looking again is of no use before somebody acts, as with a wrong token.
    """

    reason: str
    needs_person: bool = False


Verdict = Adopt | SendAgain | Conflict | StillUnknown

FIRST_LOOK_S = 1.0
LONGEST_PAUSE_S = 120.0
PAUSE_FOR_PERSON_S = 900.0
# They show a token that is being replaced just now; a cancelled run waits for as many looks.
QUICK_LOOKS = 3


def pause_before_look(looks: int, *, needs_person: bool = False) -> float:
    """Return the seconds until the next look, after so many earlier ones; growing, bounded."""
    if needs_person and looks + 1 >= QUICK_LOOKS:
        return PAUSE_FOR_PERSON_S
    return float(min(LONGEST_PAUSE_S, FIRST_LOOK_S * 2**looks))
