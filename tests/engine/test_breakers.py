"""A thousand runs that meet one outage make no storm: one breaker per receiver."""

from __future__ import annotations

import pytest

from orchestrator.domain.failures import FailureKind
from orchestrator.engine.hand_on import Failure
from orchestrator.store import breakers
from orchestrator.store.breakers import FAILURES_BEFORE_OPEN, LONGEST_OPEN_S
from tests.support.database import Clock
from tests.support.line import Line

pytestmark = pytest.mark.engine
DOWN = Failure(FailureKind.TRANSIENT, "connection refused")


def meet_outage(line: Line, runs: int) -> int:
    """Start so many runs and let as many as may try fail; return how many tried."""
    for number in range(runs):
        line.start(f"key-{number}")
    tried = 0
    while leases := line.claim(batch=1):
        line.results.fail(leases[0], DOWN)
        tried += 1
    return tried


def test_an_outage_stops_all_runs_after_a_few_tries(line: Line) -> None:
    assert meet_outage(line, 40) == FAILURES_BEFORE_OPEN


def test_another_receiver_is_not_held_up(line: Line) -> None:
    meet_outage(line, 6)
    line.document("document")
    assert [lease.activity for lease in line.claim()] == ["check-document"]


def test_while_it_lasts_each_trial_opens_the_breaker_for_longer(line: Line, clock: Clock) -> None:
    meet_outage(line, 20)
    tries, waited = 0, 0.0
    while waited < 600:
        clock.advance(5)
        waited += 5
        for lease in line.claim(batch=1):
            assert lease.on_trial
            line.results.fail(lease, DOWN)
            tries += 1
    assert 600 / LONGEST_OPEN_S <= tries <= 600 / LONGEST_OPEN_S + 7


def test_an_answer_closes_it_for_everybody(line: Line, clock: Clock) -> None:
    meet_outage(line, 8)
    clock.advance(61)
    [trial] = line.claim(batch=1)
    line.execute(trial)
    with line.database.read() as tx:
        assert breakers.list_all(tx) == []
    assert line.work() > 8


def test_a_receiver_that_says_when_to_come_back_is_believed_for_all_runs(
    line: Line, clock: Clock
) -> None:
    for number in range(3):
        line.start(f"key-{number}")
    [lease] = line.claim(batch=1)
    line.results.fail(lease, Failure(FailureKind.TRANSIENT, "429", retry_after_s=600))
    with line.database.read() as tx:
        [shown] = breakers.list_all(tx)
    assert (shown["receiver"], shown["is_open"], shown["reason"]) == ("tracker", True, "429")
    clock.advance(599)
    assert line.claim() == []
    clock.advance(2)
    assert len(line.claim()) == 2
