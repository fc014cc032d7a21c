"""Duty: operations that were sent and whose outcome nobody saw."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial

import structlog

from activities.mutation import Call, Mutation, Observed, Unreadable
from activities.registry import Registry
from orchestrator.domain.failures import FailureKind
from orchestrator.domain.operations import Guarantee, marker, run_tag
from orchestrator.engine.database import Database
from orchestrator.engine.set_aside import guarded
from orchestrator.engine.settle import Observation, Settler
from orchestrator.store import operations, runs
from orchestrator.store.records import OperationRow
from orchestrator.workflows.registry import Definitions
from reconciler.verdicts import verdict

log = structlog.get_logger()


class AmbiguousOperations:
    """Observes each, outside any transaction, and settles it by compare-and-set.

    Nothing is ever sent from here: what may be sent again goes back to a worker as `intended`.
    """

    def __init__(
        self,
        database: Database,
        definitions: Definitions,
        registry: Registry,
        name: str,
        *,
        batch: int = 20,
    ) -> None:
        self._database, self._registry, self._batch = database, registry, batch
        self._by = f"reconciler:{name}"
        self._settler = Settler(database, definitions)

    def run_once(self) -> int:
        """Look at every operation that is due; return how many were moved here."""
        with self._database.read() as tx:
            found = operations.due_for_observation(tx, self._batch)
            installation = runs.installation_id(tx)
        return sum(
            guarded(
                self._database,
                operation.workflow_id,
                partial(self._settle, operation, installation),
                False,
            )
            for operation in found
        )

    def _settle(self, operation: OperationRow, installation: str) -> bool:
        mutation = self._registry.mutations.get(operation.activity)
        if mutation is None:
            return False
        observed = _observe(mutation, operation, installation)
        guarantee = operation.guarantee or Guarantee.NONE
        seen = {"saw": type(observed).__name__.lower(), **asdict(observed)}
        observation = Observation(verdict(guarantee, observed), seen, self._by)
        return self._settler.settle_if_unchanged(operation, observation)


def _observe(mutation: Mutation, operation: OperationRow, installation: str) -> Observed:
    call = Call(
        operation_id=operation.id,
        marker=marker(installation, operation.id),
        fence=0,
        run_tag=run_tag(installation, operation.workflow_id),
        installation=installation,
    )
    try:
        return mutation.observe(operation.request, call)
    except Exception as fault:
        log.exception("observation raised", operation=operation.id)
        reason = f"unforeseen {type(fault).__name__}; see the reconciler's log"
        return Unreadable(reason, FailureKind.ENVIRONMENTAL)
