"""Duty: leases that ended without a word from their workers."""

from __future__ import annotations

from functools import partial

from orchestrator.engine.database import Database
from orchestrator.engine.expiry import expire_if_due
from orchestrator.engine.set_aside import guarded
from orchestrator.store import steps
from orchestrator.workflows.registry import Definitions


class ExpiredLeases:
    """Hands on what lost workers held, in bounded batches; several may run at once."""

    def __init__(self, database: Database, definitions: Definitions, *, batch: int = 50) -> None:
        self._database, self._definitions, self._batch = database, definitions, batch

    def run_once(self) -> int:
        """Take expired leases away; return how many were handed on here."""
        with self._database.read() as tx:
            found = steps.expired_claims(tx, self._batch)
        return sum(self._expire(*claim) for claim in found)

    def _expire(self, workflow_id: str, step: int, generation: int) -> bool:
        call = partial(
            expire_if_due, self._database, self._definitions, workflow_id, step, generation
        )
        return guarded(self._database, workflow_id, call, False)
