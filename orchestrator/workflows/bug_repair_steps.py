"""What the flagship asks for at each arrow: effects, built from durable facts alone."""

from __future__ import annotations

from orchestrator.contracts import requests, work
from orchestrator.contracts.checkpoint import (
    BugRepairState,
    CandidateFact,
    ClosingFact,
    Outcome,
    PublicationFact,
)
from orchestrator.contracts.payload import Shape
from orchestrator.domain.budgets import Limits
from orchestrator.workflows import bug_repair_texts as texts
from orchestrator.workflows.decision import AskApproval, Mutate, Notify, Owned, RunActivity

LONG = Limits(attempt_s=1800.0)
SEND = Limits(attempt_s=120.0)
PROVISION = Limits(attempt_s=900.0)


def create_ticket(state: BugRepairState) -> Mutate:
    """Open the ticket."""
    request = requests.CreateTicket(
        repository=state.report.repository,
        title=state.report.title,
        body=texts.ticket_body(state),
    )
    return _mutate("create-ticket", "tracker", request)


def derive_procedure(state: BugRepairState) -> RunActivity:
    """Turn the report's words into a procedure."""
    given = work.DeriveProcedure(title=state.report.title, text=state.report.text)
    return _run("derive-procedure", "model", given)


def resolve_revision(state: BugRepairState) -> RunActivity:
    """Fix the revision that everything is proved on."""
    given = work.ResolveRevision(repository=state.report.repository, base=state.report.base)
    return _run("resolve-revision", "git", given)


def provision_environment(state: BugRepairState) -> Mutate:
    """Build the environment; it is registered as the run's own before it exists."""
    request = requests.ProvisionEnvironment(
        repository=state.report.repository,
        revision=_known(state.target_revision),
        tag=_environment_tag(state),
    )
    made = Owned("environment", _environment_tag(state))
    return _mutate("provision-environment", "environment", request, limits=PROVISION, makes=made)


def reproduce(state: BugRepairState) -> RunActivity:
    """Play the procedure on the base."""
    given = work.Replay(
        repository=state.report.repository,
        revision=_known(state.target_revision),
        procedure_sha256=_known(state.procedure_sha256),
    )
    return _run("reproduce", "browser", given, limits=LONG)


def propose(state: BugRepairState) -> RunActivity:
    """Ask for the next candidate, with what is known and nothing more."""
    reproduction = state.reproduction
    if reproduction is None:
        raise ValueError("a candidate is proposed only after a reproduction")
    given = work.Propose(
        ordinal=state.repair_attempt,
        repository=state.report.repository,
        revision=_known(state.target_revision),
        title=state.report.title,
        text=state.report.text,
        procedure_sha256=reproduction.procedure_sha256,
        reproduction_sha256=reproduction.evidence_sha256,
        allowed_paths=state.contract.allowed_paths,
        prior=tuple((each.patch_sha256, each.why) for each in state.candidates),
        max_files=state.contract.max_files,
        max_patch_bytes=state.contract.max_patch_bytes,
    )
    return _run("propose-candidate", "model", given, ordinal=state.repair_attempt, limits=LONG)


def verify(state: BugRepairState, revision: str, patch_sha256: str | None) -> RunActivity:
    """Build the commit and test exactly it."""
    candidate = state.candidate_change
    given = work.Verify(
        repository=state.report.repository,
        revision=revision,
        patch_sha256=patch_sha256,
        procedure_sha256=_known(state.procedure_sha256),
        allowed_paths=state.contract.allowed_paths,
        max_files=state.contract.max_files,
        max_patch_bytes=state.contract.max_patch_bytes,
        message=texts.commit_message(state, candidate),
        committed_at=state.started_at,
    )
    ordinal = len(state.candidates) + state.revalidations
    return _run("verify-candidate", "browser", given, ordinal=ordinal, limits=LONG)


def push_branch(state: BugRepairState, publication: PublicationFact, old: str | None) -> Mutate:
    """Put our branch on the verified commit; without `old` it is created, only."""
    candidate = _candidate(state)
    request = requests.PushBranch(
        repository=state.report.repository,
        branch=publication.branch,
        revision=publication.head,
        expected=old,
        bundle_sha256=_known(candidate.bundle_sha256),
    )
    made = Owned("branch", publication.branch)
    return _mutate("push-branch", "git", request, ordinal=state.publications, makes=made)


def create_draft_pull_request(state: BugRepairState, publication: PublicationFact) -> Mutate:
    """Open the draft."""
    request = requests.CreateDraftPullRequest(
        repository=state.report.repository,
        head=publication.branch,
        base=state.report.base,
        title=texts.pull_request_title(state),
        body=texts.pull_request_body(state),
    )
    return _mutate("create-draft-pull-request", "tracker", request)


def attach_evidence(state: BugRepairState, publication: PublicationFact) -> Mutate:
    """Set the evidence section of the pull request."""
    request = requests.AttachEvidence(
        repository=state.report.repository,
        number=_known_number(publication),
        section=texts.evidence_section(state, publication),
        manifest_sha256=publication.manifest_sha256,
    )
    return _mutate("attach-evidence", "tracker", request, ordinal=state.publications)


def request_review(state: BugRepairState, publication: PublicationFact) -> Mutate:
    """Ask the contract's reviewers."""
    request = requests.RequestReview(
        repository=state.report.repository,
        number=_known_number(publication),
        reviewers=state.contract.reviewers,
    )
    return _mutate("request-review", "tracker", request, ordinal=state.publications)


