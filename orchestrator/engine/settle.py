"""Apply a verdict on an ambiguous operation, compare-and-set on its version (R18)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from sqlalchemy import Connection

from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.failures import FailureKind
from orchestrator.domain.operations import (
    Adopt,
    Conflict,
    SendAgain,
    StillUnknown,
    Verdict,
    pause_before_look,
)
from orchestrator.domain.states import OperationStatus, RunStatus, StepStatus
from orchestrator.engine import cancel
from orchestrator.engine.database import Database
from orchestrator.engine.fold import fold, note
from orchestrator.engine.results import settle_resources
from orchestrator.store import claims, operations, runs, steps
from orchestrator.store.records import OperationRow, Run, StepRow
from orchestrator.workflows.decision import StepFailed, StepSucceeded
from orchestrator.workflows.registry import Definitions


@dataclass(frozen=True)
class Observation:
    """What was seen outside, by whom, and what follows from it."""

    verdict: Verdict
    seen: JsonObject
    by: str


class Settler:
    """Settles operations by verdicts; each call is one transaction."""

    def __init__(self, database: Database, definitions: Definitions) -> None:
        self._database, self._definitions = database, definitions

    def settle_if_unchanged(self, operation: OperationRow, observation: Observation) -> bool:
        """Apply the verdict unless the operation moved since it was read; False if it did."""
        with self._database.commit("settle-operation") as tx:
            run = runs.lock(tx, operation.workflow_id)
            step = steps.read(tx, operation.workflow_id, operation.step)
            verdict = observation.verdict
            if run.status is RunStatus.SET_ASIDE:
                verdict = StillUnknown("the run was set aside", needs_person=True)
            match verdict:
                case Adopt():
                    return self._adopt(tx, run, step, operation, verdict, observation)
                case SendAgain():
                    return self._send_again(tx, run, step, operation, verdict, observation)
                case Conflict():
                    return self._conflict(tx, run, step, operation, verdict, observation)
                case StillUnknown():
                    return self._look_again(tx, run, operation, verdict, observation)
                case _:
                    assert_never(verdict)

    def _adopt(
        self,
        tx: Connection,
        run: Run,
        step: StepRow,
        operation: OperationRow,
        verdict: Adopt,
        observation: Observation,
    ) -> bool:
        if not operations.settle_if_version(
            tx,
            operation,
            OperationStatus.CONFIRMED,
            observation.by,
            reference=verdict.reference,
            facts=verdict.facts,
        ):
            return False
        settle_resources(tx, operation, verdict.reference)
        steps.move_if(
            tx,
            run.id,
            step.number,
            StepStatus.UNSETTLED,
            StepStatus.SUCCEEDED,
            result=verdict.facts,
        )
        run = self._told(tx, run, operation, "adopted", observation)
        if run.status is RunStatus.ENDED:
            return True
        event = StepSucceeded(
            at=run.now,
            name=step.name,
            ordinal=step.ordinal,
            result=verdict.facts,
            reference=verdict.reference,
        )
        run = fold(tx, self._definitions, run, event, observation.by)
        cancel.go_on(tx, self._definitions, run)
        return True

    def _send_again(
        self,
        tx: Connection,
        run: Run,
        step: StepRow,
        operation: OperationRow,
        verdict: SendAgain,
        observation: Observation,
    ) -> bool:
        superseded = step.run_generation != run.generation
        after = OperationStatus.ABANDONED if superseded else OperationStatus.INTENDED
        if not operations.settle_if_version(tx, operation, after, observation.by):
            return False
        if superseded:
            steps.move_if(tx, run.id, step.number, StepStatus.UNSETTLED, StepStatus.CANCELLED)
            run = self._told(tx, run, operation, "abandoned", observation)
            cancel.go_on(tx, self._definitions, run)
            return True
        steps.move_if(tx, run.id, step.number, StepStatus.UNSETTLED, StepStatus.DUE)
        claims.publish(tx, run.id, step.number, after_s=0.0)
        self._told(tx, run, operation, f"may be sent again: {verdict.reason}", observation)
        return True

    def _conflict(
        self,
        tx: Connection,
        run: Run,
        step: StepRow,
        operation: OperationRow,
        verdict: Conflict,
        observation: Observation,
    ) -> bool:
        if not operations.settle_if_version(
            tx, operation, OperationStatus.REFUSED, observation.by, facts=verdict.facts
        ):
            return False
        failure: JsonObject = {"kind": FailureKind.POLICY_BOUND, "reason": verdict.reason}
        steps.move_if(
            tx, run.id, step.number, StepStatus.UNSETTLED, StepStatus.FAILED, failure=failure
        )
        run = self._told(tx, run, operation, "conflict", observation)
        if run.status is RunStatus.ENDED:
            return True
        event = StepFailed(
            at=run.now,
            name=step.name,
            ordinal=step.ordinal,
            kind=FailureKind.POLICY_BOUND,
            reason=verdict.reason,
            facts=verdict.facts,
        )
        run = fold(tx, self._definitions, run, event, observation.by)
        cancel.go_on(tx, self._definitions, run)
        return True

    def _look_again(
        self,
        tx: Connection,
        run: Run,
        operation: OperationRow,
        verdict: StillUnknown,
        observation: Observation,
    ) -> bool:
        """Keep it ambiguous with what was seen; what needs a person is told once in history."""
        looks = len(operation.observations)
        pause = pause_before_look(looks, needs_person=verdict.needs_person)
        if not operations.note_observation(tx, operation, observation.seen, pause):
            return False
        before = operation.observations[-1] if looks else {}
        is_told = (before.get("saw"), before.get("kind")) == (
            observation.seen.get("saw"),
            observation.seen.get("kind"),
        )
        if verdict.needs_person and not is_told:
            said = {"operation": operation.id, "seen": observation.seen}
            run = note(tx, run, "operation-unreadable", said, observation.by)
        cancel.go_on(tx, self._definitions, run)
        return True

    def _told(
        self,
        tx: Connection,
        run: Run,
        operation: OperationRow,
        verdict: str,
        observation: Observation,
    ) -> Run:
        said = {"operation": operation.id, "verdict": verdict, "seen": observation.seen}
        return note(tx, run, "operation-settled", said, observation.by)
