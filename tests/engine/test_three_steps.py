"""A run of three mutations, start to end."""

from __future__ import annotations

import pytest

from orchestrator.domain.failures import SubmissionConflict
from tests.support.line import Line
from tests.support.tickets import TicketService

pytestmark = pytest.mark.engine


def test_a_run_ends_filed_with_one_effect_for_each_step(line: Line, service: TicketService) -> None:
    run = line.start()
    assert line.work() == 3
    shown = line.run(run)
    assert (shown["status"], shown["outcome"], shown["position"]) == ("ended", "filed", 4)
    assert service.tickets() == [(1, "Maintenance", "From two to three.", "completed")]
    assert service.journal() == ["create", "set section", "set closed"]


def test_history_holds_each_accepted_event_once_and_in_order(line: Line) -> None:
    run = line.start()
    line.work()
    assert line.history(run) == ["run-started", *["step-succeeded"] * 3]


def test_the_same_key_and_body_start_one_run_and_another_body_is_a_conflict(line: Line) -> None:
    run = line.start("k")
    assert line.start("k") == run
    with pytest.raises(SubmissionConflict, match="k"):
        line.start("k", title="Another")
    assert line.work() == 3


def test_a_submission_with_a_wrong_field_starts_nothing_and_names_it(line: Line) -> None:
    with pytest.raises(ValueError, match="repository"):
        line.start("k", repository="no slash")
    assert line.work() == 0


def test_an_intent_and_its_fingerprint_are_stored_before_anything_is_sent(
    line: Line, service: TicketService
) -> None:
    """P6."""
    run = line.start()
    [operation] = line.operations(run)
    assert operation["status"] == "intended"
    assert operation["id"] == f"{run}:file:1"
    assert operation["fingerprint"].startswith("sha256:")
    assert operation["request"]["title"] == "Maintenance"
    assert service.journal() == []


def test_an_operation_keeps_the_guarantee_it_was_sent_under(line: Line) -> None:
    run = line.start()
    line.work()
    guarantees = [operation["guarantee"] for operation in line.operations(run)]
    assert guarantees == ["idempotency-key", "natural", "natural"]
