"""One logical mutation outside: its identity, what its receiver enforces, what a retry may do."""

from __future__ import annotations

from enum import StrEnum


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
