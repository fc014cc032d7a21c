"""What the flagship writes for people: ticket, commit, pull request. Pure, and honest."""

from __future__ import annotations

from orchestrator.contracts.checkpoint import (
    BugRepairState,
    CandidateFact,
    ClosingFact,
    Outcome,
    PublicationFact,
    ReproductionFact,
)
from orchestrator.contracts.payload import JsonObject


def ticket_body(state: BugRepairState) -> str:
    """Return the ticket's first text: the report, quoted as data."""
    quoted = "\n".join(f"> {line}" for line in state.report.text.splitlines())
    return f"{quoted}\n\nRun: `{state.workflow_id}`\n"


def commit_message(state: BugRepairState, candidate: CandidateFact | None) -> str:
    """Return the message of the candidate's commit."""
    why = candidate.hypothesis if candidate is not None else ""
    return f"Repair: {state.report.title}\n\n{why}\n\nRun: {state.workflow_id}\n"


def pull_request_title(state: BugRepairState) -> str:
    """Return the pull request's title."""
    return f"Repair: {state.report.title}"


def pull_request_body(state: BugRepairState) -> str:
    """Return the body without evidence, which is attached between its own markers."""
    ticket = f"Ticket: #{state.ticket.number}\n" if state.ticket else ""
    candidate = state.candidate_change
    hypothesis = candidate.hypothesis if candidate else ""
    return f"{ticket}Run: `{state.workflow_id}`\n\n{hypothesis}\n"


def manifest(state: BugRepairState, publication: PublicationFact) -> JsonObject:
    """Return what the approval is bound to: revisions, procedure, environments, evidence."""
    candidate = state.candidate_change
    reproduction = state.reproduction
    if candidate is None or reproduction is None:
        raise ValueError("evidence needs a reproduction and a candidate")
    return {
        "kind": "evidence-manifest",
        "version": 1,
        "run": state.workflow_id,
        "repository": state.report.repository,
        "base": state.report.base,
        "base_revision": publication.base_revision,
        "head": publication.head,
        "patch_sha256": candidate.patch_sha256,
        "procedure_sha256": reproduction.procedure_sha256,
        "reproduction": _bound(reproduction),
        "verification": {
            "revision": candidate.commit,
            "environment_sha256": candidate.environment_sha256,
            "checks_sha256": candidate.checks_sha256,
            "replay_sha256": candidate.replay_sha256,
        },
        "policy_version": state.contract.policy_version,
    }


def evidence_section(state: BugRepairState, publication: PublicationFact) -> str:
    """Return the evidence as people read it; every file stands by its hash."""
    candidate, reproduction = state.candidate_change, state.reproduction
    if candidate is None or reproduction is None:
        raise ValueError("evidence needs a reproduction and a candidate")
    rows = [
        ("Base", f"`{publication.base_revision}`"),
        ("Head", f"`{publication.head}`"),
        ("Expected", reproduction.expected),
        ("Seen on the base", reproduction.observed),
        ("Seen on the head", candidate.why),
        ("Reproduction", f"`{reproduction.evidence_sha256}` ({reproduction.tier})"),
        ("Replay", f"`{candidate.replay_sha256}`"),
        ("Checks", f"`{candidate.checks_sha256}`"),
        ("Patch", f"`{candidate.patch_sha256}`"),
        ("Procedure", f"`{reproduction.procedure_sha256}`"),
        ("Manifest", f"`{publication.manifest_sha256}`"),
    ]
    table = "\n".join(f"| {name} | {_cell(value)} |" for name, value in rows)
    return f"## Evidence\n\n| what | value |\n| --- | --- |\n{table}\n"


def ticket_ending(state: BugRepairState, closing: ClosingFact) -> str:
    """Return the ending as the ticket tells it, without a better word than it deserves."""
    lines = [f"**{closing.outcome}**", "", _sentence(state, closing)]
    if closing.reason:
        lines += ["", f"Reason: {closing.reason}"]
    if state.reproduction is not None:
        lines += ["", f"Expected: {state.reproduction.expected}"]
        lines += [f"Seen: {state.reproduction.observed}"]
    lines += [_candidate_line(each) for each in state.candidates]
    if state.publication is not None and state.publication.pull_request is not None:
        lines += ["", f"Pull request: #{state.publication.pull_request}"]
    return "\n".join(lines) + "\n"


def _sentence(state: BugRepairState, closing: ClosingFact) -> str:
    match closing.outcome:
        case Outcome.MERGED:
            return f"The repair was merged as `{state.merge_commit}`."
        case Outcome.NEEDS_HUMAN_TRIAGE:
            return "The report was not reproduced by this run; a person should look at it."
        case Outcome.REPAIR_BUDGET_EXHAUSTED:
            return f"{len(state.candidates)} candidates were verified and none passed."
        case Outcome.REJECTED:
            return "A reviewer rejected the repair; nothing was merged."
        case Outcome.NEEDS_HUMAN_REVIEW:
            return "The run stopped where a person has to decide."
        case Outcome.CANCELLED:
            return "The run was cancelled."
        case Outcome.DEADLINE_EXCEEDED:
            return "The run's time was over; what it had begun was stopped and cleaned."


def _candidate_line(candidate: CandidateFact) -> str:
    what = f"- candidate {candidate.ordinal} (`{candidate.patch_sha256[:12]}`)"
    return f"{what}: {candidate.verification_status} {candidate.why}".rstrip()


def _bound(reproduction: ReproductionFact) -> JsonObject:
    return {
        "verdict": reproduction.status,
        "revision": reproduction.revision,
        "environment_sha256": reproduction.environment_sha256,
        "evidence_sha256": reproduction.evidence_sha256,
    }


def _cell(value: str) -> str:
    return " ".join(value.split()).replace("|", "\\|")[:400]
