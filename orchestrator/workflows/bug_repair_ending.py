"""Endings: what is still to be done for an outcome, in order, whatever fails on the way."""

from __future__ import annotations

from orchestrator.contracts.checkpoint import BugRepairState, ClosingFact, Outcome, Phase
from orchestrator.domain.states import StopCause
from orchestrator.workflows import bug_repair_steps as steps
from orchestrator.workflows.decision import Decision, EndRun, Mutate, StepFailed, StepSucceeded

Next = Decision[BugRepairState]
ABANDONS_DRAFT = (Outcome.REJECTED, Outcome.CANCELLED, Outcome.DEADLINE_EXCEEDED)


def close(state: BugRepairState, outcome: Outcome, reason: str) -> Next:
    """Enter `closing`: the outcome is fixed, and what the run owes the outside is done in order."""
    closing = ClosingFact(outcome=outcome, reason=reason, todo=_todo(state, outcome))
    after = state.model_copy(
        update={
            "closing": closing,
            "closings": state.closings + 1,
            "phase": Phase.CLOSING,
            "pending_approval": None,
        }
    )
    return _next(after, closing)


def stopped(state: BugRepairState, by: str, because: StopCause) -> Next:
    """Active work has stopped: clean. A merge that landed first stays a merge (R22)."""
    if state.merge_commit is not None:
        return close(state, Outcome.MERGED, f"stopped by {by}, too late")
    if state.closing is not None:
        again = state.model_copy(update={"closings": state.closings + 1})
        return _next(again, state.closing)
    if because is StopCause.DEADLINE:
        reason = f"not done within {state.contract.deadline_s:g} s, in phase {state.phase}"
        return close(state, Outcome.DEADLINE_EXCEEDED, reason)
    return close(state, Outcome.CANCELLED, f"by {by}")


def go_on(state: BugRepairState, event: StepSucceeded | StepFailed) -> Next:
    """One thing is done, or could not be done and is said; go on with the next."""
    closing = state.closing
    if closing is None or not closing.todo or closing.todo[0] != event.name:
        return Decision(state)
    reason = closing.reason
    if isinstance(event, StepFailed):
        reason = "; ".join(filter(None, (reason, f"{event.name} failed: {event.reason}")))
    rest = closing.model_copy(update={"todo": closing.todo[1:], "reason": reason})
    return _next(state.model_copy(update={"closing": rest}), rest)


def _todo(state: BugRepairState, outcome: Outcome) -> tuple[str, ...]:
    """Return what is owed: the draft is closed where nobody will go on with it, and so on."""
    draft = state.publication is not None and state.publication.pull_request is not None
    provided = (
        state.environment is not None and state.environment.last_observed_status != "not-asked-for"
    )
    owed = {
        "close-pull-request": draft and outcome in ABANDONS_DRAFT,
        "tear-down-environment": provided,
        "update-ticket": state.ticket is not None,
        "close-ticket": state.ticket is not None and outcome is Outcome.MERGED,
    }
    return tuple(name for name, is_owed in owed.items() if is_owed)


def _next(state: BugRepairState, closing: ClosingFact) -> Next:
    if not closing.todo:
        said = steps.ended(state, closing.outcome, closing.reason)
        return Decision(state, (said, EndRun(closing.outcome, closing.reason)))
    return Decision(state, (_owed(state, closing),))


def _owed(state: BugRepairState, closing: ClosingFact) -> Mutate:
    match closing.todo[0]:
        case "close-pull-request":
            return steps.close_pull_request(state)
        case "tear-down-environment":
            return steps.tear_down_environment(state)
        case "update-ticket":
            return steps.update_ticket(state, closing)
        case "close-ticket":
            return steps.close_ticket(state)
        case other:
            raise LookupError(f"nothing is known of {other}")
