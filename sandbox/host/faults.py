"""The fault switchboard: which requests go wrong, in which way, and who waits for it.

It lives in the host's memory, on its event loop: a restart forgets every fault.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator


class Action(StrEnum):
    """What happens to a request that a fault picks."""

    HOLD_BEFORE = "hold_before"  # not applied until released, also if the client has left
    DELAY = "delay"  # applied after some seconds, also if the client has left
    CUT_BEFORE = "cut_before"  # connection closed, nothing applied
    REFUSE = "refuse"  # answered with a status, nothing applied
    STALE_LIST = "stale_list"  # a list without what was created after the fault was set
    HOLD_AFTER = "hold_after"  # applied, answer kept until released
    DROP_AFTER = "drop_after"  # applied, connection closed without an answer
    ERROR_AFTER = "error_after"  # applied, answered 502


class Release(StrEnum):
    """How a held request goes on."""

    DELIVER = "deliver"
    DROP = "drop"


class FaultOrder(BaseModel):
    """A fault as it is ordered: the nth matching request and the `times - 1` after it.

    `path` is a regular expression that must match somewhere in the path; `contains` must occur in
    the body; `login` is who asks. Only requests with a valid token count. `polls` is another
    word for `times`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    action: Action
    method: str | None = None
    path: str = ""
    contains: str | None = None
    login: str | None = None
    nth: int = Field(1, ge=1)
    times: int = Field(1, ge=1)
    polls: int | None = Field(None, ge=1)
    seconds: float = Field(0, ge=0, le=600)
    status: int = Field(503, ge=400, le=599)
    retry_after: int | None = Field(None, ge=0)

    @field_validator("path")
    @classmethod
    def _compiles(cls, path: str) -> str:
        try:
            re.compile(path)
        except re.error as error:
            raise ValueError(f"not a regular expression: {error}") from error
        return path

    def matches(self, method: str, path: str, login: str, body: bytes) -> bool:
        """Tell whether the request is one of those meant."""
        return (
            self.method in (None, method)
            and re.search(self.path, path) is not None
            and self.login in (None, login)
            and (self.contains is None or self.contains.encode() in body)
        )


@dataclass
class Fault:
    """A fault that is set: how many requests matched, how many it has hit, whom it holds."""

    id: int
    order: FaultOrder
    set_at: int  # the journal's last ordinal when it was set
    seen: int = 0
    fired: int = 0
    held: dict[int, asyncio.Future[Release]] = field(default_factory=dict)

    def show(self) -> dict[str, Any]:
        """Return the fault as JSON; `held` are ordinals of the journal."""
        return {
            "id": self.id,
            **self.order.model_dump(mode="json"),
            "seen": self.seen,
            "fired": self.fired,
            "held": sorted(self.held),
        }


class Switchboard:
    """All faults that are set. Every method runs on the event loop."""

    def __init__(self) -> None:
        self._faults: dict[int, Fault] = {}
        self._ids = count(1)
        self._changed = asyncio.Condition()

    def add(self, order: FaultOrder, set_at: int) -> Fault:
        """Set a fault."""
        fault = Fault(next(self._ids), order, set_at)
        self._faults[fault.id] = fault
        return fault

    def all(self) -> list[Fault]:
        """Return the faults in the order in which they were set."""
        return list(self._faults.values())

    def get(self, fault_id: int) -> Fault | None:
        """Return the fault, or None."""
        return self._faults.get(fault_id)

    def remove(self, fault_id: int) -> Fault | None:
        """Take the fault away; what it holds goes on and is delivered."""
        fault = self._faults.pop(fault_id, None)
        if fault is not None:
            release(fault, Release.DELIVER)
        return fault

    def pick(self, method: str, path: str, login: str, body: bytes) -> Fault | None:
        """Count the request at every fault it matches; return the first that hits it."""
        hit: Fault | None = None
        for fault in self._faults.values():
            if not fault.order.matches(method, path, login, body):
                continue
            fault.seen += 1
            last = fault.order.nth + (fault.order.polls or fault.order.times) - 1
            if hit is None and fault.order.nth <= fault.seen <= last:
                hit = fault
        return hit

    async def fire(self, fault: Fault) -> None:
        """Count a hit at the moment it takes effect, and wake those who wait for it."""
        async with self._changed:
            fault.fired += 1
            self._changed.notify_all()

    async def hold(self, fault: Fault, ordinal: int) -> Release:
        """Keep a request until it is released."""
        waiting: asyncio.Future[Release] = asyncio.get_running_loop().create_future()
        fault.held[ordinal] = waiting
        await self.fire(fault)
        try:
            return await waiting
        finally:
            fault.held.pop(ordinal, None)

    async def wait_fired(self, fault: Fault, seconds: float) -> None:
        """Return once the fault has hit, or after so many seconds."""
        try:
            async with asyncio.timeout(seconds), self._changed:
                await self._changed.wait_for(lambda: fault.fired > 0)
        except TimeoutError:
            return


def release(fault: Fault, how: Release) -> int:
    """Let every held request go on; return how many there were."""
    waiting = [one for one in fault.held.values() if not one.done()]
    for one in waiting:
        one.set_result(how)
    return len(waiting)
