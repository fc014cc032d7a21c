"""The commit that stands before the first byte: an operation becomes `sent` (R1, R2, R10)."""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import Connection

from orchestrator.domain.operations import Guarantee
from orchestrator.domain.states import RunStatus
from orchestrator.engine.database import Database
from orchestrator.store import operations, runs, statements, steps
from orchestrator.store.records import Lease, OperationRow


class Permission(StrEnum):
    """Whether the request may leave now, and if not, why."""

    SEND = "send"
    STALE = "stale"
    CANCELLED = "cancelled"
    APPROVAL_DEAD = "approval-dead"


def intent_of(database: Database, lease: Lease) -> tuple[OperationRow, str]:
    """Return the operation as it was intended, and this installation's id."""
    if lease.operation_id is None:
        raise ValueError(f"step {lease.step} of {lease.workflow_id} schedules no operation")
    with database.read() as tx:
        return operations.read(tx, lease.operation_id), runs.installation_id(tx)


def mark_sent(database: Database, lease: Lease, guarantee: Guarantee, needs_s: float) -> Permission:
    """Commit `sent` if every guard still holds; afterwards nothing proves that nothing left.

    `needs_s` is the mutation's own time limit; the lease is held at least that long.
    """
    with database.commit("mark-sent") as tx:
        run = statements.row(tx, "share_run", workflow_id=lease.workflow_id)
        if run is None or run["generation"] != lease.run_generation:
            return Permission.CANCELLED
        if operations.mark_sent_if_leased(tx, lease, guarantee, needs_s):
            return Permission.SEND
        return _why_not(tx, lease, RunStatus(run["status"]))


def _why_not(tx: Connection, lease: Lease, status: RunStatus) -> Permission:
    step = steps.read(tx, lease.workflow_id, lease.step)
    if step.generation != lease.generation or status is RunStatus.ENDED:
        return Permission.STALE
    operation = operations.read(tx, str(lease.operation_id))
    return Permission.STALE if operation.approval is None else Permission.APPROVAL_DEAD
