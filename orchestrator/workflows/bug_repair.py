"""The flagship: a bug report becomes a merged pull request, or an honest other ending.

    ticketing -> preparing-environment -> reproducing -> diagnosing <-> verifying-fix
              -> publishing -> awaiting-review -> merging -> closing

Read `decide` from top to bottom: it is the whole job. What is asked for at each arrow stands in
`bug_repair_steps`, the review's part in `bug_repair_review`, the endings in `bug_repair_ending`.
"""

from __future__ import annotations

from typing import assert_never

from orchestrator.contracts import work
from orchestrator.contracts.checkpoint import (
    MOST_ESCALATIONS,
    MOST_REPAIR_ATTEMPTS,
    BugRepairState,
    BugReport,
    CandidateFact,
    EnvironmentFact,
    Outcome,
    Phase,
    ReproductionFact,
    TicketFact,
    WorkContract,
)
from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.budgets import Budget
from orchestrator.domain.failures import FailureKind
from orchestrator.domain.operations import operation_id
from orchestrator.workflows import bug_repair_ending as ending
from orchestrator.workflows import bug_repair_review as review
from orchestrator.workflows import bug_repair_steps as steps
from orchestrator.workflows.decision import (
    ApprovalDecided,
    ApprovalExpired,
    BudgetRaised,
    CancelRequested,
    CorrectionGiven,
    Decision,
    Event,
    Identity,
    RetryRequested,
    RunStarted,
    SetDeadline,
    StepFailed,
    StepSucceeded,
    TimerFired,
    WithdrawApproval,
)

Next = Decision[BugRepairState]
VERSION = 1


class BugRepair:
    """The decision code of `bug-repair`. Pure (P2)."""

    name = "bug-repair"
    version = VERSION
    outcomes: frozenset[str] = frozenset(Outcome)
    state_type = BugRepairState

    def start(self, identity: Identity, submission: JsonObject) -> BugRepairState:
        """Return the first state. Raises ValueError naming the field that is wrong."""
        body = dict(submission)
        limits = body.pop("contract", {})
        report = BugReport.model_validate(body)
        contract = WorkContract.model_validate({**limits, "repository": report.repository})
        return BugRepairState(
            workflow_id=identity.workflow_id,
            workflow_version=VERSION,
            phase=Phase.TICKETING,
            report=report,
            contract=contract,
            environment=EnvironmentFact(tag=identity.tag, last_observed_status="not-asked-for"),
        )

    def phase(self, state: BugRepairState) -> str:
        """Return the stage, for people."""
        return state.phase

    def decide(self, state: BugRepairState, event: Event) -> Next:
        """Return what follows from the event."""
        match event:
            case RunStarted(at):
                started = state.model_copy(update={"started_at": at.isoformat()})
                deadline = SetDeadline(started.contract.deadline_s)
                return Decision(started, (deadline, steps.create_ticket(started)))
            case StepSucceeded() | StepFailed() if state.closing is not None:
                return ending.go_on(state, event)
            case StepSucceeded(name=name, result=result, reference=reference):
                return _succeeded(state, name, result, reference)
            case StepFailed():
                return _failed(state, event)
            case ApprovalDecided():
                return review.decided(state, event)
            case ApprovalExpired():
                return review.expired(state)
            case CancelRequested(by=by, because=because):
                return ending.stopped(state, by, because)
            case CorrectionGiven(by=by, text=text):
                return _corrected(state, by, text)
            case BudgetRaised(budget=budget, amount=amount):
                return _raised(state, budget, amount)
            case TimerFired() | RetryRequested():
                return Decision(state)
            case _:
                assert_never(event)


