"""Write a decision's effects. Everything here stays inside the decision's own transaction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

from sqlalchemy import Connection

from orchestrator.domain.operations import operation_id
from orchestrator.domain.states import ResourceStatus
from orchestrator.store import approvals, messages, operations, resources, runs, steps, timers
from orchestrator.store.records import Run
from orchestrator.workflows.decision import (
    AskApproval,
    CancelTimer,
    Effect,
    EndRun,
    Mutate,
    Notify,
    RunActivity,
    SetDeadline,
    StartTimer,
    WithdrawApproval,
)


@dataclass(frozen=True)
class Place:
    """Where a decision happened: the locked run, its new position and its generation."""

    run: Run
    position: int

    @property
    def message_stem(self) -> str:
        """The stem of message ids that stay the same however often they are published."""
        return f"{self.run.id}:{self.position}"


def write_all(connection: Connection, place: Place, effects: Iterable[Effect]) -> EndRun | None:
    """Write the effects in order; return the ending when the decision ended the run."""
    end: EndRun | None = None
    for index, effect in enumerate(effects):
        match effect:
            case RunActivity():
                _schedule(connection, place.run, effect)
            case Mutate():
                _intend(connection, place.run, effect)
            case StartTimer(name, seconds):
                timers.start(connection, place.run.id, name, seconds)
            case CancelTimer(name):
                timers.cancel(connection, place.run.id, name)
            case SetDeadline(seconds):
                runs.set_deadline(connection, place.run.id, seconds)
            case AskApproval(ordinal, scope, expires_s):
                approvals.ask(connection, place.run.id, ordinal, scope, expires_s)
            case WithdrawApproval():
                approvals.supersede_open(connection, place.run.id)
            case Notify(topic, payload):
                message_id = f"{place.message_stem}:{index}"
                messages.publish_later(connection, place.run.id, message_id, topic, payload)
            case EndRun():
                end = effect
            case _:
                assert_never(effect)
    return end


def _schedule(connection: Connection, run: Run, effect: RunActivity) -> None:
    new = steps.NewStep(
        name=effect.name,
        ordinal=effect.ordinal,
        activity=effect.activity,
        queue=effect.queue,
        operation_id=None,
        input=effect.input,
        limits=effect.limits,
    )
    steps.schedule(connection, run.id, run.generation, new)


def _intend(connection: Connection, run: Run, effect: Mutate) -> None:
    """Commit the intent with the step: operation, request and owned resource, before any send."""
    operation = operation_id(run.id, effect.name, effect.ordinal)
    operations.refuse_other_parameters(connection, operation, effect.request)
    new = steps.NewStep(
        name=effect.name,
        ordinal=effect.ordinal,
        activity=effect.activity,
        queue=effect.queue,
        operation_id=operation,
        input={},
        limits=effect.limits,
    )
    number = steps.schedule(connection, run.id, run.generation, new)
    intent = operations.Intent(
        id=operation,
        activity=effect.activity,
        request=effect.request,
        approval=effect.approval,
        makes=None if effect.makes is None else vars(effect.makes),
        cleans=None if effect.cleans is None else vars(effect.cleans),
    )
    operations.intend(connection, run.id, number, intent)
    if effect.makes is not None:
        made = effect.makes
        resources.register(connection, run.id, made.kind, made.tag, run.generation)
    if effect.cleans is not None:
        cleaned = effect.cleans
        resources.move(connection, run.id, cleaned.kind, cleaned.tag, ResourceStatus.CLEANING)
    if effect.keeps is not None:
        kept = effect.keeps
        resources.move(connection, run.id, kept.kind, kept.tag, ResourceStatus.KEPT)
