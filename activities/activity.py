"""The contract of an activity that changes nothing outside, and what it is told while it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from orchestrator.contracts.evidence import ArtifactRef
from orchestrator.contracts.payload import JsonObject
from orchestrator.store.artifacts import Binding


class StopReason(StrEnum):
    """Why an attempt is told to stop."""

    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"
    ATTEMPT_LIMIT = "attempt-limit"
    PROGRESS_LIMIT = "progress-limit"
    TOTAL_LIMIT = "total-limit"
    SHUTDOWN = "shutdown"


class Stop:
    """Tells an activity to stop; it may be waited on like an event."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self.reason: StopReason | None = None

    def set(self, reason: StopReason) -> None:
        """Tell the activity to stop; the first reason stays."""
        if self.reason is None:
            self.reason = reason
        self.event.set()


@dataclass(frozen=True)
class Context:
    """One attempt: who it is, what it may resume from, how it reports and when it must stop."""

    workflow_id: str
    step: int
    attempt: int
    generation: int
    run_tag: str
    stop: Stop
    progress: Callable[[JsonObject], None]
    substate: JsonObject | None = None


@dataclass(frozen=True)
class Outcome:
    """A result: a small JSON value, the files that prove it and what they were obtained on."""

    value: JsonObject
    artifacts: Sequence[ArtifactRef] = ()
    binding: Binding = field(default_factory=Binding)


class Activity(Protocol):
    """One kind of work that can fail. Repeating it is safe: it changes nothing outside."""

    name: str
    queue: str

    def run(self, given: JsonObject, context: Context) -> Outcome:
        """Do the work. Raises ActivityFailed; returns early and raises when told to stop."""
