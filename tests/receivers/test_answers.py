"""What an answer proves: the one place that decides it, and answers that no healthy host gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from activities.github.client import Answer, Host, HostUnreadable, Parsed, classify
from activities.github.pull_requests import CreateDraftPullRequest
from activities.github.readiness import mark_ready
from activities.github.tickets import CreateTicket
from activities.mutation import Applied, Conflicting, Found, NotSent, Refused, Unsettled
from activities.secrets import SecretSource
from orchestrator.domain.failures import ActivityFailed, FailureKind
from tests.support.canned import Said, answering, shown_pull
from tests.support.desk import REPOSITORY, TICKET, Desk, call, pull

DATE = "Tue, 01 Dec 2026 10:00:00 GMT"
TEN = 1_796_119_200  # the same instant, in seconds


def judged(status: int, body: Any = None, **headers: str) -> Answer:
    """Return what such an answer proves."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    if isinstance(body, str):
        return classify(httpx.Response(status, text=body, headers=names), "act")
    return classify(httpx.Response(status, json=body or {}, headers=names), "act")


@pytest.mark.parametrize("status", [500, 502, 503, 504, 520])
def test_a_server_error_proves_nothing_even_with_a_readable_body(status: int) -> None:
    assert isinstance(judged(status, {"message": "not done, believe me"}), Unsettled)


@pytest.mark.parametrize("status", [200, 201, 400, 403, 404, 409, 422])
def test_an_answer_that_cannot_be_read_proves_nothing(status: int) -> None:
    assert isinstance(judged(status, "<html>a proxy</html>"), Unsettled)
    assert isinstance(judged(status, "[]"), Unsettled)


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 405, 409, 410, 422])
def test_a_readable_refusal_is_parsed(status: int) -> None:
    answer = judged(status, {"message": "no"})
    assert isinstance(answer, Parsed)
    assert not answer.is_ok


@pytest.mark.parametrize(
    ("answer", "wait_s"),
    [
        (judged(429), 60),
        (judged(429, "too many"), 60),
        (judged(429, retry_after="7"), 7),
        (judged(403, retry_after="5"), 5),
        (judged(403, {"message": "You have exceeded a secondary rate limit."}), 60),
        (judged(403, x_ratelimit_remaining="0", x_ratelimit_reset=str(TEN + 90), date=DATE), 90),
        (judged(403, x_ratelimit_remaining="0", x_ratelimit_reset=str(TEN - 90), date=DATE), 1),
        (judged(403, x_ratelimit_remaining="0", x_ratelimit_reset=str(TEN), date="noon"), 60),
        (judged(403, x_ratelimit_remaining="0"), 60),
        (judged(429, retry_after="later"), 60),
    ],
)
def test_a_rate_limit_was_not_done_and_says_how_long_to_stay_away(
    answer: Answer, wait_s: float
) -> None:
    assert isinstance(answer, NotSent)
    assert (answer.kind, answer.retry_after_s) == (FailureKind.TRANSIENT, wait_s)


def test_a_lack_of_permission_is_no_rate_limit() -> None:
    answer = judged(403, {"message": "Resource not accessible"}, x_ratelimit_remaining="4999")
    assert isinstance(answer, Parsed)


def told(desk: Desk, answer: Callable[[str, str], Said], act: Callable[[Host], object]) -> object:
    """Do something against a server that answers so."""
    with answering(answer) as url:
        return act(Host(url, desk.host.secrets))


def ticket_of(host: Host) -> object:
    """Create a ticket there."""
    return CreateTicket(host).perform(TICKET, call("t"))


@pytest.mark.parametrize("body", [{}, {"number": None}, {"number": "12"}, {"id": 3}])
def test_a_creation_that_names_no_number_is_unsettled(desk: Desk, body: Any) -> None:
    assert isinstance(told(desk, lambda *_: Said(201, body), ticket_of), Unsettled)


def test_a_redirection_is_not_followed_with_our_token(desk: Desk) -> None:
    there: list[str] = []

    def elsewhere(_method: str, path: str) -> Said:
        there.append(path)
        return Said(201, {"number": 1})

    with answering(elsewhere) as other:
        leads_on = Said(307, {"message": "Moved"}, {"Location": other})
        outcome = told(desk, lambda *_: leads_on, ticket_of)
    assert isinstance(outcome, Refused)
    assert there == []


def look_for_draft(host: Host) -> object:
    """Look for a draft there."""
    return CreateDraftPullRequest(host).observe(pull("x"), call("x"))


def test_a_list_that_ignores_its_filter_misleads_nobody(desk: Desk) -> None:
    mark = f"<!-- {call('x').marker} -->"
    listed = [shown_pull(1, mark, head="another"), shown_pull(2, "a stranger", head="third")]
    seen = told(desk, lambda *_: Said(200, listed), look_for_draft)
    assert type(seen).__name__ == "Absent"
    listed.append(shown_pull(3, mark))
    assert told(desk, lambda *_: Said(200, listed), look_for_draft) == Found("3", {"number": 3})


