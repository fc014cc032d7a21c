"""Each mutation at the host, each against the same faults: what its answer proves, and no more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from activities.git.branches import DeleteBranch, PushBranch
from activities.git.mirror import Remote
from activities.github.client import Host
from activities.github.merge import Merge
from activities.github.pull_requests import (
    AttachEvidence,
    ClosePullRequest,
    CreateDraftPullRequest,
    RequestReview,
)
from activities.github.readiness import convert_to_draft, mark_ready
from activities.github.tickets import CloseTicket, CreateTicket, UpdateTicket
from activities.installation import build
from activities.mutation import (
    Applied,
    Call,
    Found,
    Mutation,
    NotSent,
    Outcome,
    Refused,
    Unreadable,
    Unsettled,
)
from activities.secrets import SecretSource
from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.failures import FailureKind
from sandbox.host import tokens
from tests.support.desk import REPOSITORY, TICKET, Desk, call, merge_request, pull

RUNS = count(1)
ELSEWHERE = {"provision-environment", "tear-down-environment"}


@dataclass(frozen=True)
class Case:
    """One mutation with something to do, and the request by which it does it."""

    make: Callable[[Host, Remote, Desk], Mutation]
    prepare: Callable[[Desk, str], JsonObject]
    method: str
    path: str
    is_git: bool = False

    def at(self, desk: Desk) -> Mutation:
        """Return the mutation as this desk performs it."""
        return self.make(desk.host, desk.remote, desk)


def numbered(desk: Desk, name: str) -> JsonObject:
    """Open a draft and return a request about it."""
    return {"repository": REPOSITORY, "number": desk.draft(name)[0]}


def ticket(desk: Desk, name: str) -> JsonObject:
    """Open a ticket and return a request about it."""
    made = CreateTicket(desk.host).perform(TICKET, call(name))
    assert isinstance(made, Applied)
    return {"repository": REPOSITORY, "number": int(made.reference)}


def draft(desk: Desk, name: str) -> JsonObject:
    """Make a branch and return a request for its draft."""
    desk.branch(name)
    return pull(name)


def ready(desk: Desk, name: str) -> JsonObject:
    """Open a pull request that is ready, and return a request about it."""
    request = numbered(desk, name)
    assert isinstance(mark_ready(desk.host).perform(request, call(name)), Applied)
    return request


def approved(desk: Desk, name: str) -> JsonObject:
    """Open a pull request that is ready, and return the request to merge it."""
    request = ready(desk, name)
    head = desk.tip(name)
    assert head is not None
    return merge_request(desk, request["number"], head)


def pushed(desk: Desk, name: str) -> JsonObject:
    """Push a branch and return the request to delete it."""
    request = desk.push_request(name, name)
    assert isinstance(desk.push().perform(request, call(name)), Applied)
    return {"repository": REPOSITORY, "branch": name, "expected": request["revision"]}


CASES = {
    "create-ticket": Case(
        lambda host, _r, _d: CreateTicket(host), lambda _d, _n: dict(TICKET), "POST", "/issues$"
    ),
    "update-ticket": Case(
        lambda host, _r, _d: UpdateTicket(host),
        lambda desk, name: {**ticket(desk, name), "section": "It ended well."},
        "PATCH",
        r"/issues/\d+$",
    ),
    "close-ticket": Case(
        lambda host, _r, _d: CloseTicket(host),
        lambda desk, name: {**ticket(desk, name), "reason": "completed"},
        "PATCH",
        r"/issues/\d+$",
    ),
    "push-branch": Case(
        lambda _h, remote, desk: PushBranch(remote, desk.artifacts, desk.mirrors),
        lambda desk, name: desk.push_request(name, name),
        "POST",
        "git-receive-pack$",
        is_git=True,
    ),
    "delete-branch": Case(
        lambda _h, remote, desk: DeleteBranch(remote, desk.mirrors),
        pushed,
        "POST",
        "git-receive-pack$",
        is_git=True,
    ),
    "create-draft-pull-request": Case(
        lambda host, _r, _d: CreateDraftPullRequest(host), draft, "POST", "/pulls$"
    ),
    "attach-evidence": Case(
        lambda host, _r, _d: AttachEvidence(host),
        lambda desk, name: {
            **numbered(desk, name),
            "section": "## Evidence",
            "manifest_sha256": "0" * 64,
        },
        "PATCH",
        r"/pulls/\d+$",
    ),
    "request-review": Case(
        lambda host, _r, _d: RequestReview(host),
        lambda desk, name: {**numbered(desk, name), "reviewers": [tokens.REVIEWER]},
        "POST",
        "/requested_reviewers$",
    ),
    "mark-ready": Case(lambda host, _r, _d: mark_ready(host), numbered, "POST", "^/graphql$"),
    "convert-to-draft": Case(
        lambda host, _r, _d: convert_to_draft(host), ready, "POST", "^/graphql$"
    ),
    "merge": Case(lambda host, remote, _d: Merge(host, remote), approved, "PUT", "/merge$"),
    "close-pull-request": Case(
        lambda host, _r, _d: ClosePullRequest(host), numbered, "PATCH", r"/pulls/\d+$"
    ),
}
each = pytest.mark.parametrize("name", CASES)


@pytest.fixture(autouse=True)
def no_fault_left(keyless: Desk) -> Iterator[None]:
    """Take away faults that hit nothing."""
    yield
    keyless.admin("DELETE", "/outlast/faults")


def prepared(desk: Desk, name: str) -> tuple[Case, JsonObject, Call]:
    """Return the case with its request, in a run of its own."""
    run = f"{name}-{next(RUNS)}"
    return CASES[name], CASES[name].prepare(desk, run), call(run)


def test_every_mutation_that_goes_to_the_host_is_tried_here(tmp_path: Path) -> None:
    assert set(CASES) == set(build(tmp_path, "http://127.0.0.1:1").mutations) - ELSEWHERE


@each
def test_applied_is_seen_and_a_repeat_finds_it(desk: Desk, name: str) -> None:
    case, request, who = prepared(desk, name)
    first = case.at(desk).perform(request, who)
    assert isinstance(first, Applied)
    seen = case.at(desk).observe(request, who)
    assert isinstance(seen, Found)
    assert seen.reference == first.reference
    assert case.at(desk).perform(request, who) == first


@each
@pytest.mark.parametrize("action", ["drop_after", "error_after"])
def test_an_answer_lost_after_the_effect_is_unsettled_until_a_look_finds_it(
    keyless: Desk, name: str, action: str
) -> None:
    case, request, who = prepared(keyless, name)
    keyless.fault(action, case.method, case.path)
    assert isinstance(case.at(keyless).perform(request, who), Unsettled)
    assert isinstance(case.at(keyless).observe(request, who), Found)


@each
@pytest.mark.parametrize("action", ["cut_before", "refuse"])
def test_what_was_cut_or_met_a_503_is_unsettled_and_not_found_and_can_be_done(
    keyless: Desk, name: str, action: str
) -> None:
    case, request, who = prepared(keyless, name)
    before = keyless.applied()
    keyless.fault(action, case.method, case.path)
    assert isinstance(case.at(keyless).perform(request, who), Unsettled)
    assert keyless.applied() == before
    assert not isinstance(case.at(keyless).observe(request, who), Found)
    assert isinstance(case.at(keyless).perform(request, who), Applied)


@each
def test_a_rate_limit_was_not_done(keyless: Desk, name: str) -> None:
    case, request, who = prepared(keyless, name)
    before = keyless.applied()
    keyless.fault("refuse", case.method, case.path, status=429, retry_after=9)
    outcome = case.at(keyless).perform(request, who)
    assert keyless.applied() == before
    if case.is_git:  # git does not show a 429 apart from any other lost answer
        assert isinstance(outcome, Unsettled)
    else:
        assert isinstance(outcome, NotSent)
        assert (outcome.kind, outcome.retry_after_s) == (FailureKind.TRANSIENT, 9)


@each
def test_a_host_that_is_down_was_sent_nothing(keyless: Desk, name: str) -> None:
    case, request, who = prepared(keyless, name)
    nowhere = "http://127.0.0.1:1"
    host, remote = Host(nowhere, keyless.host.secrets), Remote(nowhere, keyless.host.secrets)
    outcome = case.make(host, remote, keyless).perform(request, who)
    assert isinstance(outcome, NotSent)
    assert outcome.kind is FailureKind.TRANSIENT


def told_off(outcome: Outcome) -> bool:
    """Return whether an outcome says that nothing was done and trying again is of no use."""
    return isinstance(outcome, NotSent | Refused) and outcome.kind is FailureKind.PERMANENT


@each
@pytest.mark.parametrize("secret", ['HOST_TOKEN = "wrong"\n', "", 'HOST_TOKEN = "a\\nb"\n'])
def test_a_wrong_a_missing_and_an_unsendable_token_end_at_once(
    keyless: Desk, tmp_path: Path, name: str, secret: str
) -> None:
    case, request, who = prepared(keyless, name)
    file = tmp_path / "secrets.toml"
    file.write_text(secret)
    source, before = SecretSource(file), keyless.applied()
    host, remote = Host(keyless.process.url, source), Remote(keyless.process.url, source)
    assert told_off(case.make(host, remote, keyless).perform(request, who))
    assert keyless.applied() == before


@each
def test_a_host_that_shows_html_is_neither_absent_nor_found(keyless: Desk, name: str) -> None:
    case, request, who = prepared(keyless, name)
    assert isinstance(case.at(keyless).perform(request, who), Applied)
    keyless.fault("error_after", "GET", "", times=9)
    seen = case.at(keyless).observe(request, who)
    assert type(seen).__name__ == "Unreadable"


@each
@pytest.mark.parametrize("secret", ['HOST_TOKEN = "wrong"\n', "", 'HOST_TOKEN = "a\nb"\n'])
def test_a_token_that_no_look_helps_is_unreadable_for_good(
    keyless: Desk, tmp_path: Path, name: str, secret: str
) -> None:
    case, request, who = prepared(keyless, name)
    file = tmp_path / "secrets.toml"
    file.write_text(secret)
    source = SecretSource(file)
    host, remote = Host(keyless.process.url, source), Remote(keyless.process.url, source)
    seen = case.make(host, remote, keyless).observe(request, who)
    assert isinstance(seen, Unreadable)
    assert seen.kind is FailureKind.PERMANENT


@each
def test_a_host_that_is_down_is_unreadable_for_now(keyless: Desk, name: str) -> None:
    case, request, who = prepared(keyless, name)
    nowhere = "http://127.0.0.1:1"
    host, remote = Host(nowhere, keyless.host.secrets), Remote(nowhere, keyless.host.secrets)
    seen = case.make(host, remote, keyless).observe(request, who)
    assert isinstance(seen, Unreadable)
    assert seen.kind is FailureKind.TRANSIENT