def ask_approval(state: BugRepairState) -> tuple[AskApproval, Notify]:
    """Ask a person for exactly this action on exactly these revisions and evidence."""
    pending = state.pending_approval
    if pending is None:
        raise ValueError("an approval is asked for only with its scope in the state")
    scope = {
        "action": "merge",
        "repository": state.report.repository,
        "pull_request": state.publication.pull_request if state.publication else None,
        "merge_method": state.contract.merge_method,
        **pending.model_dump(mode="json"),
    }
    ask = AskApproval(pending.ordinal, scope, state.contract.approval_expires_s)
    return ask, Notify("review-requested", scope)


def revalidate(state: BugRepairState) -> RunActivity:
    """Read the outside again after the wait."""
    publication = _published(state)
    given = work.Revalidate(
        repository=state.report.repository,
        number=_known_number(publication),
        branch=publication.branch,
        base=state.report.base,
    )
    return _run("revalidate", "git", given, ordinal=state.revalidations)


def mark_ready(state: BugRepairState) -> Mutate:
    """Take the draft mark off, under the approval."""
    request = requests.MarkReady(
        repository=state.report.repository, number=_known_number(_published(state))
    )
    return _mutate("mark-ready", "tracker", request, approval=state.approvals_asked)


def convert_to_draft(state: BugRepairState) -> Mutate:
    """Set the pull request back to draft, so that a late merge is refused (R22)."""
    request = requests.ConvertToDraft(
        repository=state.report.repository, number=_known_number(_published(state))
    )
    return _mutate("convert-to-draft", "tracker", request, ordinal=state.approvals_asked)


def merge(state: BugRepairState) -> Mutate:
    """Merge the approved head, and no other."""
    publication = _published(state)
    request = requests.Merge(
        repository=state.report.repository,
        number=_known_number(publication),
        sha=publication.head,
        method="squash" if state.contract.merge_method == "squash" else "merge",
        base=state.report.base,
        base_revision=publication.base_revision,
    )
    return _mutate("merge", "tracker", request, approval=state.approvals_asked)


def close_pull_request(state: BugRepairState) -> Mutate:
    """Close our pull request without merging."""
    request = requests.ClosePullRequest(
        repository=state.report.repository, number=_known_number(_published(state))
    )
    return _mutate("close-pull-request", "tracker", request, ordinal=state.closings)


def tear_down_environment(state: BugRepairState) -> Mutate:
    """End and remove what the run owns under its tag."""
    tag = _environment_tag(state)
    request = requests.TearDownEnvironment(tag=tag)
    cleaned = Owned("environment", tag)
    return _mutate(
        "tear-down-environment", "environment", request, ordinal=state.closings, cleans=cleaned
    )


def update_ticket(state: BugRepairState, closing: ClosingFact) -> Mutate:
    """Say honestly on the ticket how it ended."""
    kept = None
    if state.publication is not None and state.publication.pushed:
        kept = Owned("branch", state.publication.branch)
    request = requests.UpdateTicket(
        repository=state.report.repository,
        number=_ticket_number(state),
        section=texts.ticket_ending(state, closing),
    )
    return _mutate("update-ticket", "tracker", request, ordinal=state.closings, keeps=kept)


def close_ticket(state: BugRepairState) -> Mutate:
    """Close the ticket of a merged repair."""
    request = requests.CloseTicket(
        repository=state.report.repository, number=_ticket_number(state), reason="completed"
    )
    return _mutate("close-ticket", "tracker", request, ordinal=state.closings)


def ended(state: BugRepairState, outcome: Outcome, reason: str) -> Notify:
    """Tell subscribers of the ending."""
    said = {"run": state.workflow_id, "outcome": outcome, "reason": reason}
    return Notify("run-ended", said)


def _run(
    name: str, queue: str, given: Shape, *, ordinal: int = 1, limits: Limits = SEND
) -> RunActivity:
    return RunActivity(
        name=name,
        activity=name,
        queue=queue,
        input=given.model_dump(mode="json"),
        ordinal=ordinal,
        limits=limits,
    )


def _mutate(
    name: str,
    queue: str,
    request: Shape,
    *,
    ordinal: int | None = None,
    limits: Limits = SEND,
    approval: int | None = None,
    makes: Owned | None = None,
    cleans: Owned | None = None,
    keeps: Owned | None = None,
) -> Mutate:
    """Under an approval the intent's ordinal is the approval's (R4)."""
    return Mutate(
        name=name,
        activity=name,
        queue=queue,
        request=request.model_dump(mode="json"),
        ordinal=ordinal if ordinal is not None else (approval or 1),
        limits=limits,
        approval=approval,
        makes=makes,
        cleans=cleans,
        keeps=keeps,
    )


def _environment_tag(state: BugRepairState) -> str:
    if state.environment is None:
        raise ValueError("the environment is registered before it is asked for")
    return state.environment.tag


def _candidate(state: BugRepairState) -> CandidateFact:
    if state.candidate_change is None:
        raise ValueError("nothing is published without a candidate")
    return state.candidate_change


def _published(state: BugRepairState) -> PublicationFact:
    if state.publication is None:
        raise ValueError("nothing was published")
    return state.publication


def _known(value: str | None) -> str:
    if value is None:
        raise ValueError("a fact that this step needs was never recorded")
    return value


def _known_number(publication: PublicationFact) -> int:
    if publication.pull_request is None:
        raise ValueError("the pull request's number was never recorded")
    return publication.pull_request


def _ticket_number(state: BugRepairState) -> int:
    if state.ticket is None:
        raise ValueError("the ticket's number was never recorded")
    return state.ticket.number
