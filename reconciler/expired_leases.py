"""Duty: steps that nobody moves any more: leases without a word, steps that nobody started."""

from __future__ import annotations

from orchestrator.engine import expiry
from orchestrator.engine.database import Database
from orchestrator.workflows.registry import Definitions


class ExpiredLeases:
    """Hands on what lost workers held, in bounded batches; several may run at once."""

    def __init__(self, database: Database, definitions: Definitions, *, batch: int = 50) -> None:
        self._database, self._definitions, self._batch = database, definitions, batch

    def run_once(self) -> int:
        """Hand on what is lost or overdue; return how many steps were handed on here."""
        done = expiry.expire_leases(self._database, self._definitions, self._batch)
        done += expiry.take_over_orphans(self._database, self._definitions, self._batch)
        done += expiry.give_up_unstarted(self._database, self._definitions, self._batch)
        return done
