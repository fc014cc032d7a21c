"""An outside that only a person can make readable again is looked at seldom, and shown with why."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from activities.mutation import Call, Observed, Unreadable
from activities.registry import Registry
from orchestrator.contracts.messages import CancelWish
from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.failures import FailureKind
from orchestrator.domain.operations import (
    LONGEST_PAUSE_S,
    PAUSE_FOR_PERSON_S,
    QUICK_LOOKS,
    Guarantee,
    StillUnknown,
)
from orchestrator.engine import inbox
from orchestrator.engine.send import Permission, mark_sent
from orchestrator.store.messages import MessageKey
from orchestrator.workflows.catalogue import definitions
from reconciler.verdicts import verdict
from tests.support.database import Clock
from tests.support.line import LEASE_S, Line
from tests.support.tickets import CreateTicket, TicketService, registry

pytestmark = pytest.mark.engine

DENIED = Unreadable("/user: status 401", FailureKind.PERMANENT)
DOWN = Unreadable("/user: ConnectError", FailureKind.TRANSIENT)


@dataclass
class Shut(CreateTicket):
    """Create a ticket at a service that is read only once `why` is None."""

    why: list[Unreadable | None] = field(default_factory=lambda: [DENIED])

    def observe(self, request: JsonObject, call: Call) -> Observed:
        """Say why it cannot be read, else what is there."""
        return self.why[-1] or super().observe(request, call)


@pytest.fixture
def create(service: TicketService) -> Shut:
    """Return the mutation, whose receiver refuses duplicates but does not let us read."""
    return Shut(service)


@pytest.fixture
def shut(database_url: str, service: TicketService, create: Shut) -> Iterator[Line]:
    """Yield a line of work against it."""
    known = registry(service).mutations
    others = [mutation for name, mutation in known.items() if name != create.name]
    made = Line(database_url, definitions(), Registry([], [create, *others]))
    yield made
    made.database.close()


@pytest.fixture
def run(shut: Line, clock: Clock) -> str:
    """Return a run whose first mutation was sent and never answered."""
    run = shut.start()
    [lease] = shut.claim("dying")
    sent = mark_sent(shut.database, lease, Guarantee.IDEMPOTENCY_KEY, 1.0)
    assert sent is Permission.SEND
    clock.advance(LEASE_S + 1)
    shut.expired.run_once()
    return run


def looks(line: Line, clock: Clock, seconds: float, every: float) -> int:
    """Let time pass in steps and return how often somebody looked."""
    done = 0
    for _ in range(int(seconds / every)):
        done += line.ambiguous.run_once()
        clock.advance(every)
    return done


@pytest.mark.parametrize(("guarantee", "kind"), list(itertools.product(Guarantee, FailureKind)))
def test_what_cannot_be_read_is_neither_failed_nor_absent(
    guarantee: Guarantee, kind: FailureKind
) -> None:
    """P9, whatever the receiver enforces and whyever it could not be read."""
    settled = verdict(guarantee, Unreadable("status 401", kind))
    assert isinstance(settled, StillUnknown)
    assert settled.reason == f"unreadable, {kind}: status 401"


def test_only_what_time_does_not_mend_needs_a_person() -> None:
    waits = {
        kind
        for kind in FailureKind
        if verdict(Guarantee.NATURAL, Unreadable("", kind))
        == StillUnknown(f"unreadable, {kind}: ", needs_person=True)
    }
    mends = {FailureKind.TRANSIENT, FailureKind.ENVIRONMENTAL, FailureKind.AMBIGUOUS}
    assert waits == set(FailureKind) - mends


def test_a_wrong_token_is_tried_a_little_and_then_seldom(
    shut: Line, run: str, clock: Clock
) -> None:
    assert looks(shut, clock, 20, every=5) == QUICK_LOOKS
    assert looks(shut, clock, PAUSE_FOR_PERSON_S * 4, every=LONGEST_PAUSE_S) <= 4
    operation = shut.operations(run)[0]
    assert operation["status"] == "ambiguous"
    assert operation["settled_at"] is None
    assert shut.steps(run)[0]["status"] == "unsettled"
    assert shut.claim() == []


def test_why_it_cannot_be_read_is_shown_and_told_once_in_the_history(
    shut: Line, run: str, clock: Clock
) -> None:
    looks(shut, clock, 4000, every=200)
    seen = {"saw": "unreadable", "reason": "/user: status 401", "kind": "permanent"}
    operation = shut.operations(run)[0]
    assert operation["observations"] == [seen] * len(operation["observations"])
    assert len(operation["observations"]) > QUICK_LOOKS
    assert operation["observe_at"] is not None
    assert shut.history(run).count("operation-unreadable") == 1


def test_what_fails_only_now_is_looked_at_as_before(
    shut: Line, run: str, create: Shut, clock: Clock
) -> None:
    create.why.append(DOWN)
    assert looks(shut, clock, PAUSE_FOR_PERSON_S * 4, every=LONGEST_PAUSE_S + 1) == 29
    assert "operation-unreadable" not in shut.history(run)


def test_once_a_person_has_acted_the_truth_is_found(
    shut: Line, run: str, create: Shut, service: TicketService, clock: Clock
) -> None:
    looks(shut, clock, 4000, every=200)
    create.why.append(None)
    clock.advance(PAUSE_FOR_PERSON_S)
    assert shut.ambiguous.run_once() == 1
    shut.work("w2")
    assert shut.run(run)["outcome"] == "filed"
    assert service.journal().count("create") == 1


def test_a_cancelled_run_does_not_wait_out_the_long_pauses(
    shut: Line, run: str, clock: Clock
) -> None:
    inbox.accept(shut.database, MessageKey(run, "run", "olga", "m1"), CancelWish())
    inbox.decide_some(shut.database, shut.definitions)
    assert shut.run(run)["cancel_stage"] == "stopping"
    looks(shut, clock, 20, every=5)
    assert shut.run(run)["status"] == "ended"
    assert shut.operations(run)[0]["status"] == "ambiguous"
