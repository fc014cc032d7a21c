"""What people say to a run has one defined answer, before, during and after its wait (P3)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from orchestrator.contracts.messages import (
    ApprovalAnswer,
    CancelWish,
    Correction,
    Message,
    PauseWish,
    RaiseWish,
    ResumeWish,
    RetryWish,
    TerminateWish,
)
from orchestrator.domain.budgets import Budget
from orchestrator.domain.failures import FailureKind, MessageConflict, StaleAttempt
from orchestrator.engine import due, inbox
from orchestrator.engine.hand_on import Failure
from orchestrator.engine.results import Success
from orchestrator.engine.send import Permission, mark_sent
from orchestrator.engine.set_aside import set_aside
from orchestrator.store import principals
from orchestrator.store.messages import MessageKey
from tests.support.database import Clock
from tests.support.line import Line
from tests.support.tickets import TicketService

pytestmark = pytest.mark.engine
ANSWER = ApprovalAnswer(ordinal=1, approve=True, head="0" * 40, manifest_sha256="x")
AFTER_THE_END: list[tuple[Message, str]] = [
    (ANSWER, "refused"),
    (CancelWish(), "too-late"),
    (TerminateWish(), "too-late"),
    (PauseWish(), "too-late"),
    (ResumeWish(), "too-late"),
    (Correction(text="better"), "too-late"),
    (RetryWish(), "refused"),
    (RaiseWish(budget=Budget.TOOL, amount=1), "refused"),
]


@pytest.fixture
def reviewed(line: Line) -> Line:
    """Return a line with a reviewer."""
    with line.database.commit("principal") as tx:
        principals.put(tx, "rita", ["reviewer"], "a token of rita's")
    return line


@pytest.fixture
def waiting(reviewed: Line) -> str:
    """Return a document that waits for its reviewer."""
    run = reviewed.document()
    reviewed.work()
    assert reviewed.run(run)["phase"] == "awaiting-approval"
    return run


def test_a_document_is_published_under_its_approval(
    reviewed: Line, waiting: str, service: TicketService
) -> None:
    """The whole of the second definition, on the engine as it is."""
    assert reviewed.decide(waiting, 1)["result"] == "approved"
    reviewed.work()
    assert reviewed.run(waiting)["outcome"] == "published"
    assert [row["status"] for row in reviewed.approvals(waiting)] == ["used"]
    assert service.tickets() == [(1, "Maintenance", "From two to three.", "completed")]


def test_a_document_with_a_placeholder_bothers_nobody(line: Line) -> None:
    run = line.document(text="# Plan\n\nlorem ipsum")
    line.work()
    assert (line.run(run)["outcome"], line.approvals(run)) == ("refused", [])
    assert "line 3 holds a placeholder" in line.run(run)["reason"]


def test_a_correction_is_checked_filed_and_asked_about_anew(
    reviewed: Line, waiting: str, service: TicketService
) -> None:
    said = reviewed.say(waiting, Correction(text="From three to four."), by="rita")
    assert said["result"] == "accepted"
    reviewed.work()
    assert reviewed.decide(waiting, 1)["result"] == "refused"
    assert reviewed.decide(waiting, 2)["result"] == "approved"
    reviewed.work()
    assert reviewed.run(waiting)["outcome"] == "published"
    assert service.tickets()[0][2] == "From three to four."


def test_nobody_answering_leads_to_a_reminder_another_request_and_an_ending(
    line: Line, clock: Clock
) -> None:
    run = line.document(expires_s=100.0, escalations=2)
    line.work()
    clock.advance(51)
    assert due.fire_some(line.database, line.definitions) == 1
    for _ in range(2):
        clock.advance(101)
        assert due.expire_some(line.database, line.definitions) == 1
    line.work()
    assert line.run(run)["outcome"] == "needs-human-review"
    said = line.say(run, RaiseWish(budget=Budget.ESCALATION, amount=1))
    assert (said["result"], said["reopened"]) == ("accepted", True)
    assert line.run(run)["phase"] == "awaiting-approval"
    assert [row["status"] for row in line.approvals(run)][-1] == "pending"


def test_a_paused_run_accepts_facts_and_starts_nothing(line: Line, clock: Clock) -> None:
    run = line.document()
    [lease] = line.claim()
    assert line.say(run, PauseWish(), "p1")["result"] == "paused"
    assert line.say(run, PauseWish(), "p2")["result"] == "already-paused"
    line.execute(lease)
    assert line.run(run)["status"] == "paused"
    assert line.claim() == []
    clock.advance(3600)
    assert line.claim() == []
    assert line.say(run, ResumeWish())["result"] == "resumed"
    assert line.work() == 1
    assert line.run(run)["phase"] == "awaiting-approval"


def test_an_approval_during_a_pause_holds_and_is_acted_on_after_it(
    reviewed: Line, waiting: str
) -> None:
    reviewed.say(waiting, PauseWish())
    assert reviewed.decide(waiting, 1)["result"] == "approved"
    assert reviewed.work() == 0
    reviewed.say(waiting, ResumeWish(), "m2")
    reviewed.work()
    assert reviewed.run(waiting)["outcome"] == "published"


@pytest.mark.parametrize("wish", [CancelWish(), TerminateWish()], ids=lambda wish: wish.KIND)
def test_a_paused_run_can_be_stopped(line: Line, wish: Message) -> None:
    run = line.document()
    line.say(run, PauseWish())
    line.say(run, wish, "m2")
    line.work()
    assert line.run(run)["status"] == "ended"


def test_a_run_that_was_set_aside_goes_on_when_somebody_can_read_it(line: Line) -> None:
    run = line.document()
    [lease] = line.claim()
    set_aside(line.database, run, "no definition read it")
    with pytest.raises(StaleAttempt):
        line.results.succeed(lease, Success({"findings": []}))
    assert line.claim() == []
    assert line.say(run, ResumeWish())["status"] == "running"
    line.work()
    assert line.run(run)["phase"] == "awaiting-approval"


def test_what_was_sent_before_a_run_was_set_aside_is_observed_first(
    line: Line, service: TicketService
) -> None:
    run = line.start()
    [lease] = line.claim()
    create = line.registry.mutations["create-ticket"]
    assert mark_sent(line.database, lease, create.guarantee, 5.0) is Permission.SEND
    set_aside(line.database, run, "no definition read it")
    line.say(run, ResumeWish())
    assert line.claim() == []
    assert line.operations(run)[0]["status"] == "ambiguous"
    line.ambiguous.run_once()
    line.work()
    assert line.run(run)["outcome"] == "filed"
    assert len(service.tickets()) == 1


def test_termination_stops_at_once_and_lists_what_stays_uncertain(line: Line) -> None:
    run = line.start()
    [lease] = line.claim()
    create = line.registry.mutations["create-ticket"]
    assert mark_sent(line.database, lease, create.guarantee, 5.0) is Permission.SEND
    said = line.say(run, TerminateWish(reason="wrong repository"))
    assert said["open_operations"] == [f"{run}:file:1"]
    shown = line.run(run)
    assert (shown["outcome"], shown["cleanup"]) == ("terminated", "incomplete")
    assert "terminated by olga: wrong repository" in shown["reason"]
    line.results.succeed(lease, Success({"number": 7}, reference="7"))
    assert line.run(run) == shown
    assert line.operations(run)[0]["status"] == "confirmed"
    assert line.steps(run)[0]["status"] == "succeeded"
    assert line.claim() == []


def test_what_a_terminated_run_had_sent_is_looked_at_until_it_is_known(
    line: Line, service: TicketService
) -> None:
    run = line.start()
    [lease] = line.claim()
    create = line.registry.mutations["create-ticket"]
    assert mark_sent(line.database, lease, create.guarantee, 5.0) is Permission.SEND
    line.say(run, TerminateWish())
    line.ambiguous.run_once()
    assert line.operations(run)[0]["status"] == "abandoned"
    assert line.run(run)["status"] == "ended"
    assert service.tickets() == []


def test_a_terminated_runs_attempt_hears_of_it_and_its_result_moves_nothing(line: Line) -> None:
    run = line.document()
    [lease] = line.claim()
    said = line.say(run, TerminateWish())
    assert (said["running_steps"], said["open_operations"]) == ([1], [])
    [answer] = line.beat(lease)
    assert answer is not None
    assert answer.cancelled
    line.execute(lease)
    assert line.run(run)["outcome"] == "terminated"
    assert len(line.steps(run)) == 1


@pytest.mark.parametrize(("message", "result"), AFTER_THE_END, ids=lambda part: str(part)[:20])
def test_after_the_end_each_message_has_its_answer(
    line: Line, message: Message, result: str
) -> None:
    run = line.start()
    line.work()
    before = line.run(run)
    assert line.say(run, message)["result"] == result
    assert line.run(run) == before


@pytest.mark.parametrize("message", [each[0] for each in AFTER_THE_END], ids=lambda m: m.KIND)
def test_a_repeat_gets_the_first_answer_and_other_words_a_conflict(
    line: Line, message: Message
) -> None:
    run = line.start()
    first = line.say(run, message)
    line.work()
    assert line.say(run, message) == first
    other = PauseWish() if not isinstance(message, PauseWish) else ResumeWish()
    with pytest.raises(MessageConflict):
        line.say(run, other)


def test_five_approvals_at_once_are_one_transition(reviewed: Line, waiting: str) -> None:
    [asked] = reviewed.approvals(waiting)
    answer = ApprovalAnswer(
        ordinal=1,
        approve=True,
        head=asked["scope"]["head"],
        manifest_sha256=asked["scope"]["manifest_sha256"],
    )

    def say(number: int) -> str:
        key = MessageKey(waiting, "approval:1", "rita", f"m{number}")
        inbox.accept(reviewed.database, key, answer)
        inbox.decide_some(reviewed.database, reviewed.definitions)
        return str(number)

    with ThreadPoolExecutor(5) as pool:
        assert len(list(pool.map(say, range(5)))) == 5
    inbox.decide_some(reviewed.database, reviewed.definitions)
    assert reviewed.history(waiting).count("approval-decided") == 1
    reviewed.work()
    assert reviewed.run(waiting)["outcome"] == "published"


def test_a_message_before_its_wait_is_answered_and_not_kept_for_later(reviewed: Line) -> None:
    run = reviewed.document()
    said = reviewed.say(run, ANSWER, by="rita")
    assert said == {"result": "refused", "reason": "there is no approval 1"}
    assert reviewed.say(run, Correction(text="too early"), "m2")["result"] == "refused"
    reviewed.work()
    assert [row["status"] for row in reviewed.approvals(run)] == ["pending"]


def test_a_back_off_ends_when_an_operator_says_so(line: Line) -> None:
    run = line.start()
    [lease] = line.claim()
    line.results.fail(lease, Failure(FailureKind.ENVIRONMENTAL, "the port is taken"))
    assert line.claim() == []
    assert line.say(run, RetryWish(step="file")) == {"result": "accepted", "steps": [1]}
    assert len(line.claim()) == 1


def test_a_cancellation_ends_a_back_off_too(line: Line) -> None:
    run = line.start()
    [lease] = line.claim()
    line.results.fail(lease, Failure(FailureKind.TRANSIENT, "429", retry_after_s=3600))
    line.say(run, CancelWish())
    assert line.run(run)["outcome"] == "cancelled"


def test_a_raised_budget_is_used_by_the_step_that_needs_it(line: Line, clock: Clock) -> None:
    run = line.start()
    said = line.say(run, RaiseWish(budget=Budget.TOOL, amount=2))
    assert said == {"result": "accepted", "steps": [1]}
    for _ in range(5):
        [lease] = line.claim()
        line.results.fail(lease, Failure(FailureKind.ENVIRONMENTAL, "again"))
        clock.advance(120)
    assert line.run(run)["status"] == "running"
    [lease] = line.claim()
    line.results.fail(lease, Failure(FailureKind.ENVIRONMENTAL, "again"))
    assert line.run(run)["outcome"] == "failed"


def test_more_time_moves_the_deadline(line: Line, clock: Clock) -> None:
    run = line.document(deadline_s=100.0)
    said = line.say(run, RaiseWish(budget=Budget.WORKFLOW_TIME, amount=1000))
    assert said == {"result": "accepted", "deadline": True}
    clock.advance(500)
    assert due.end_overdue_runs(line.database, line.definitions) == 0
    clock.advance(700)
    assert due.end_overdue_runs(line.database, line.definitions) == 1


@pytest.mark.parametrize("wish", [CancelWish(), TerminateWish()], ids=lambda wish: wish.KIND)
def test_what_a_pause_held_back_is_dropped_with_its_intent(line: Line, wish: Message) -> None:
    run = line.start()
    line.say(run, PauseWish())
    line.say(run, wish, "m2")
    assert line.run(run)["status"] == "ended"
    assert [step["status"] for step in line.steps(run)] == ["cancelled"]
    assert [operation["status"] for operation in line.operations(run)] == ["abandoned"]


@pytest.mark.parametrize("wish", [CancelWish(), TerminateWish()], ids=lambda wish: wish.KIND)
def test_a_run_that_was_set_aside_under_its_attempt_can_be_stopped(
    line: Line, wish: Message
) -> None:
    run = line.start()
    line.claim()
    set_aside(line.database, run, "no definition read it")
    line.say(run, wish)
    assert line.run(run)["status"] == "ended"
    assert [step["status"] for step in line.steps(run)] == ["cancelled"]


def test_nothing_moves_a_run_that_was_set_aside_but_a_person(
    reviewed: Line, waiting: str, clock: Clock
) -> None:
    set_aside(reviewed.database, waiting, "no definition read it")
    assert reviewed.decide(waiting, 1)["result"] == "refused"
    assert reviewed.say(waiting, RetryWish())["result"] == "refused"
    clock.advance(90_000)
    assert due.fire_some(reviewed.database, reviewed.definitions) == 0
    assert due.expire_some(reviewed.database, reviewed.definitions) == 0
    assert reviewed.run(waiting)["status"] == "set-aside"
    assert reviewed.say(waiting, ResumeWish(), "m2")["status"] == "waiting"
    assert due.expire_some(reviewed.database, reviewed.definitions) == 1


def test_a_verdict_waits_until_a_run_that_was_set_aside_goes_on(line: Line) -> None:
    run = line.start()
    [lease] = line.claim()
    create = line.registry.mutations["create-ticket"]
    assert mark_sent(line.database, lease, create.guarantee, 5.0) is Permission.SEND
    line.results.leave_unsettled(lease, "the answer was lost")
    set_aside(line.database, run, "no definition read it")
    line.ambiguous.run_once()
    assert line.run(run)["status"] == "set-aside"
    assert line.operations(run)[0]["status"] == "ambiguous"