def _succeeded(state: BugRepairState, name: str, result: JsonObject, reference: str | None) -> Next:
    """Return what follows from an accepted result; each arrow of the job is one line."""
    match name:
        case "create-ticket":
            return _ticket_stands(state, int(reference or 0))
        case "derive-procedure":
            return _procedure_derived(state, work.DerivedProcedure.model_validate(result))
        case "resolve-revision":
            return _revision_resolved(state, work.ResolvedRevision.model_validate(result))
        case "provision-environment":
            return _environment_ready(state, work.ProvisionedEnvironment.model_validate(result))
        case "reproduce":
            return _replayed_on_base(state, work.Replayed.model_validate(result))
        case "propose-candidate":
            return _candidate_proposed(state, work.Proposed.model_validate(result))
        case "verify-candidate":
            return _candidate_verified(state, work.Verified.model_validate(result))
        case "push-branch":
            return review.branch_stands(state)
        case "create-draft-pull-request":
            return review.draft_stands(state, int(reference or 0))
        case "attach-evidence":
            return review.evidence_stands(state)
        case "request-review":
            return review.ask(state)
        case "revalidate":
            return review.revalidated(state, work.Revalidated.model_validate(result))
        case "mark-ready":
            return Decision(state, (steps.merge(state),))
        case "merge":
            return review.merged(state, result)
        case "convert-to-draft":
            return review.read_again(state)
        case _:
            raise LookupError(f"the definition schedules no step {name}")


def _ticket_stands(state: BugRepairState, number: int) -> Next:
    fact = TicketFact(
        number=number, operation_id=operation_id(state.workflow_id, "create-ticket", 1)
    )
    after = state.model_copy(update={"ticket": fact})
    return Decision(after, (steps.derive_procedure(after),))


def _procedure_derived(state: BugRepairState, derived: work.DerivedProcedure) -> Next:
    if derived.procedure_sha256 is None:
        lacks = "; ".join(derived.missing) or "a procedure"
        return ending.close(
            state, Outcome.NEEDS_HUMAN_TRIAGE, f"report-incomplete: it lacks {lacks}"
        )
    after = state.model_copy(
        update={
            "procedure_sha256": derived.procedure_sha256,
            "phase": Phase.PREPARING_ENVIRONMENT,
        }
    )
    return Decision(after, (steps.resolve_revision(after),))


def _revision_resolved(state: BugRepairState, resolved: work.ResolvedRevision) -> Next:
    environment = _environment(state, last_observed_status="registered")
    after = state.model_copy(
        update={"target_revision": resolved.revision, "environment": environment}
    )
    return Decision(after, (steps.provision_environment(after),))


def _environment_ready(state: BugRepairState, provided: work.ProvisionedEnvironment) -> Next:
    environment = _environment(
        state,
        recovery_spec=provided.spec_sha256,
        environment_sha256=provided.environment_sha256,
        last_observed_status="ready",
    )
    after = state.model_copy(update={"environment": environment, "phase": Phase.REPRODUCING})
    return Decision(after, (steps.reproduce(after),))


def _replayed_on_base(state: BugRepairState, replayed: work.Replayed) -> Next:
    if (replayed.revision, replayed.procedure_sha256) != (
        state.target_revision,
        state.procedure_sha256,
    ):
        return ending.close(
            state, Outcome.NEEDS_HUMAN_TRIAGE, "evidence names another revision or procedure"
        )
    facts = {key: value for key, value in replayed.model_dump().items() if key != "verdict"}
    reproduction = ReproductionFact(
        status="reproduced" if replayed.verdict == "failed" else _not_reproduced(replayed.verdict),
        **facts,
    )
    after = state.model_copy(update={"reproduction": reproduction})
    if replayed.verdict != "failed":
        return ending.close(after, Outcome.NEEDS_HUMAN_TRIAGE, reproduction.status)
    return propose_next(after)


def propose_next(state: BugRepairState) -> Next:
    """Ask for a genuinely different candidate, or end when the repair budget is spent."""
    if state.repair_attempt >= state.contract.repair_attempts:
        reason = f"the repair budget of {state.contract.repair_attempts} candidates is spent"
        return ending.close(state, Outcome.REPAIR_BUDGET_EXHAUSTED, reason)
    after = state.model_copy(
        update={"repair_attempt": state.repair_attempt + 1, "phase": Phase.DIAGNOSING}
    )
    return Decision(after, (steps.propose(after),))


def _candidate_proposed(state: BugRepairState, proposed: work.Proposed) -> Next:
    candidate = CandidateFact(
        ordinal=state.repair_attempt,
        patch_sha256=proposed.patch_sha256,
        hypothesis=proposed.hypothesis,
        provider=proposed.provider,
    )
    after = state.model_copy(
        update={"candidates": (*state.candidates, candidate), "phase": Phase.VERIFYING_FIX}
    )
    revision = state.target_revision or ""
    return Decision(after, (steps.verify(after, revision, candidate.patch_sha256),))