def test_two_of_ours_are_a_conflict_and_one_seen_on_two_pages_is_one(desk: Desk) -> None:
    mark = f"<!-- {call('x').marker} -->"
    pages = {"1": [shown_pull(3, mark)], "2": [shown_pull(3, mark)]}

    def paged(_method: str, path: str) -> Said:
        page = httpx.URL(path).params["page"]
        more = {"Link": f'<http://h{path}>; rel="next"'} if page == "1" else {}
        return Said(200, pages[page], more)

    assert isinstance(told(desk, paged, look_for_draft), Found)
    pages["2"] = [shown_pull(4, mark, state="closed")]
    assert isinstance(told(desk, paged, look_for_draft), Conflicting)


def test_a_list_of_which_a_page_is_lost_is_not_read_as_a_shorter_one(desk: Desk) -> None:
    def half(_method: str, path: str) -> Said:
        if httpx.URL(path).params["page"] == "1":
            return Said(200, [], {"Link": f'<http://h{path}>; rel="next"'})
        return Said(502, "gone")

    assert type(told(desk, half, look_for_draft)).__name__ == "Unreadable"


@pytest.mark.parametrize("field", ["state", "head", "merged_at", "body"])
def test_a_pull_request_that_lacks_a_field_is_unreadable_and_not_guessed(
    desk: Desk, field: str
) -> None:
    shown = shown_pull(1, "")
    del shown[field]
    assert type(told(desk, lambda *_: Said(200, [shown]), look_for_draft)).__name__ == "Unreadable"


def test_exists_that_is_not_shown_is_unsettled(desk: Desk) -> None:
    exists = {
        "message": "Validation Failed",
        "errors": [{"message": "A pull request already exists"}],
    }

    def contradicting(method: str, _path: str) -> Said:
        return Said(200, []) if method == "GET" else Said(422, exists)

    outcome = told(
        desk,
        contradicting,
        lambda host: CreateDraftPullRequest(host).perform(pull("x"), call("x")),
    )
    assert isinstance(outcome, Unsettled)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (
            {"data": None, "errors": [{"message": "Something went wrong while executing"}]},
            Unsettled,
        ),
        ({"data": {"markPullRequestReadyForReview": None}}, Unsettled),
        ({"errors": []}, Unsettled),
        ({"errors": [{"type": "RATE_LIMITED", "message": "later"}]}, NotSent),
        ({"errors": [{"type": "FORBIDDEN", "message": "no"}]}, Refused),
        ({"errors": [{"message": "Field 'x' doesn't exist"}]}, Refused),
    ],
)
def test_a_graphql_answer_has_status_200_whatever_it_says(
    desk: Desk, answer: Any, kind: type
) -> None:
    def graphql(method: str, _path: str) -> Said:
        return Said(200, shown_pull(1, "") if method == "GET" else answer)

    request = {"repository": REPOSITORY, "number": 1}
    outcome = told(desk, graphql, lambda host: mark_ready(host).perform(request, call("m")))
    assert isinstance(outcome, kind)


def test_a_guarantee_is_never_assumed(desk: Desk, tmp_path: Path) -> None:
    with pytest.raises(ActivityFailed) as raised:
        told(desk, lambda *_: Said(502, "x"), lambda host: CreateTicket(host).guarantee)
    assert raised.value.kind is FailureKind.TRANSIENT
    host = Host(desk.process.url, SecretSource(tmp_path / "none.toml"))
    with pytest.raises(ActivityFailed) as raised:
        host.has_keys()
    assert raised.value.kind is FailureKind.PERMANENT
    for body in ({}, {"idempotency_keys": "yes"}, {"message": "Not Found"}):
        status = 404 if "message" in body else 200
        assert told(desk, lambda *_, s=status, b=body: Said(s, b), Host.has_keys) is False


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, FailureKind.PERMANENT),
        (403, FailureKind.PERMANENT),
        (429, FailureKind.TRANSIENT),
        (500, FailureKind.TRANSIENT),
    ],
)
def test_a_read_says_whether_reading_again_may_help(
    desk: Desk, status: int, kind: FailureKind
) -> None:
    with pytest.raises(HostUnreadable) as raised:
        told(desk, lambda *_: Said(status, {"message": "m"}), lambda host: host.read("/x"))
    assert raised.value.kind is kind


def test_applied_is_what_the_host_applied(desk: Desk) -> None:
    before = desk.applied()
    assert isinstance(ticket_of(desk.host), Applied)
    assert desk.applied() == before + 1
