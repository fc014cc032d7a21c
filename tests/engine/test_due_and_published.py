"""Timers, expiring approvals and the outbox, by the database's clock; and runs set aside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from activities.artifacts import ArtifactStore
from activities.publisher import HOLD_S, Publisher
from orchestrator.contracts.messages import ApprovalAnswer
from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.operations import Guarantee
from orchestrator.engine import due, inbox
from orchestrator.engine.send import Permission, mark_sent
from orchestrator.engine.submit import Submission, start_once
from orchestrator.store import messages, principals, timers
from orchestrator.store.messages import MessageKey
from orchestrator.workflows.catalogue import definitions
from tests.support.database import Clock
from tests.support.line import Line
from tests.support.scripted import scripted_registry

pytestmark = pytest.mark.engine
REPORT = {"repository": "demo/shop", "title": "A fault", "text": "1. Open /x"}
TWO_DAYS_S = 172_800.0


@pytest.fixture
def repairs(database_url: str, tmp_path: Path) -> Iterator[Line]:
    """Yield a line of work on the flagship with results written beforehand."""
    made = Line(database_url, definitions(), scripted_registry(ArtifactStore(tmp_path / "a")))
    with made.database.commit("principal") as tx:
        principals.put(tx, "rita", ["reviewer"], "a token of rita's")
    yield made
    made.database.close()


def awaiting(line: Line) -> str:
    """Return a run that waits for its first approval."""
    run = start_once(line.database, line.definitions, Submission("bug-repair", REPORT, "al", "k"))
    line.work()
    assert line.run(run)["phase"] == "awaiting-review"
    return run


def approve(line: Line, run: str, ordinal: int = 1) -> JsonObject | None:
    """Approve what is asked; return the answer."""
    publication = line.run(run)["state"]["publication"]
    answer = ApprovalAnswer(
        ordinal=ordinal,
        approve=True,
        head=publication["head"],
        manifest_sha256=publication["manifest_sha256"],
    )
    key = MessageKey(run, f"approval:{ordinal}", "rita", f"m{ordinal}")
    inbox.accept(line.database, key, answer)
    inbox.decide_some(line.database, line.definitions)
    return inbox.answer_of(line.database, key)


def test_a_timer_fires_once_when_it_is_due_and_not_before(line: Line, clock: Clock) -> None:
    run = line.start()
    with line.database.commit("timer") as tx:
        timers.start(tx, run, "remind", 60.0)
    assert due.fire_some(line.database, line.definitions) == 0
    clock.advance(61)
    assert due.fire_some(line.database, line.definitions) == 1
    assert due.fire_some(line.database, line.definitions) == 0
    assert line.history(run) == ["run-started", "timer-fired"]


def test_an_approval_that_nobody_decides_expires_and_is_asked_again(
    repairs: Line, clock: Clock
) -> None:
    run = awaiting(repairs)
    assert due.expire_some(repairs.database, repairs.definitions) == 0
    clock.advance(TWO_DAYS_S + 1)
    refused = approve(repairs, run)
    assert refused is not None
    assert "expired" in refused["reason"]
    assert due.expire_some(repairs.database, repairs.definitions) == 1
    assert repairs.run(run)["state"]["approvals_asked"] == 2


def test_an_approval_that_expires_before_the_merge_is_sent_sends_nothing(
    repairs: Line, clock: Clock
) -> None:
    """R2: a long back-off may lie between the approval and the request."""
    run = awaiting(repairs)
    approve(repairs, run)
    [revalidate] = repairs.claim()
    repairs.execute(revalidate)
    [ready] = repairs.claim()
    assert ready.name == "mark-ready"
    clock.advance(TWO_DAYS_S + 1)
    permission = mark_sent(repairs.database, ready, Guarantee.NATURAL, 5.0)
    assert permission is Permission.APPROVAL_DEAD


def test_an_approver_who_lost_the_role_allows_nothing_any_more(repairs: Line) -> None:
    run = awaiting(repairs)
    approve(repairs, run)
    [revalidate] = repairs.claim()
    repairs.execute(revalidate)
    with repairs.database.commit("principal") as tx:
        principals.put(tx, "rita", ["submitter"], "another token")
    [ready] = repairs.claim()
    permission = mark_sent(repairs.database, ready, Guarantee.NATURAL, 5.0)
    assert permission is Permission.APPROVAL_DEAD


def test_a_message_is_published_after_its_commit_with_a_stable_id_and_once_when_all_is_well(
    repairs: Line,
) -> None:
    run = awaiting(repairs)
    heard: list[tuple[str, str]] = []
    publisher = Publisher(repairs.database, [lambda id_, topic, _: heard.append((id_, topic))])
    publisher.run_once()
    publisher.run_once()
    [(message, topic)] = heard
    assert topic == "review-requested"
    assert message.startswith(f"{run}:")


def test_a_message_whose_publisher_was_lost_is_published_again_under_the_same_id(
    repairs: Line, clock: Clock
) -> None:
    """R28: at least once."""
    awaiting(repairs)
    with repairs.database.commit("take") as tx:
        [taken] = messages.take_due(tx, 10, HOLD_S)
    heard: list[str] = []
    publisher = Publisher(repairs.database, [lambda id_, *_: heard.append(id_)])
    publisher.run_once()
    assert heard == []
    clock.advance(HOLD_S + 1)
    publisher.run_once()
    assert heard == [taken["message_id"]]


def test_a_run_that_this_release_cannot_read_is_set_aside_and_blocks_nobody(
    line: Line, clock: Clock
) -> None:
    """P18."""
    broken, sound = line.start("broken"), line.start("sound")
    with line.database.commit("damage") as tx:
        tx.execute(
            text("UPDATE workflow SET state = jsonb_set(state, '{version}', '99') WHERE id = :id"),
            {"id": broken},
        )
        for run in (broken, sound):
            timers.start(tx, run, "remind", 1.0)
    clock.advance(2)
    due.fire_some(line.database, line.definitions)
    assert line.run(broken)["status"] == "set-aside"
    assert "notice v99" in line.run(broken)["reason"]
    line.work()
    assert line.run(sound)["outcome"] == "filed"
