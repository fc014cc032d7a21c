"""A definition of n no-op steps with a payload, and the worker process that executes it."""

from __future__ import annotations

import os
import sys
from typing import ClassVar, assert_never

from activities.activity import Context, Outcome
from activities.publisher import Publisher
from activities.registry import Registry
from activities.worker import Worker, WorkerSettings
from orchestrator.contracts.payload import JsonObject, Payload
from orchestrator.engine.database import Database
from orchestrator.workflows.decision import (
    ApprovalDecided,
    ApprovalExpired,
    BudgetRaised,
    CancelRequested,
    CorrectionGiven,
    Decision,
    EndRun,
    Event,
    Identity,
    RetryRequested,
    RunActivity,
    RunStarted,
    StepFailed,
    StepSucceeded,
    TimerFired,
)
from orchestrator.workflows.registry import Definitions

SLOTS = 8


class NoopState(Payload):
    """How many steps are done."""

    KIND: ClassVar[str] = "noop"

    steps: int
    done: int = 0
    payload: str


class Noop:
    """`steps` no-op steps in a row; each takes the payload and gives it back."""

    name = "noop"
    version = 1
    outcomes = frozenset({"done", "failed", "cancelled"})
    state_type = NoopState

    def start(self, identity: Identity, submission: JsonObject) -> NoopState:
        """Return the first state."""
        return NoopState(**submission)

    def phase(self, state: NoopState) -> str:
        """Return the one stage there is."""
        return "stepping"

    def decide(self, state: NoopState, event: Event) -> Decision[NoopState]:
        """Schedule the next step, or end."""
        match event:
            case RunStarted():
                return Decision(state, (_step(state),))
            case StepSucceeded():
                after = state.model_copy(update={"done": state.done + 1})
                last = after.done >= after.steps
                return Decision(after, (EndRun("done") if last else _step(after),))
            case StepFailed(reason=reason):
                return Decision(state, (EndRun("failed", reason),))
            case CancelRequested():
                return Decision(state, (EndRun("cancelled"),))
            case (
                TimerFired()
                | ApprovalDecided()
                | ApprovalExpired()
                | CorrectionGiven()
                | BudgetRaised()
                | RetryRequested()
            ):
                return Decision(state)
            case _:
                assert_never(event)


def _step(state: NoopState) -> RunActivity:
    given = {"payload": state.payload}
    return RunActivity("noop", "noop", "noop", given, ordinal=state.done + 1)


class DoNothing:
    """Return what was given."""

    name = "noop"
    queue = "noop"

    def run(self, given: JsonObject, context: Context) -> Outcome:
        """Return it."""
        return Outcome(given)


def definitions() -> Definitions:
    """Return the one definition."""
    return Definitions([Noop()])


def main(dsn: str) -> None:
    """Work until killed, with the settings that `outlast worker` has, and more slots."""
    database = Database(dsn, pool_size=SLOTS + 4)
    name = f"bench-{os.getpid()}"
    how = WorkerSettings(id=name, queues=["noop"], slots=SLOTS, lease_s=10.0, direct_dsn=dsn)
    Worker(database, definitions(), Registry([DoNothing()], []), how, Publisher(database, [])).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
