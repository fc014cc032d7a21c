"""What was sent and not answered: observed, adopted or kept ambiguous, never sent blindly."""

from __future__ import annotations

from pathlib import Path

import pytest

from activities.mutation import Call
from orchestrator.domain.operations import Adopt, Guarantee, SendAgain, marker
from orchestrator.engine.send import Permission, mark_sent
from orchestrator.engine.settle import Observation, Settler
from orchestrator.store import operations, runs
from orchestrator.workflows.catalogue import definitions
from tests.support.database import Clock
from tests.support.line import LEASE_S, Line
from tests.support.tickets import TicketService, registry

pytestmark = pytest.mark.engine


@pytest.fixture
def keyless(tmp_path: Path) -> TicketService:
    """Return a service that enforces nothing, as trackers do."""
    return TicketService(tmp_path / "keyless.sqlite", keys=False)


@pytest.fixture
def blind(database_url: str, keyless: TicketService) -> Line:
    """Return a line of work against it."""
    return Line(database_url, definitions(), registry(keyless))


def send_and_lose(line: Line, guarantee: Guarantee) -> Call:
    """Mark a create sent and let its worker die; return the call as it would have been made."""
    [lease] = line.claim("dying")
    assert mark_sent(line.database, lease, guarantee, 1.0) is Permission.SEND
    with line.database.read() as tx:
        installation = runs.installation_id(tx)
    name = str(lease.operation_id)
    return Call(name, marker(installation, name), lease.generation, "tag", installation)


def test_an_expired_lease_with_a_sent_operation_becomes_ambiguous_and_is_not_due(
    line: Line, clock: Clock
) -> None:
    """P8."""
    run = line.start()
    send_and_lose(line, Guarantee.IDEMPOTENCY_KEY)
    clock.advance(LEASE_S + 1)
    line.expired.run_once()
    assert line.operations(run)[0]["status"] == "ambiguous"
    assert line.steps(run)[0]["status"] == "unsettled"
    assert line.steps(run)[0]["generation"] == 2
    assert line.claim() == []


def test_an_effect_that_landed_is_adopted_and_the_run_goes_on(
    blind: Line, keyless: TicketService, clock: Clock
) -> None:
    run = blind.start()
    keyless.create("Maintenance", send_and_lose(blind, Guarantee.NONE))
    clock.advance(LEASE_S + 1)
    blind.expired.run_once()
    assert blind.ambiguous.run_once() == 1
    blind.work("w2")
    assert blind.run(run)["outcome"] == "filed"
    assert len(keyless.tickets()) == 1
    assert blind.operations(run)[0]["settled_by"] == "reconciler:test"
    blind.database.close()


def test_absence_at_a_receiver_without_guarantee_settles_nothing(
    blind: Line, keyless: TicketService, clock: Clock
) -> None:
    """P9: not found is not "was not done"; the request is never sent a second time."""
    run = blind.start()
    send_and_lose(blind, Guarantee.NONE)
    clock.advance(LEASE_S + 1)
    blind.expired.run_once()
    for _ in range(6):
        blind.ambiguous.run_once()
        clock.advance(300)
    operation = blind.operations(run)[0]
    assert operation["status"] == "ambiguous"
    assert [seen["saw"] for seen in operation["observations"]] == ["absent"] * 6
    assert blind.claim() == []
    assert keyless.journal() == []
    blind.database.close()


def test_looks_at_an_ambiguous_operation_come_with_growing_pauses(
    blind: Line, clock: Clock
) -> None:
    blind.start()
    send_and_lose(blind, Guarantee.NONE)
    clock.advance(LEASE_S + 1)
    blind.expired.run_once()
    looks = []
    for _ in range(8):
        looks.append(blind.ambiguous.run_once())
        clock.advance(1.5)
    assert looks[0] == 1
    assert sum(looks) < 5
    blind.database.close()


def test_absence_where_the_receiver_refuses_duplicates_lets_the_same_request_go_again(
    line: Line, service: TicketService, clock: Clock
) -> None:
    run = line.start()
    send_and_lose(line, Guarantee.IDEMPOTENCY_KEY)
    clock.advance(LEASE_S + 1)
    line.expired.run_once()
    assert line.ambiguous.run_once() == 1
    line.work("w2")
    assert line.run(run)["outcome"] == "filed"
    assert service.journal()[0] == "create"
    assert len(service.tickets()) == 1


def test_a_request_that_lands_after_it_was_sent_again_makes_no_second_ticket(
    line: Line, service: TicketService, clock: Clock
) -> None:
    line.start()
    late = send_and_lose(line, Guarantee.IDEMPOTENCY_KEY)
    clock.advance(LEASE_S + 1)
    line.expired.run_once()
    line.ambiguous.run_once()
    line.work("w2")
    service.create("Maintenance", late)
    assert len(service.tickets()) == 1


def test_a_verdict_never_overwrites_a_later_word(line: Line, clock: Clock) -> None:
    """R18: compare-and-set on the version that was read."""
    run = line.start()
    send_and_lose(line, Guarantee.IDEMPOTENCY_KEY)
    clock.advance(LEASE_S + 1)
    line.expired.run_once()
    with line.database.read() as tx:
        [stale] = operations.due_for_observation(tx, 10)
    settler = Settler(line.database, line.definitions)
    adopted = Observation(Adopt("7", {"number": 7}), {}, "person:olga")
    assert settler.settle_if_unchanged(stale, adopted)
    late = Observation(SendAgain("stale look"), {}, "reconciler:late")
    assert not settler.settle_if_unchanged(stale, late)
    assert line.operations(run)[0]["reference"] == "7"
    assert line.operations(run)[0]["settled_by"] == "person:olga"
