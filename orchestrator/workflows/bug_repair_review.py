"""From a verified candidate to a merge: gates, publication, the person's decision, revalidation."""

from __future__ import annotations

from orchestrator.contracts.checkpoint import (
    BugRepairState,
    Outcome,
    PendingApproval,
    Phase,
    PublicationFact,
)
from orchestrator.contracts.payload import JsonObject, fingerprint
from orchestrator.contracts.work import Revalidated, Verified
from orchestrator.workflows import bug_repair_ending as ending
from orchestrator.workflows import bug_repair_steps as steps
from orchestrator.workflows import bug_repair_texts as texts
from orchestrator.workflows.decision import ApprovalDecided, Decision

Next = Decision[BugRepairState]


def publish(state: BugRepairState, verified: Verified) -> Next:
    """Pass the gates, then push the verified commit; nothing is published before (P11)."""
    refusal = _gate(state, verified)
    if refusal is not None:
        return ending.close(state, Outcome.NEEDS_HUMAN_REVIEW, refusal)
    before = state.publication
    publication = PublicationFact(
        branch=before.branch if before else _branch(state),
        head=verified.commit,
        base_revision=verified.base_revision
        if before is None or verified.bundle_sha256
        else before.base_revision,
        has_foreign_commits=before is not None and verified.bundle_sha256 is None,
        pushed=before.pushed if before else False,
        pull_request=before.pull_request if before else None,
    )
    after = state.model_copy(
        update={
            "publication": publication,
            "publications": state.publications + 1,
            "phase": Phase.PUBLISHING,
        }
    )
    if verified.bundle_sha256 is None:
        return branch_stands(after)
    old = before.head if before and before.pushed else None
    return Decision(after, (steps.push_branch(after, publication, old),))


def branch_stands(state: BugRepairState) -> Next:
    """The branch is on the verified commit: bind the evidence, then show it."""
    publication = _published(state).model_copy(update={"pushed": True})
    manifest = texts.manifest(state, publication)
    publication = publication.model_copy(
        update={"manifest": manifest, "manifest_sha256": fingerprint(manifest)}
    )
    after = state.model_copy(update={"publication": publication})
    if publication.pull_request is None:
        return Decision(after, (steps.create_draft_pull_request(after, publication),))
    return Decision(after, (steps.attach_evidence(after, publication),))


def draft_stands(state: BugRepairState, number: int) -> Next:
    """The draft is open: attach the evidence to it."""
    publication = _published(state).model_copy(update={"pull_request": number})
    after = state.model_copy(update={"publication": publication})
    return Decision(after, (steps.attach_evidence(after, publication),))


def evidence_stands(state: BugRepairState) -> Next:
    """The evidence is attached: ask the contract's reviewers, if it names any."""
    if not state.contract.reviewers:
        return ask(state)
    return Decision(state, (steps.request_review(state, _published(state)),))


def ask(state: BugRepairState) -> Next:
    """Ask for a decision about exactly this, within the escalation budget."""
    if not state.contract.may_merge_after_approval:
        reason = "the work contract ends with the draft; a person goes on from here"
        return ending.close(state, Outcome.NEEDS_HUMAN_REVIEW, reason)
    if state.approvals_asked >= state.contract.escalations:
        reason = f"a person was asked {state.approvals_asked} times"
        return ending.close(state, Outcome.NEEDS_HUMAN_REVIEW, reason)
    publication = _published(state)
    pending = PendingApproval(
        ordinal=state.approvals_asked + 1,
        head=publication.head,
        base=state.report.base,
        base_revision=publication.base_revision,
        manifest_sha256=publication.manifest_sha256,
        policy_version=state.contract.policy_version,
    )
    after = state.model_copy(
        update={
            "pending_approval": pending,
            "approvals_asked": pending.ordinal,
            "phase": Phase.AWAITING_REVIEW,
        }
    )
    return Decision(after, steps.ask_approval(after))


def decided(state: BugRepairState, event: ApprovalDecided) -> Next:
    """A person has spoken: read the outside again, or end as rejected."""
    if state.pending_approval is None or state.pending_approval.ordinal != event.ordinal:
        return Decision(state)
    if not event.approved:
        reason = f"rejected by {event.by}: {event.comment}".rstrip(": ")
        return ending.close(state, Outcome.REJECTED, reason)
    return read_again(state.model_copy(update={"phase": Phase.MERGING}))


