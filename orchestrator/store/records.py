"""The rows that the engine works with, typed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import RowMapping

from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.budgets import Limits, Spent
from orchestrator.domain.operations import Guarantee
from orchestrator.domain.states import (
    CancelStage,
    OperationStatus,
    RunStatus,
    StepStatus,
    StopCause,
)


@dataclass(frozen=True)
class Run:
    """A run whose row is locked by this transaction; `now` is the database's clock at the lock."""

    id: str
    definition: str
    definition_version: int
    status: RunStatus
    phase: str
    cancel_stage: CancelStage
    cancel_by: str | None
    cancel_because: StopCause
    state: JsonObject
    position: int
    generation: int
    submitter: str
    now: datetime

    @classmethod
    def of(cls, row: RowMapping) -> Run:
        """Read a locked row."""
        return cls(
            id=row["id"],
            definition=row["definition"],
            definition_version=row["definition_version"],
            status=RunStatus(row["status"]),
            phase=row["phase"],
            cancel_stage=CancelStage(row["cancel_stage"]),
            cancel_by=row["cancel_by"],
            cancel_because=StopCause(row["cancel_because"] or StopCause.PERSON),
            state=row["state"],
            position=row["position"],
            generation=row["generation"],
            submitter=row["submitter"],
            now=row["now"],
        )


@dataclass(frozen=True)
class StepRow:
    """One scheduled use of an activity, as read."""

    workflow_id: str
    number: int
    name: str
    ordinal: int
    activity: str
    queue: str
    operation_id: str | None
    status: StepStatus
    generation: int
    run_generation: int
    attempts: int
    limits: Limits
    spent: Spent

    @classmethod
    def of(cls, row: RowMapping) -> StepRow:
        """Read a step row."""
        return cls(
            workflow_id=row["workflow_id"],
            number=row["number"],
            name=row["name"],
            ordinal=row["ordinal"],
            activity=row["activity"],
            queue=row["queue"],
            operation_id=row["operation_id"],
            status=StepStatus(row["status"]),
            generation=row["generation"],
            run_generation=row["run_generation"],
            attempts=row["attempts"],
            limits=Limits.from_json(row["limits"]),
            spent=Spent.from_json(row["spent"]),
        )


@dataclass(frozen=True)
class Lease:
    """A timed right to execute a step: what a worker got from a claim.

    Every write of the attempt names workflow, step, attempt and generation (P4).
    """

    workflow_id: str
    step: int
    name: str
    ordinal: int
    activity: str
    queue: str
    operation_id: str | None
    input: JsonObject
    limits: Limits
    generation: int
    run_generation: int
    attempt: int
    worker: str
    substate: JsonObject | None = None
    on_trial: bool = False


@dataclass(frozen=True)
class OperationRow:
    """One logical mutation outside, as read; `version` guards every verdict."""

    id: str
    workflow_id: str
    step: int
    activity: str
    request: JsonObject
    guarantee: Guarantee | None
    approval: int | None
    makes: JsonObject | None
    cleans: JsonObject | None
    status: OperationStatus
    version: int
    reference: str | None
    observations: tuple[JsonObject, ...]

    @classmethod
    def of(cls, row: RowMapping) -> OperationRow:
        """Read an operation row."""
        guarantee = row["guarantee"]
        return cls(
            id=row["id"],
            workflow_id=row["workflow_id"],
            step=row["step"],
            activity=row["activity"],
            request=row["request"],
            guarantee=None if guarantee is None else Guarantee(guarantee),
            approval=row["approval"],
            makes=row["makes"],
            cleans=row["cleans"],
            status=OperationStatus(row["status"]),
            version=row["version"],
            reference=row["reference"],
            observations=tuple(row["observations"]),
        )
