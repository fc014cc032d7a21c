"""Cancellation: stops, drops what never started, keeps facts, lists what stays open."""

from __future__ import annotations

import pytest

from orchestrator.contracts.messages import CancelWish
from orchestrator.domain.failures import FailureKind, MessageConflict
from orchestrator.domain.operations import Guarantee
from orchestrator.engine import inbox
from orchestrator.engine.hand_on import Failure
from orchestrator.engine.results import Success
from orchestrator.engine.send import Permission, mark_sent
from orchestrator.store import runs
from orchestrator.store.claims import Renewal
from orchestrator.store.messages import MessageKey
from tests.support.database import Clock
from tests.support.line import LEASE_S, Line
from tests.support.tickets import TicketService

pytestmark = pytest.mark.engine


def cancel(line: Line, run: str, message: str = "m1") -> dict[str, object] | None:
    """Say cancel, decide it, and return the answer."""
    key = MessageKey(run, "run", "olga", message)
    inbox.accept(line.database, key, CancelWish())
    inbox.decide_some(line.database, line.definitions)
    return inbox.answer_of(line.database, key)


def test_a_run_with_nothing_active_is_cancelled_at_once_and_sends_nothing(
    line: Line, service: TicketService
) -> None:
    run = line.start()
    assert cancel(line, run) == {"result": "accepted", "stage": "done"}
    shown = line.run(run)
    assert (shown["outcome"], shown["cleanup"]) == ("cancelled", "none")
    assert line.operations(run)[0]["status"] == "abandoned"
    assert line.claim() == []
    assert service.journal() == []


def test_the_stages_are_passed_in_order(line: Line) -> None:
    run = line.start()
    cancel(line, run)
    assert line.history(run) == [
        "run-started",
        "cancellation-requested",
        *["cancellation-stage"] * 3,
        "active-work-stopped",
    ]


def test_an_active_attempt_hears_of_it_in_its_heartbeat_and_holds_the_end_up(line: Line) -> None:
    run = line.start()
    [lease] = line.claim()
    assert cancel(line, run) == {"result": "accepted", "stage": "stopping"}
    assert line.beat(lease) == [Renewal(cancelled=True, reached=None)]
    line.results.acknowledge_stop(lease)
    assert line.run(run)["outcome"] == "cancelled"


def test_a_cancelled_run_may_not_send(line: Line, service: TicketService) -> None:
    """R2: checked in the transaction that sets `sent`."""
    run = line.start()
    [lease] = line.claim()
    cancel(line, run)
    line.execute(lease)
    assert service.journal() == []
    assert line.run(run)["outcome"] == "cancelled"


def test_a_mutation_that_landed_during_the_stop_is_known_to_the_cleanup(line: Line) -> None:
    run = line.start()
    [lease] = line.claim()
    assert mark_sent(line.database, lease, Guarantee.IDEMPOTENCY_KEY, 1) is Permission.SEND
    cancel(line, run)
    line.results.succeed(lease, Success({"number": 1}, reference="1"))
    shown = line.run(run)
    assert (shown["outcome"], shown["state"]["ticket"]) == ("cancelled", "1")
    assert line.claim() == []


def test_an_operation_that_stays_ambiguous_is_listed_and_cleanup_is_incomplete(
    line: Line, clock: Clock
) -> None:
    """R20."""
    run = line.start()
    [lease] = line.claim()
    assert mark_sent(line.database, lease, Guarantee.NONE, 1) is Permission.SEND
    cancel(line, run)
    clock.advance(LEASE_S + 1)
    line.expired.run_once()
    for _ in range(4):
        line.ambiguous.run_once()
        clock.advance(60)
    shown = line.run(run)
    assert (shown["status"], shown["cleanup"]) == ("ended", "incomplete")
    assert f"{run}:file:1" in shown["reason"]


def test_the_lease_of_a_lost_worker_ends_the_stop_too(line: Line, clock: Clock) -> None:
    run = line.start()
    line.claim("dying")
    cancel(line, run)
    assert line.run(run)["cancel_stage"] == "stopping"
    clock.advance(LEASE_S + 1)
    line.expired.run_once()
    assert line.run(run)["outcome"] == "cancelled"


def test_cancel_reaches_a_step_in_back_off(line: Line) -> None:
    run = line.start()
    [lease] = line.claim()
    line.results.fail(lease, Failure(FailureKind.TRANSIENT, "429", retry_after_s=3600))
    cancel(line, run)
    assert line.run(run)["outcome"] == "cancelled"


def test_a_second_cancel_gets_the_stage_and_one_after_the_end_is_too_late(line: Line) -> None:
    run = line.start()
    [lease] = line.claim()
    cancel(line, run, "m1")
    assert cancel(line, run, "m2") == {"result": "already-cancelling", "stage": "stopping"}
    line.results.acknowledge_stop(lease)
    assert cancel(line, run, "m3") == {"result": "too-late", "status": "ended"}


def test_the_same_message_gets_the_first_answer_and_other_words_are_a_conflict(line: Line) -> None:
    """P3."""
    run = line.start()
    first = cancel(line, run, "m1")
    assert cancel(line, run, "m1") == first
    key = MessageKey(run, "run", "olga", "m1")
    with pytest.raises(MessageConflict, match="m1"):
        inbox.accept(line.database, key, CancelWish(reason="another"))


def test_a_result_that_comes_after_the_end_settles_its_operation_and_moves_nothing(
    line: Line,
) -> None:
    """R12: it may settle what is open, and never the run."""
    run = line.start()
    [lease] = line.claim()
    assert mark_sent(line.database, lease, Guarantee.NONE, 1) is Permission.SEND
    with line.database.commit("end") as tx:
        locked = runs.lock(tx, run)
        runs.write(
            tx, locked, status="ended", outcome="cancelled", generation=locked.generation + 1
        )
    line.results.succeed(lease, Success({"number": 1}, reference="1"))
    shown = line.run(run)
    assert (shown["outcome"], shown["position"], shown["state"]["ticket"]) == ("cancelled", 1, None)
    assert line.operations(run)[0]["status"] == "confirmed"
    assert line.claim() == []
