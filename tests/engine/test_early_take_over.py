"""A worker's end is seen by the freed lock of its own session; generations keep that safe (R11)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import text

from orchestrator.clock import wait_for
from orchestrator.domain.failures import StaleAttempt
from orchestrator.engine import expiry
from orchestrator.engine.results import Success
from orchestrator.engine.send import Permission, mark_sent
from orchestrator.engine.session import WorkerSession
from orchestrator.workflows.catalogue import definitions
from tests.support.line import Line
from tests.support.tickets import TicketService, registry

pytestmark = pytest.mark.engine


def session_of(line: Line, dsn: str | None) -> WorkerSession:
    """Return an open session."""
    session = WorkerSession(line.database, "w", ["tracker"], direct_dsn=dsn)
    session.open()
    return session


@pytest.fixture
def session(line: Line, database_url: str) -> Iterator[WorkerSession]:
    """Yield a worker's session."""
    made = session_of(line, database_url)
    yield made
    made.close()


def end(line: Line, session: WorkerSession) -> None:
    """Close the session; return once the server has noticed and its lock is free."""
    worker = session.worker
    session.close()
    query = text("SELECT pg_try_advisory_xact_lock_shared(outlast_session_key(:worker))")

    def is_free() -> bool:
        with line.database.read() as tx:
            return bool(tx.execute(query, {"worker": worker}).scalar_one())

    wait_for(is_free, 10, f"the lock of {worker} to be free")


def take_over(line: Line) -> int:
    """Take over what orphans held."""
    return expiry.take_over_orphans(line.database, line.definitions)


def test_a_dead_workers_step_is_handed_on_at_once(line: Line, session: WorkerSession) -> None:
    run = line.start()
    [lease] = line.claim(session.worker)
    assert take_over(line) == 0
    end(line, session)
    assert take_over(line) == 1
    [again] = line.claim("w2")
    assert (again.step, again.generation) == (lease.step, lease.generation + 1)
    assert line.history(run)[1:3] == ["worker-lost", "heartbeat-limit-reached"]
    assert line.steps(run)[0]["spent"]["lost"] == 1
    with pytest.raises(StaleAttempt):
        line.results.succeed(lease, Success({"number": 1}, reference="1"))


def test_a_worker_whose_connection_alone_died_goes_on_as_another(
    line: Line, session: WorkerSession
) -> None:
    line.start()
    [lease] = line.claim(session.worker)
    before = session.worker
    with line.database.commit("cut") as tx:
        ended = tx.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_locks"
                " WHERE locktype = 'advisory' AND objsubid = 1 AND granted"
                " AND ((classid::bigint << 32) | objid::bigint) = outlast_session_key(:worker)"
            ),
            {"worker": before},
        ).scalars()
        assert list(ended) == [True]
    session.keep()
    assert session.worker != before
    wait_for(lambda: take_over(line) == 1, 10, "the old incarnation's step to be taken over")
    assert line.beat(lease) == [None]
    [again] = line.claim(session.worker)
    assert take_over(line) == 0
    line.execute(again)
    line.work(session.worker)


def test_what_was_sent_is_observed_before_anything_is_sent_again(
    line: Line, session: WorkerSession, service: TicketService
) -> None:
    run = line.start()
    [lease] = line.claim(session.worker)
    create = line.registry.mutations["create-ticket"]
    assert mark_sent(line.database, lease, create.guarantee, 5.0) is Permission.SEND
    end(line, session)
    assert take_over(line) == 1
    assert line.steps(run)[0]["status"] == "unsettled"
    assert line.claim("w2") == []
    assert service.journal() == []


def test_a_send_without_any_guarantee_waits_for_the_lease(
    database_url: str, service: TicketService
) -> None:
    bare = TicketService(service.path, keys=False)
    line = Line(database_url, definitions(), registry(bare))
    session = session_of(line, database_url)
    line.start()
    [lease] = line.claim(session.worker)
    create = line.registry.mutations["create-ticket"]
    assert mark_sent(line.database, lease, create.guarantee, 5.0) is Permission.SEND
    end(line, session)
    assert take_over(line) == 0
    line.database.close()


def test_after_a_start_or_a_promotion_of_the_database_a_free_lock_means_nothing(
    line: Line, session: WorkerSession
) -> None:
    """All sessions are gone then, those of living workers too."""
    line.start()
    line.claim(session.worker)
    with line.database.commit("another-server") as tx:
        tx.execute(text("UPDATE worker SET server_started_at = server_started_at - interval '1 s'"))
    end(line, session)
    assert take_over(line) == 0


def test_a_worker_without_a_session_of_its_own_is_judged_by_its_lease_alone(line: Line) -> None:
    session = session_of(line, None)
    line.start()
    line.claim(session.worker)
    end(line, session)
    assert take_over(line) == 0