def _candidate_verified(state: BugRepairState, verified: work.Verified) -> Next:
    if verified.procedure_sha256 != state.procedure_sha256:
        return _candidate_failed(state, "evidence names another procedure")
    if not verified.passed:
        return _candidate_failed(state, verified.why)
    after = with_candidate(
        state,
        verification_status="passed",
        why=verified.why,
        commit=verified.commit,
        base_revision=verified.base_revision,
        bundle_sha256=verified.bundle_sha256,
        environment_sha256=verified.environment_sha256,
        checks_sha256=verified.checks_sha256,
        replay_sha256=verified.replay_sha256,
    )
    return review.publish(after, verified)


def _corrected(state: BugRepairState, by: str, text: str) -> Next:
    """A reviewer says what is wrong: the next candidate is proposed with their words in sight.

    Only while a person is asked, within the repair budget, and never over others' commits.
    """
    publication = state.publication
    if state.pending_approval is None or publication is None or publication.has_foreign_commits:
        return Decision(state)
    if state.repair_attempt >= state.contract.repair_attempts:
        return Decision(state)
    failed = with_candidate(
        state, verification_status="failed", why=f"corrected by {by}: {text[:2000]}"
    )
    again = propose_next(failed.model_copy(update={"pending_approval": None}))
    return Decision(again.state, (WithdrawApproval(), *again.effects))


def _raised(state: BugRepairState, budget: Budget, amount: int) -> Next:
    """Take more of a budget; a run that ended for want of candidates goes on from the next one."""
    match budget:
        case Budget.REPAIR:
            most = min(MOST_REPAIR_ATTEMPTS, state.contract.repair_attempts + amount)
            contract = state.contract.model_copy(update={"repair_attempts": most})
        case Budget.ESCALATION:
            most = min(MOST_ESCALATIONS, state.contract.escalations + amount)
            contract = state.contract.model_copy(update={"escalations": most})
        case _:
            return Decision(state)
    after = state.model_copy(update={"contract": contract})
    closing = state.closing
    if closing is None:
        return Decision(after)
    spent = closing.outcome is Outcome.REPAIR_BUDGET_EXHAUSTED and not closing.todo
    if not spent or state.repair_attempt >= most or budget is not Budget.REPAIR:
        return Decision(state)
    return propose_next(after.model_copy(update={"closing": None}))


def _candidate_failed(state: BugRepairState, why: str) -> Next:
    newest = state.candidate_change
    held_before = newest is not None and newest.verification_status == "passed"
    after = with_candidate(state, verification_status="failed", why=why)
    if held_before:
        reason = f"the outside moved and the candidate no longer holds: {why}"
        return ending.close(after, Outcome.NEEDS_HUMAN_REVIEW, reason)
    return propose_next(after)


def _failed(state: BugRepairState, event: StepFailed) -> Next:
    """Return the ending, or the way round, that a failed step leads to."""
    reason = f"{event.name}: {event.kind}: {event.reason}"
    match event.name, event.kind:
        case "propose-candidate", FailureKind.DOMAIN_NEGATIVE:
            return ending.close(state, Outcome.REPAIR_BUDGET_EXHAUSTED, reason)
        case "verify-candidate", FailureKind.POLICY_BOUND | FailureKind.DOMAIN_NEGATIVE:
            return _candidate_failed(state, event.reason)
        case (("mark-ready" | "merge"), kind) if kind is not FailureKind.PERMANENT:
            return review.merge_refused(state, reason)
        case (("derive-procedure" | "resolve-revision" | "provision-environment" | "reproduce"), _):
            return ending.close(state, Outcome.NEEDS_HUMAN_TRIAGE, f"inconclusive: {reason}")
        case _:
            return ending.close(state, Outcome.NEEDS_HUMAN_REVIEW, reason)


def with_candidate(state: BugRepairState, **facts: object) -> BugRepairState:
    """Return the state with facts added to its newest candidate."""
    newest = state.candidates[-1].model_copy(update=facts)
    return state.model_copy(update={"candidates": (*state.candidates[:-1], newest)})


def _environment(state: BugRepairState, **facts: object) -> EnvironmentFact:
    if state.environment is None:
        raise ValueError("the environment's tag was never recorded")
    return state.environment.model_copy(update=facts)


def _not_reproduced(verdict: str) -> str:
    return "not-reproduced" if verdict == "passed" else verdict
