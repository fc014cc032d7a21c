"""Publishes the outbox: at least once, with a stable message id, after the commit (R28)."""

from __future__ import annotations

from collections.abc import Callable

import structlog
from sqlalchemy import RowMapping

from orchestrator.contracts.payload import JsonObject
from orchestrator.engine.database import Database
from orchestrator.store import messages

Subscriber = Callable[[str, str, JsonObject], None]
HOLD_S = 30.0
log = structlog.get_logger()


def to_log(message_id: str, topic: str, payload: JsonObject) -> None:
    """Publish to the operational log, the subscriber that is always there."""
    log.info("published", message_id=message_id, topic=topic, **{"about": payload})


class Publisher:
    """Takes due messages, hands each to every subscriber, then marks it published.

    A publisher that dies in between leaves the message taken; it is published again once its
    hold has passed. A subscriber that raises leaves it so too.
    """

    def __init__(self, database: Database, subscribers: list[Subscriber]) -> None:
        self._database, self._subscribers = database, subscribers

    def run_once(self) -> None:
        """Publish one batch."""
        with self._database.read() as tx:
            if not messages.any_due(tx):
                return
        with self._database.commit("take-outbox") as tx:
            batch = messages.take_due(tx, batch=20, hold_s=HOLD_S)
        for row in batch:
            if not self._deliver(row):
                continue
            with self._database.commit("mark-published") as tx:
                messages.published(tx, row["message_id"])

    def _deliver(self, row: RowMapping) -> bool:
        """Hand a message to everybody; False when somebody raised: it comes again later."""
        for subscriber in self._subscribers:
            try:
                subscriber(row["message_id"], row["topic"], row["payload"])
            except Exception:
                log.exception("subscriber raised", message_id=row["message_id"])
                return False
        return True
