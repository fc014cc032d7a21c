"""Execute one leased step and bring back what became of it."""

from __future__ import annotations

from typing import assert_never

import structlog

from activities.activity import Activity, Context, Stop, StopReason
from activities.mutation import Applied, Call, Mutation, NotSent, Refused, Unsettled
from activities.registry import Registry
from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.budgets import TimeLimit
from orchestrator.domain.failures import ActivityFailed, FailureKind, StaleAttempt
from orchestrator.domain.operations import marker, run_tag
from orchestrator.engine.database import Database
from orchestrator.engine.hand_on import Failure
from orchestrator.engine.results import Results, Success
from orchestrator.engine.send import Permission, intent_of, mark_sent
from orchestrator.store import runs, steps
from orchestrator.store.records import Lease, OperationRow

log = structlog.get_logger()


class Attempts:
    """Executes attempts. One instance serves all threads of a worker."""

    def __init__(self, database: Database, registry: Registry, results: Results) -> None:
        self._database, self._registry, self._results = database, registry, results
        with database.read() as tx:
            self._installation = runs.installation_id(tx)

    def execute(self, lease: Lease, stop: Stop) -> None:
        """Execute the step; whatever happens is recorded, or was refused as stale."""
        try:
            if lease.activity in self._registry.mutations:
                self._mutate(lease, self._registry.mutations[lease.activity], stop)
            else:
                self._run(lease, self._registry.activities[lease.activity], stop)
        except StaleAttempt as stale:
            log.warning("late word kept", workflow_id=lease.workflow_id, reason=str(stale))

    def _run(self, lease: Lease, activity: Activity, stop: Stop) -> None:
        context = Context(
            workflow_id=lease.workflow_id,
            step=lease.step,
            attempt=lease.attempt,
            generation=lease.generation,
            run_tag=run_tag(self._installation, lease.workflow_id),
            stop=stop,
            progress=lambda substate: self._keep(lease, substate),
            substate=lease.substate,
        )
        try:
            outcome = activity.run(lease.input, context)
        except ActivityFailed as failed:
            self._failed(lease, stop, Failure(failed.kind, failed.reason, failed.retry_after_s))
        except Exception as fault:
            log.exception("activity raised", workflow_id=lease.workflow_id, activity=lease.activity)
            self._failed(lease, stop, Failure(FailureKind.ENVIRONMENTAL, _named(fault)))
        else:
            self._results.succeed(
                lease,
                Success(outcome.value, artifacts=outcome.artifacts, binding=outcome.binding),
            )

    def _failed(self, lease: Lease, stop: Stop, failure: Failure) -> None:
        match stop.reason:
            case None:
                self._results.fail(lease, failure)
            case StopReason.CANCELLED:
                self._results.acknowledge_stop(lease)
            case StopReason.ATTEMPT_LIMIT:
                self._results.overdue(lease, TimeLimit.ATTEMPT)
            case StopReason.PROGRESS_LIMIT:
                self._results.overdue(lease, TimeLimit.PROGRESS)
            case StopReason.TOTAL_LIMIT:
                self._results.overdue(lease, TimeLimit.TOTAL)
            case StopReason.SUPERSEDED:
                raise StaleAttempt(lease.workflow_id, lease.step, lease.attempt, lease.generation)
            case StopReason.SHUTDOWN:
                said = Failure(FailureKind.TRANSIENT, "the worker was shut down", 0.0)
                self._results.fail(lease, said)
            case _:
                assert_never(stop.reason)

    def _mutate(self, lease: Lease, mutation: Mutation, stop: Stop) -> None:
        operation, installation = intent_of(self._database, lease)
        try:
            guarantee = mutation.guarantee
        except ActivityFailed as failed:
            self._results.fail(lease, Failure(failed.kind, failed.reason, failed.retry_after_s))
            return
        match mark_sent(self._database, lease, guarantee, lease.limits.send_s):
            case Permission.SEND:
                self._send(lease, mutation, operation, installation, stop)
            case Permission.STALE:
                raise StaleAttempt(lease.workflow_id, lease.step, lease.attempt, lease.generation)
            case Permission.CANCELLED:
                stop.set(StopReason.CANCELLED)
                self._results.acknowledge_stop(lease)
            case Permission.APPROVAL_DEAD:
                reason = f"approval {operation.approval} no longer lives; nothing was sent"
                self._results.fail(lease, Failure(FailureKind.POLICY_BOUND, reason))

    def _send(
        self,
        lease: Lease,
        mutation: Mutation,
        operation: OperationRow,
        installation: str,
        stop: Stop,
    ) -> None:
        call = Call(
            operation_id=operation.id,
            marker=marker(installation, operation.id),
            fence=lease.generation,
            run_tag=run_tag(installation, lease.workflow_id),
            installation=installation,
            stop=stop.event,
        )
        try:
            outcome = mutation.perform(operation.request, call)
        except Exception as fault:
            log.exception("mutation raised", operation=operation.id)
            outcome = Unsettled(_named(fault))
        match outcome:
            case Applied(reference, facts):
                self._results.succeed(lease, Success(facts, reference=reference))
            case Refused(kind, reason, facts):
                self._results.fail(lease, Failure(kind, reason, facts=facts))
            case NotSent(kind, reason, retry_after_s):
                self._results.fail(lease, Failure(kind, reason, retry_after_s))
            case Unsettled(reason):
                self._results.leave_unsettled(lease, reason)
            case _:
                assert_never(outcome)

    def _keep(self, lease: Lease, substate: JsonObject) -> None:
        with self._database.commit("keep-substate") as tx:
            steps.keep_substate_if_leased(tx, lease, substate)


def _named(fault: BaseException) -> str:
    """Return the fault's class alone: its text may carry what must not be stored."""
    return f"unforeseen {type(fault).__name__}; see the worker's log"
