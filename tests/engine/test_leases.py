"""Leases, generations and taking over (P4, P5, R9, R12, R14)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from activities.activity import Stop, StopReason
from orchestrator.domain.failures import FailureKind, StaleAttempt
from orchestrator.domain.operations import Guarantee
from orchestrator.engine.hand_on import Failure
from orchestrator.engine.results import Success
from orchestrator.engine.send import Permission, mark_sent
from orchestrator.store.claims import Renewal
from tests.support.database import Clock
from tests.support.line import LEASE_S, Line
from tests.support.tickets import TicketService

pytestmark = pytest.mark.engine


def test_concurrent_claims_never_share_a_step(line: Line) -> None:
    for index in range(12):
        line.start(f"k{index}")
    barrier = Barrier(4)

    def claim(worker: str) -> list[str]:
        barrier.wait()
        return [lease.workflow_id for lease in line.claim(worker, batch=5)]

    with ThreadPoolExecutor(4) as pool:
        claimed = [run for runs in pool.map(claim, "abcd") for run in runs]
    claimed += [lease.workflow_id for lease in line.claim("last", batch=20)]
    assert len(claimed) == len(set(claimed)) == 12


def test_a_claim_takes_no_more_than_its_batch(line: Line) -> None:
    for index in range(5):
        line.start(f"k{index}")
    assert len(line.claim(batch=2)) == 2


def test_an_expired_lease_is_handed_to_another_worker_under_a_higher_generation(
    line: Line, clock: Clock
) -> None:
    line.start()
    [first] = line.claim("w1")
    clock.advance(LEASE_S + 1)
    assert line.expired.run_once() == 1
    [second] = line.claim("w2")
    assert (first.generation, second.generation) == (1, 2)
    assert (second.attempt, second.worker) == (2, "w2")


def test_a_lease_that_lives_is_never_taken(line: Line, clock: Clock) -> None:
    line.start()
    line.claim("w1")
    clock.advance(LEASE_S - 1)
    assert line.expired.run_once() == 0
    assert line.claim("w2") == []


def test_a_heartbeat_renews_a_lease_and_never_moves_it_backward(line: Line, clock: Clock) -> None:
    line.start()
    [lease] = line.claim("w1")
    assert line.beat(lease, lease_s=100.0) == [Renewal(cancelled=False, reached=None)]
    line.beat(lease, lease_s=1.0)
    clock.advance(50)
    assert line.expired.run_once() == 0


def test_a_heartbeat_of_a_superseded_attempt_is_told_so(line: Line, clock: Clock) -> None:
    line.start()
    [lease] = line.claim("w1")
    clock.advance(LEASE_S + 1)
    line.expired.run_once()
    line.claim("w2")
    assert line.beat(lease) == [None]


def test_a_late_result_moves_nothing_and_is_kept_as_a_late_word(
    line: Line, clock: Clock, service: TicketService
) -> None:
    run = line.start()
    [first] = line.claim("w1")
    clock.advance(LEASE_S + 1)
    line.expired.run_once()
    [second] = line.claim("w2")
    with pytest.raises(StaleAttempt, match="superseded"):
        line.results.succeed(first, Success({"number": 9}, reference="9"))
    assert line.run(run)["position"] == 2
    line.execute(second)
    line.work("w2")
    assert line.run(run)["outcome"] == "filed"
    late = line.steps(run)[0]["attempt_records"][0]["late"]
    assert late["refused_as_stale"]["reference"] == "9"
    assert len(service.tickets()) == 1


def test_a_superseded_attempt_may_not_send(line: Line, clock: Clock) -> None:
    """R1: `sent` is guarded by attempt and generation."""
    line.start()
    [first] = line.claim("w1")
    clock.advance(LEASE_S + 1)
    line.expired.run_once()
    line.claim("w2")
    permission = mark_sent(line.database, first, Guarantee.NATURAL, 5.0)
    assert permission is Permission.STALE


def test_a_send_holds_the_lease_for_the_mutations_own_limit(line: Line, clock: Clock) -> None:
    """R10."""
    line.start()
    [lease] = line.claim("w1")
    assert mark_sent(line.database, lease, Guarantee.NATURAL, 300.0) is Permission.SEND
    clock.advance(200)
    assert line.expired.run_once() == 0


def test_a_step_that_loses_its_worker_again_and_again_is_given_up(line: Line, clock: Clock) -> None:
    """R14: a small budget of its own."""
    run = line.start()
    for _ in range(4):
        assert len(line.claim("w1")) == 1
        clock.advance(LEASE_S + 1)
        assert line.expired.run_once() == 1
    shown = line.run(run)
    assert (shown["status"], shown["outcome"]) == ("ended", "failed")
    assert "lost 4 times" in shown["reason"]
    assert line.operations(run)[0]["status"] == "refused"


def test_a_transient_failure_is_tried_again_after_its_pause(line: Line, clock: Clock) -> None:
    run = line.start()
    [lease] = line.claim()
    line.results.fail(lease, Failure(FailureKind.TRANSIENT, "429", retry_after_s=60))
    assert line.claim() == []
    clock.advance(67)
    [again] = line.claim()
    assert (again.attempt, again.generation) == (2, 2)
    assert line.steps(run)[0]["spent"]["asked_wait_s"] == 60
    assert line.steps(run)[0]["spent"]["transport"] == 0


def test_separate_budgets_are_spent_by_the_kind_of_failure(line: Line, clock: Clock) -> None:
    run = line.start()
    for kind in (FailureKind.TRANSIENT, FailureKind.ENVIRONMENTAL, FailureKind.REFUSED):
        [lease] = line.claim()
        line.results.fail(lease, Failure(kind, "again"))
        clock.advance(120)
    spent = line.steps(run)[0]["spent"]
    assert (spent["transport"], spent["tool"], spent["refusal"]) == (1, 1, 1)


def test_a_permanent_failure_is_never_tried_again(line: Line, clock: Clock) -> None:
    run = line.start()
    [lease] = line.claim()
    line.results.fail(lease, Failure(FailureKind.PERMANENT, "no such repository"))
    clock.advance(10_000)
    assert line.claim() == []
    assert line.run(run)["reason"] == "no such repository"


def test_an_activity_stopped_for_shutdown_is_handed_on_at_once(line: Line) -> None:
    line.start()
    [lease] = line.claim()
    stop = Stop()
    stop.set(StopReason.SHUTDOWN)
    line.results.fail(lease, Failure(FailureKind.TRANSIENT, "shutdown", 0.0))
    assert len(line.claim("w2")) == 1
