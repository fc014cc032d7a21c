"""The contract of an external mutation: perform it, observe it, say what its receiver enforces."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Protocol

from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.failures import FailureKind
from orchestrator.domain.operations import Guarantee


@dataclass(frozen=True)
class Call:
    """Who sends: the operation, the marker it leaves, the fencing token, the run's own tag.

    `stop` is set when the attempt must end; a long mutation watches it.
    """

    operation_id: str
    marker: str
    fence: int
    run_tag: str
    installation: str
    stop: threading.Event = field(default_factory=threading.Event, compare=False)


@dataclass(frozen=True)
class Applied:
    """The receiver's parsed answer says that the mutation took effect."""

    reference: str
    facts: JsonObject = field(default_factory=dict)


@dataclass(frozen=True)
class Refused:
    """The receiver's parsed answer says that the mutation did not, and will not, take effect."""

    kind: FailureKind
    reason: str
    facts: JsonObject = field(default_factory=dict)


@dataclass(frozen=True)
class NotSent:
    """Nothing reached the receiver, or it said plainly that nothing was done (429)."""

    kind: FailureKind
    reason: str
    retry_after_s: float | None = None


@dataclass(frozen=True)
class Unsettled:
    """Sent, and no parsed answer came back: the effect may have happened (P8)."""

    reason: str


Outcome = Applied | Refused | NotSent | Unsettled


@dataclass(frozen=True)
class Found:
    """The effect exists outside and matches the intent (marker and parameters)."""

    reference: str
    facts: JsonObject = field(default_factory=dict)


@dataclass(frozen=True)
class Absent:
    """A readable, complete answer does not show it. `conclusive` says whether that proves it."""

    reason: str
    conclusive: bool


@dataclass(frozen=True)
class Conflicting:
    """Something else stands where the effect should be; a person decides."""

    reason: str
    facts: JsonObject = field(default_factory=dict)


@dataclass(frozen=True)
class Unreadable:
    """The outside could not be read; this says nothing about the effect (P9).

    `kind` says whether reading again may help: permanent waits for a person, as a wrong token does.
    """

    reason: str
    kind: FailureKind = FailureKind.TRANSIENT


Observed = Found | Absent | Conflicting | Unreadable


class Mutation(Protocol):
    """One kind of external mutation."""

    @property
    def name(self) -> str:
        """The activity's name, as definitions schedule it."""

    @property
    def guarantee(self) -> Guarantee:
        """What the receiver enforces; for a host that can, this is read from the host."""

    @property
    def queue(self) -> str:
        """The kind of activity, as a worker announces what it serves."""

    def perform(self, request: JsonObject, call: Call) -> Outcome:
        """Send the request, once. Never raises for what the receiver or the network does."""

    def observe(self, request: JsonObject, call: Call) -> Observed:
        """Read whether the effect stands outside. Changes nothing."""
