"""What an attempt brings back: a result, a failure, silence about a sent request, or a stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection

from orchestrator.contracts.evidence import ArtifactRef
from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.budgets import TimeLimit
from orchestrator.domain.failures import FailureKind, StaleAttempt
from orchestrator.domain.states import OperationStatus, ResourceStatus, RunStatus, StepStatus
from orchestrator.engine import cancel
from orchestrator.engine.database import Database
from orchestrator.engine.fold import fold, note
from orchestrator.engine.hand_on import Failure, hand_on, overdue, refuse
from orchestrator.store import artifacts, breakers, claims, operations, resources, runs, steps
from orchestrator.store.artifacts import Binding
from orchestrator.store.records import Lease, OperationRow, Run
from orchestrator.workflows.decision import StepSucceeded
from orchestrator.workflows.registry import Definitions


@dataclass(frozen=True)
class Success:
    """An attempt's result. `reference` is set by mutations: the outside's own name of it."""

    value: JsonObject
    reference: str | None = None
    artifacts: Sequence[ArtifactRef] = ()
    binding: Binding = field(default_factory=Binding)


class Results:
    """Accepts what attempts bring back; each call is one transaction.

    Every method raises StaleAttempt when the lease was superseded, after keeping what the attempt
    had to say as a late word on its record (R12).
    """

    def __init__(self, database: Database, definitions: Definitions) -> None:
        self._database, self._definitions = database, definitions

    def succeed(self, lease: Lease, success: Success) -> None:
        """Accept a result: step, operation, artifacts, state and what follows, or nothing."""
        word = {"result": success.value, "reference": success.reference}
        with self._late_word_kept(lease, word), self._database.commit("accept-result") as tx:
            run = self._take(tx, lease)
            if run.generation != lease.run_generation:
                self._stopped(tx, run, lease, success)
                return
            if not steps.close_if_leased(
                tx,
                lease.workflow_id,
                lease.step,
                lease.generation,
                StepStatus.SUCCEEDED,
                result=success.value,
            ):
                raise _stale(lease)
            self._accept(tx, run, lease, success)

    def fail(self, lease: Lease, failure: Failure) -> None:
        """Accept a failure: try again within the budget of its kind, or tell the definition."""
        word = {"failure": failure.kind, "reason": failure.reason}
        with self._late_word_kept(lease, word), self._database.commit("accept-failure") as tx:
            run = self._take(tx, lease)
            if run.generation != lease.run_generation:
                self._stopped(tx, run, lease, None, may_be_out=False)
                return
            self._fail(tx, run, lease, failure)

    def overdue(self, lease: Lease, limit: TimeLimit) -> None:
        """Accept that an attempt stopped because a time limit was reached."""
        with self._database.read() as tx:
            step = steps.read(tx, lease.workflow_id, lease.step)
        self.fail(lease, overdue(step, limit, f"{lease.worker} stopped when it was told"))

    def leave_unsettled(self, lease: Lease, reason: str) -> None:
        """Keep a sent operation ambiguous: the reconciler observes it, nothing is sent again."""
        word = {"ambiguous": reason}
        with self._late_word_kept(lease, word), self._database.commit("leave-unsettled") as tx:
            run = self._take(tx, lease)
            unsettle(tx, run, lease, reason)

    def acknowledge_stop(self, lease: Lease) -> None:
        """Give the step back because its run is being cancelled; all of its processes are gone."""
        with self._late_word_kept(lease, {"stopped": True}), self._database.commit("stop") as tx:
            run = self._take(tx, lease)
            self._stopped(tx, run, lease, None)

    def _take(self, tx: Connection, lease: Lease) -> Run:
        run = runs.lock(tx, lease.workflow_id)
        if not claims.release_if_held(tx, lease):
            raise _stale(lease)
        return run

    def _accept(self, tx: Connection, run: Run, lease: Lease, success: Success) -> None:
        steps.end_attempt(tx, run.id, lease.step, lease.attempt, "succeeded")
        artifacts.record(tx, lease, success.artifacts, success.binding)
        if lease.operation_id is not None:
            confirm(tx, lease.operation_id, success, f"worker:{lease.worker}")
        if lease.on_trial:
            breakers.answered(tx, lease.queue)
        if run.status is RunStatus.ENDED:
            return
        event = StepSucceeded(
            at=run.now,
            name=lease.name,
            ordinal=lease.ordinal,
            result=success.value,
            reference=success.reference,
        )
        run = fold(tx, self._definitions, run, event, _cause(lease))
        cancel.go_on(tx, self._definitions, run)

    def _fail(self, tx: Connection, run: Run, lease: Lease, failure: Failure) -> None:
        step = steps.read(tx, lease.workflow_id, lease.step)
        outcome = "failed" if failure.limit is None else "overdue"
        steps.end_attempt(tx, run.id, lease.step, lease.attempt, outcome, failure.to_json())
        held = replace(step, generation=lease.generation)
        if not hand_on(tx, self._definitions, run, held, failure, _cause(lease)):
            raise _stale(lease)

    def _stopped(
        self,
        tx: Connection,
        run: Run,
        lease: Lease,
        success: Success | None,
        *,
        may_be_out: bool = True,
    ) -> None:
        """End an attempt of a run that moved to another generation. Its facts are not lost."""
        if success is not None and lease.operation_id is not None:
            for before in (StepStatus.LEASED, StepStatus.UNSETTLED):
                steps.move_if(
                    tx, run.id, lease.step, before, StepStatus.SUCCEEDED, result=success.value
                )
            self._accept(tx, run, lease, success)
            return
        steps.end_attempt(tx, run.id, lease.step, lease.attempt, "cancelled")
        if success is not None:
            steps.keep_late_word(tx, lease, {"result": success.value})
        if may_be_out and _is_sent(tx, lease):
            run = unsettle(tx, run, lease, "stopped by a cancellation after it was sent")
        else:
            refuse(tx, lease.operation_id, Failure(FailureKind.POLICY_BOUND, "run cancelled"))
            steps.move_if(tx, run.id, lease.step, StepStatus.LEASED, StepStatus.CANCELLED)
        cancel.go_on(tx, self._definitions, run)

    def _late_word_kept(self, lease: Lease, word: JsonObject) -> _LateWord:
        return _LateWord(self._database, lease, word)


class _LateWord:
    """Keeps what a superseded attempt said, outside the transaction that refused it."""

    def __init__(self, database: Database, lease: Lease, word: JsonObject) -> None:
        self._database, self._lease, self._word = database, lease, word

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is StaleAttempt:
            with self._database.commit("keep-late-word") as tx:
                steps.keep_late_word(tx, self._lease, {"refused_as_stale": self._word})


def confirm(tx: Connection, operation_id: str, success: Success, by: str) -> None:
    """Confirm an operation and bring to life what it made, or lay to rest what it cleaned."""
    operation = operations.read(tx, operation_id)
    operations.settle_if_version(
        tx,
        operation,
        OperationStatus.CONFIRMED,
        by,
        reference=success.reference,
        facts=success.value,
    )
    settle_resources(tx, operation, success.reference)


def settle_resources(tx: Connection, operation: OperationRow, reference: str | None) -> None:
    """Bring to life what a confirmed operation made, and lay to rest what it cleaned."""
    run_id = operation.workflow_id
    if operation.makes is not None:
        made = operation.makes
        resources.move(
            tx, run_id, made["kind"], made["tag"], ResourceStatus.LIVE, reference=reference
        )
    if operation.cleans is not None:
        cleaned = operation.cleans
        resources.move(tx, run_id, cleaned["kind"], cleaned["tag"], ResourceStatus.GONE)


def unsettle(tx: Connection, run: Run, lease: Lease, reason: str) -> Run:
    """Move step and operation to the reconciler: sent, and nobody knows what became of it."""
    if lease.operation_id is None:
        raise ValueError(f"step {lease.step} of {run.id} is no mutation and cannot be ambiguous")
    operation = operations.read(tx, lease.operation_id)
    operations.settle_if_version(tx, operation, OperationStatus.AMBIGUOUS, f"worker:{lease.worker}")
    steps.move_if(tx, run.id, lease.step, StepStatus.LEASED, StepStatus.UNSETTLED)
    steps.end_attempt(tx, run.id, lease.step, lease.attempt, "ambiguous", {"reason": reason})
    said = {"operation": operation.id, "reason": reason[:2000]}
    return note(tx, run, "outcome-ambiguous", said, _cause(lease))


def _is_sent(tx: Connection, lease: Lease) -> bool:
    if lease.operation_id is None:
        return False
    return operations.read(tx, lease.operation_id).status is OperationStatus.SENT


def _stale(lease: Lease) -> StaleAttempt:
    return StaleAttempt(lease.workflow_id, lease.step, lease.attempt, lease.generation)


def _cause(lease: Lease) -> str:
    return f"worker:{lease.worker}/step:{lease.step}/attempt:{lease.attempt}"