def expired(state: BugRepairState) -> Next:
    """Nobody decided in time: ask again while the escalation budget lasts."""
    return ask(state.model_copy(update={"pending_approval": None}))


def read_again(state: BugRepairState) -> Next:
    """Read pull request, branch and base before anything is done on the approval."""
    after = state.model_copy(update={"revalidations": state.revalidations + 1})
    return Decision(after, (steps.revalidate(after),))


def revalidated(state: BugRepairState, seen: Revalidated) -> Next:
    """Compare the outside with what was approved; a difference is never merged."""
    publication, pending = _published(state), state.pending_approval
    if seen.merged:
        return ending.close(state, Outcome.NEEDS_HUMAN_REVIEW, "somebody else merged it")
    if seen.state == "closed" or seen.head is None:
        reason = "the pull request was closed or its branch deleted by somebody else"
        return ending.close(state, Outcome.NEEDS_HUMAN_REVIEW, reason)
    if seen.base != state.report.base:
        return ending.close(state, Outcome.NEEDS_HUMAN_REVIEW, f"it now targets {seen.base}")
    if seen.head != publication.head:
        return _verify_anew(state, seen.head, None)
    if seen.base_revision != publication.base_revision:
        return _on_moved_base(state, seen.base_revision)
    if pending is None:
        return ask(state)
    return Decision(state, (steps.mark_ready(state),))


def merge_refused(state: BugRepairState, reason: str) -> Next:
    """The receiver or a guard refused: make a late merge impossible, then look again (R22)."""
    if state.approvals_asked >= state.contract.escalations:
        return ending.close(state, Outcome.NEEDS_HUMAN_REVIEW, reason)
    after = state.model_copy(update={"pending_approval": None})
    return Decision(after, (steps.convert_to_draft(after),))


def merged(state: BugRepairState, facts: JsonObject) -> Next:
    """The merge stands: check what it joined before calling it ours (R24)."""
    publication = _published(state)
    after = state.model_copy(update={"merge_commit": facts.get("merge_commit")})
    parents = facts.get("parents") or []
    wanted = [publication.base_revision, publication.head]
    if state.contract.merge_method == "squash":
        wanted = [publication.base_revision]
    if parents != wanted:
        joined = " and ".join(parents) or "parents that nobody told us"
        reason = f"merged on {joined}, approved was {publication.base_revision}"
        return ending.close(after, Outcome.NEEDS_HUMAN_REVIEW, reason)
    return ending.close(after, Outcome.MERGED, "")


def _on_moved_base(state: BugRepairState, base_revision: str) -> Next:
    """Build the candidate anew on the moved base, unless that would push over others' commits."""
    candidate = state.candidate_change
    if candidate is None or _published(state).has_foreign_commits:
        reason = "the base moved and the branch has commits of others; a person joins them"
        return ending.close(state, Outcome.NEEDS_HUMAN_REVIEW, reason)
    return _verify_anew(state, base_revision, candidate.patch_sha256)


def _verify_anew(state: BugRepairState, revision: str, patch: str | None) -> Next:
    """Evidence belongs to what it was obtained on: obtain it again, then ask again."""
    if state.approvals_asked >= state.contract.escalations:
        reason = f"head or base moved and a person was asked {state.approvals_asked} times already"
        return ending.close(state, Outcome.NEEDS_HUMAN_REVIEW, reason)
    after = state.model_copy(update={"pending_approval": None, "phase": Phase.VERIFYING_FIX})
    return Decision(after, (steps.verify(after, revision, patch),))


def _gate(state: BugRepairState, verified: Verified) -> str | None:
    """Return why nothing may be published, or None: permission and complete evidence (P11, P17)."""
    if not state.contract.may_publish_draft:
        return "the work contract does not permit publishing; the patch is kept as an artifact"
    if state.reproduction is None or state.reproduction.status != "reproduced":
        return "no accepted reproduction"
    if verified.replay_sha256 is None or verified.checks_sha256 is None:
        return "the verification left no evidence"
    return None


def _branch(state: BugRepairState) -> str:
    if state.environment is None:
        raise ValueError("the run's tag was never recorded")
    return f"repair/{state.environment.tag.removeprefix('outlast-')}"


def _published(state: BugRepairState) -> PublicationFact:
    if state.publication is None:
        raise ValueError("nothing was published")
    return state.publication
