"""Six time limits by the database's clock: each says what stopped moving and goes its own way."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from orchestrator.contracts.messages import RetryWish
from orchestrator.domain.budgets import TimeLimit
from orchestrator.domain.failures import FailureKind, StaleAttempt
from orchestrator.engine import due
from orchestrator.engine.hand_on import Failure
from orchestrator.engine.results import Success
from orchestrator.store import claims, steps
from orchestrator.store.claims import Renewal
from orchestrator.workflows.document import CHECK_LIMITS
from tests.support.database import Clock
from tests.support.line import LEASE_S, Line

pytestmark = pytest.mark.engine
LONG_S = 1000.0
HELD = Renewal(cancelled=False, reached=None)


def reached(limit: TimeLimit) -> Renewal:
    """Return the answer to a heartbeat that tells an activity of a limit."""
    return Renewal(cancelled=False, reached=limit)


def test_a_step_that_no_worker_starts_reaches_its_queue_limit(line: Line, clock: Clock) -> None:
    run = line.document()
    clock.advance(CHECK_LIMITS.queue_s + 1)
    assert line.expired.run_once() == 1
    assert "queue-limit-reached" in line.history(run)
    shown, step = line.run(run), line.steps(run)[0]
    assert (shown["outcome"], step["status"], step["attempts"]) == ("failed", "failed", 0)
    assert "queue limit of 3600 s: no worker started it" in shown["reason"]
    assert line.claim() == []


def test_a_step_that_was_started_in_time_has_no_queue_limit(line: Line, clock: Clock) -> None:
    line.document()
    clock.advance(CHECK_LIMITS.queue_s - 1)
    [lease] = line.claim()
    clock.advance(2)
    assert line.expired.run_once() == 0
    assert line.beat(lease) == [HELD]


def test_an_attempt_past_its_limit_is_told_and_another_follows(line: Line, clock: Clock) -> None:
    run = line.document()
    [lease] = line.claim()
    line.beat(lease, lease_s=LONG_S)
    clock.advance(CHECK_LIMITS.attempt_s / 3)
    for _ in range(2):
        with line.database.commit("keep-substate") as tx:
            steps.keep_substate_if_leased(tx, lease, {"line": 7})
        line.beat(lease, lease_s=LONG_S)
        clock.advance(CHECK_LIMITS.attempt_s / 3 + 1)
    assert line.beat(lease) == [reached(TimeLimit.ATTEMPT)]
    line.results.overdue(lease, TimeLimit.ATTEMPT)
    assert "attempt-limit-reached" in line.history(run)
    step = line.steps(run)[0]
    assert (step["status"], step["spent"]["tool"]) == ("due", 1)
    assert step["attempt_records"][0]["outcome"] == "overdue"
    clock.advance(1)
    [again] = line.claim("w2")
    assert (again.attempt, again.substate) == (2, {"line": 7})


def test_a_worker_that_reports_no_progress_is_not_trusted_for_ever(
    line: Line, clock: Clock
) -> None:
    """It heartbeats on; its lease is not renewed past the limit and a grace."""
    run = line.document()
    [lease] = line.claim()
    line.beat(lease, lease_s=LONG_S)
    clock.advance(26)
    assert line.beat(lease, lease_s=LONG_S) == [reached(TimeLimit.PROGRESS)]
    clock.advance(15)
    assert line.expired.run_once() == 1
    assert "progress-limit-reached" in line.history(run)
    assert line.beat(lease) == [None]
    assert line.steps(run)[0]["spent"]["tool"] == 1
    with pytest.raises(StaleAttempt):
        line.results.succeed(lease, Success({"findings": []}))


def test_reported_progress_moves_the_progress_limit(line: Line, clock: Clock) -> None:
    line.document()
    [lease] = line.claim()
    line.beat(lease, lease_s=LONG_S)
    clock.advance(24)
    with line.database.commit("keep-substate") as tx:
        assert steps.keep_substate_if_leased(tx, lease, {"line": 1})
    clock.advance(24)
    assert line.beat(lease, lease_s=LONG_S) == [HELD]
    clock.advance(2)
    assert line.beat(lease, lease_s=LONG_S) == [reached(TimeLimit.PROGRESS)]


def test_a_worker_without_a_word_reaches_the_heartbeat_limit(line: Line, clock: Clock) -> None:
    run = line.document()
    line.claim()
    clock.advance(LEASE_S + 1)
    assert line.expired.run_once() == 1
    assert "heartbeat-limit-reached" in line.history(run)
    step = line.steps(run)[0]
    assert (step["status"], step["spent"]["lost"], step["spent"]["tool"]) == ("due", 1, 0)
    assert step["attempt_records"][0]["outcome"] == "lost"


def test_all_attempts_together_have_a_limit(line: Line, clock: Clock) -> None:
    """The receiver asks for a wait that ends after the step's whole time."""
    run = line.document()
    [lease] = line.claim()
    asked = Failure(FailureKind.TRANSIENT, "429", retry_after_s=7150)
    line.results.fail(lease, asked)
    clock.advance(CHECK_LIMITS.total_s + 1)
    assert line.expired.run_once() == 1
    assert "total-limit-reached" in line.history(run)
    assert "total limit of 7200 s" in line.run(run)["reason"]


def test_a_late_heartbeat_hears_of_the_total_limit_first(line: Line, clock: Clock) -> None:
    line.document()
    [lease] = line.claim()
    line.beat(lease, lease_s=LONG_S)
    clock.advance(CHECK_LIMITS.total_s + 1)
    assert line.beat(lease) == [reached(TimeLimit.TOTAL)]


def test_a_run_past_its_deadline_is_stopped_and_cleaned(line: Line, clock: Clock) -> None:
    run = line.document(deadline_s=100.0)
    line.work()
    assert line.run(run)["phase"] == "awaiting-approval"
    clock.advance(101)
    assert due.end_overdue_runs(line.database, line.definitions) == 1
    assert due.end_overdue_runs(line.database, line.definitions) == 0
    line.work()
    shown = line.run(run)
    assert (shown["outcome"], shown["cancel_by"]) == ("deadline-exceeded", "deadline")
    assert "deadline-reached" in line.history(run)


def test_a_run_within_its_deadline_is_left_alone(line: Line, clock: Clock) -> None:
    line.document(deadline_s=100.0)
    clock.advance(99)
    assert due.end_overdue_runs(line.database, line.definitions) == 0


def test_what_reached_its_queue_limit_is_tried_again_when_an_operator_says_so(
    line: Line, clock: Clock
) -> None:
    run = line.document()
    clock.advance(CHECK_LIMITS.queue_s + 1)
    line.expired.run_once()
    said = line.say(run, RetryWish())
    assert (said["result"], said["reopened"]) == ("accepted", True)
    line.work()
    assert line.run(run)["phase"] == "awaiting-approval"
    assert [step["ordinal"] for step in line.steps(run) if step["name"] == "check"] == [1, 2]


def test_a_lease_is_never_born_expired(line: Line, clock: Clock) -> None:
    """A transaction that stood open for longer than the lease before it claimed."""
    line.document()
    with line.database.commit("claim") as tx:
        tx.execute(select(1))
        clock.advance(LEASE_S + 5)
        [lease] = claims.claim_due(tx, "w1", "test", ["check-document"], batch=1, lease_s=LEASE_S)
    assert line.expired.run_once() == 0
    assert line.beat(lease) == [HELD]
