"""Tickets, pull requests and merges against the real host: what each answer proves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from activities.github.merge import Merge
from activities.github.pull_requests import (
    ClosePullRequest,
    CreateDraftPullRequest,
    RequestReview,
)
from activities.github.readiness import convert_to_draft, mark_ready
from activities.github.tickets import CloseTicket, CreateTicket, UpdateTicket
from activities.mutation import (
    Absent,
    Applied,
    Conflicting,
    Found,
    Mutation,
    NotSent,
    Refused,
    Unsettled,
)
from orchestrator.domain.operations import Guarantee
from sandbox.host import tokens
from tests.support.desk import REPOSITORY, TICKET, Desk, call, merge_request, pull


def test_a_host_with_keys_returns_the_first_ticket_to_a_repeat(desk: Desk) -> None:
    create = CreateTicket(desk.host)
    assert create.guarantee is Guarantee.IDEMPOTENCY_KEY
    first = create.perform(TICKET, call("keyed"))
    assert first == create.perform(TICKET, call("keyed"))


def test_a_second_installation_gets_neither_ticket_nor_key_of_the_first(desk: Desk) -> None:
    create, ours = CreateTicket(desk.host), call("restored")
    theirs = replace(ours, marker=ours.marker.replace(":i:", ":j:"), installation="j")
    first = create.perform(TICKET, ours)
    assert isinstance(create.observe(TICKET, theirs), Absent)
    second = create.perform(TICKET, theirs)
    assert isinstance(first, Applied)
    assert isinstance(second, Applied)
    assert first.reference != second.reference
    assert create.observe(TICKET, theirs) == Found(second.reference, second.facts)


def test_a_host_without_keys_guarantees_nothing_and_two_tickets_are_a_conflict(
    keyless: Desk,
) -> None:
    create = CreateTicket(keyless.host)
    assert create.guarantee is Guarantee.NONE
    create.perform(TICKET, call("twice"))
    create.perform(TICKET, call("twice"))
    assert isinstance(create.observe(TICKET, call("twice")), Conflicting)


@pytest.mark.parametrize("action", ["drop_after", "error_after"])
def test_a_ticket_whose_answer_was_lost_is_unsettled_and_found(keyless: Desk, action: str) -> None:
    keyless.fault(action, "POST", "/issues$")
    create = CreateTicket(keyless.host)
    assert isinstance(create.perform(TICKET, call(action)), Unsettled)
    assert isinstance(create.observe(TICKET, call(action)), Found)


def test_a_ticket_that_a_stale_list_does_not_show_is_not_called_proved_absent(
    keyless: Desk,
) -> None:
    create = CreateTicket(keyless.host)
    create.perform(TICKET, call("stale"))
    keyless.fault("stale_list", "GET", "/issues", polls=1)
    seen = create.observe(TICKET, call("stale"))
    assert not getattr(seen, "conclusive", False)
    assert isinstance(create.observe(TICKET, call("stale")), Found)


def test_a_rate_limit_was_not_done_and_says_when_to_come_back(desk: Desk) -> None:
    desk.fault("refuse", "POST", "/issues$", status=429, retry_after=7)
    outcome = CreateTicket(desk.host).perform(TICKET, call("limited"))
    assert isinstance(outcome, NotSent)
    assert outcome.retry_after_s == 7


def test_our_section_of_a_ticket_is_set_and_the_rest_stays(desk: Desk) -> None:
    made = CreateTicket(desk.host).perform(TICKET, call("section"))
    assert isinstance(made, Applied)
    number = int(made.reference)
    update = UpdateTicket(desk.host)
    for words in ("first", "second"):
        request = {"repository": REPOSITORY, "number": number, "section": words}
        assert isinstance(update.perform(request, call("update")), Applied)
        assert isinstance(update.observe(request, call("update")), Found)
    body = desk.admin("GET", f"/repos/{REPOSITORY}/issues/{number}")["body"]
    assert "Seen today." in body
    assert "second" in body
    assert "first" not in body
    close = {"repository": REPOSITORY, "number": number, "reason": "completed"}
    assert isinstance(CloseTicket(desk.host).perform(close, call("close")), Applied)
    assert isinstance(CloseTicket(desk.host).observe(close, call("close")), Found)


@pytest.mark.parametrize("action", ["drop_after", "error_after"])
def test_a_draft_whose_answer_was_lost_is_found_and_a_repeat_makes_no_second(
    keyless: Desk, action: str
) -> None:
    name = f"repair-{action}"
    keyless.branch(name)
    create = CreateDraftPullRequest(keyless.host)
    keyless.fault(action, "POST", "/pulls$")
    assert isinstance(create.perform(pull(name), call(name)), Unsettled)
    found = create.observe(pull(name), call(name))
    assert isinstance(found, Found)
    again = create.perform(pull(name), call(name))
    assert isinstance(again, Applied)
    assert again.reference == found.reference


def test_a_draft_that_people_closed_was_created_all_the_same(keyless: Desk) -> None:
    number, _ = keyless.draft("repair-closed")
    close = {"repository": REPOSITORY, "number": number}
    assert isinstance(ClosePullRequest(keyless.host).perform(close, call("c")), Applied)
    again = CreateDraftPullRequest(keyless.host).perform(
        pull("repair-closed"), call("repair-closed")
    )
    assert isinstance(again, Applied)
    assert int(again.reference) == number


def test_a_reviewer_who_has_answered_was_asked_all_the_same(desk: Desk) -> None:
    number, _ = desk.draft("repair-asked")
    request = {"repository": REPOSITORY, "number": number, "reviewers": [tokens.REVIEWER]}
    ask = RequestReview(desk.host)
    assert isinstance(ask.observe(request, call("asked")), Absent)
    assert isinstance(ask.perform(request, call("asked")), Applied)
    desk.review(number)
    assert isinstance(ask.observe(request, call("asked")), Found)


def test_a_strangers_pull_request_from_our_branch_is_a_conflict(desk: Desk) -> None:
    desk.branch("repair-theirs")
    CreateDraftPullRequest(desk.host).perform(pull("repair-theirs"), call("somebody"))
    outcome = CreateDraftPullRequest(desk.host).perform(pull("repair-theirs"), call("ours"))
    assert isinstance(outcome, Refused)


def test_the_draft_mark_is_set_both_ways_and_setting_it_again_changes_nothing(desk: Desk) -> None:
    number, _ = desk.draft("repair-mark")
    request = {"repository": REPOSITORY, "number": number}
    for make in (mark_ready, mark_ready, convert_to_draft, convert_to_draft):
        mutation: Mutation = make(desk.host)
        assert isinstance(mutation.perform(request, call("m")), Applied)
        assert isinstance(mutation.observe(request, call("m")), Found)


def test_a_merge_is_refused_for_a_draft_a_moved_head_and_a_moved_base(desk: Desk) -> None:
    number, head = desk.draft("repair-merge")
    merge = Merge(desk.host, desk.remote)
    request = merge_request(desk, number, head)
    draft = merge.perform(request, call("merge"))
    assert isinstance(draft, Refused)
    assert draft.facts["status"] == 405
    ready = {"repository": REPOSITORY, "number": number}
    mark_ready(desk.host).perform(ready, call("ready"))
    desk.move("repair-merge")
    moved = merge.perform(request, call("merge"))
    assert isinstance(moved, Refused)
    assert moved.facts["status"] == 409
    base = merge.perform({**request, "base_revision": "0" * 40}, call("merge"))
    assert isinstance(base, Refused)
    assert "approved was" in base.reason


def test_a_merge_whose_answer_was_lost_is_found_with_its_parents(desk: Desk) -> None:
    number, head = desk.draft("repair-lost")
    mark_ready(desk.host).perform({"repository": REPOSITORY, "number": number}, call("r"))
    request = merge_request(desk, number, head)
    desk.fault("drop_after", "PUT", "/merge$")
    merge = Merge(desk.host, desk.remote)
    assert isinstance(merge.perform(request, call("lost")), Unsettled)
    found = merge.observe(request, call("lost"))
    assert isinstance(found, Found)
    assert found.facts["parents"] == [request["base_revision"], head]
