"""Steps that stand as leased and that no claim holds: their run was set aside under them."""

from __future__ import annotations

from sqlalchemy import Connection

from orchestrator.domain.states import OperationStatus, StepStatus
from orchestrator.store import operations, resources, steps
from orchestrator.store.records import StepRow


def leave_to_the_reconciler(tx: Connection, step: StepRow) -> bool:
    """Make what the step had sent ambiguous, so that it is observed; False if it sent nothing."""
    if step.status is not StepStatus.LEASED or step.operation_id is None:
        return False
    operation = operations.read(tx, step.operation_id)
    if operation.status is not OperationStatus.SENT:
        return False
    operations.settle_if_version(tx, operation, OperationStatus.AMBIGUOUS, "engine")
    steps.move_if(tx, step.workflow_id, step.number, StepStatus.LEASED, StepStatus.UNSETTLED)
    steps.raise_generation(tx, step.workflow_id, step.number)
    return True


def cancel(tx: Connection, workflow_id: str) -> None:
    """Cancel such steps of a run that is being stopped; nothing would ever end them otherwise."""
    for step in steps.unclaimed(tx, workflow_id):
        if leave_to_the_reconciler(tx, step):
            continue
        steps.move_if(tx, workflow_id, step.number, step.status, StepStatus.CANCELLED)
        made = operations.abandon_intended(tx, workflow_id, [step.number])
        resources.never_came_to_be(tx, workflow_id, made)
