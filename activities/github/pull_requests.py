"""Pull requests: open a draft, set its evidence, ask for reviews, close."""

from __future__ import annotations

from dataclasses import dataclass

from activities.github import sections
from activities.github.client import Host, HostUnreadable, Parsed, created, refusal
from activities.github.pull import Pull, parse_pull, read_pull
from activities.mutation import (
    Absent,
    Applied,
    Call,
    Conflicting,
    Found,
    NotSent,
    Observed,
    Outcome,
    Refused,
    Unsettled,
)
from orchestrator.contracts import requests
from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.failures import FailureKind
from orchestrator.domain.operations import Guarantee

EVIDENCE = "evidence"


@dataclass
class CreateDraftPullRequest:
    """Open a draft. The host allows one open pull request for a head and a base."""

    host: Host
    name: str = "create-draft-pull-request"
    queue: str = "tracker"
    guarantee: Guarantee = Guarantee.UNIQUE_KEY

    def perform(self, request: JsonObject, call: Call) -> Outcome:
        """Look by head, base and marker, create, and on "exists" look once more."""
        wanted = requests.CreateDraftPullRequest.model_validate(request)
        try:
            before = self._look(wanted, call)
        except HostUnreadable as fault:
            return fault.before_sending()
        match before:
            case Found(reference, facts):
                return Applied(reference, facts)
            case Conflicting(reason, facts):
                return Refused(FailureKind.POLICY_BOUND, reason, facts)
            case Absent():
                return self._create(wanted, call)

    def _create(self, wanted: requests.CreateDraftPullRequest, call: Call) -> Outcome:
        body = {
            "title": wanted.title,
            "head": wanted.head,
            "base": wanted.base,
            "body": sections.marked(wanted.body, call.marker),
            "draft": True,
        }
        path = f"/repos/{wanted.repository}/pulls"
        answer = self.host.send("POST", path, body, name=self.name, key=call.marker)
        if not isinstance(answer, Parsed):
            return answer
        if answer.is_ok:
            return created(answer, self.name)
        refused = refusal(answer, self.name)
        if answer.status == 422 and "already exists" in refused.reason:
            return self._after_exists(wanted, call)
        if answer.status == 422 and "No commits between" in refused.reason:
            return NotSent(FailureKind.TRANSIENT, refused.reason)
        return refused

    def _after_exists(self, wanted: requests.CreateDraftPullRequest, call: Call) -> Outcome:
        """Adopt what the host says is there. If it does not show it, nobody knows what it means."""
        try:
            after = self._look(wanted, call)
        except HostUnreadable as fault:
            return Unsettled(f"the host says it exists and cannot be read: {fault}")
        match after:
            case Found(reference, facts):
                return Applied(reference, facts)
            case Conflicting(reason, facts):
                return Refused(FailureKind.POLICY_BOUND, reason, facts)
            case Absent(reason):
                return Unsettled(f"the host says it exists and does not show it: {reason}")

    def observe(self, request: JsonObject, call: Call) -> Observed:
        """Look through all states: one that people closed was created all the same (R7)."""
        try:
            return self._look(requests.CreateDraftPullRequest.model_validate(request), call)
        except HostUnreadable as fault:
            return fault.as_observed()

    def _look(
        self, wanted: requests.CreateDraftPullRequest, call: Call
    ) -> Found | Absent | Conflicting:
        path = f"/repos/{wanted.repository}/pulls"
        owner = wanted.repository.split("/")[0]
        listed = self.host.read_all(
            path, head=f"{owner}:{wanted.head}", base=wanted.base, state="all"
        )
        shown = (parse_pull(one, path) for one in listed)
        same = {pull.number: pull for pull in shown if _is_of(pull, wanted)}
        ours = [number for number, pull in same.items() if sections.carries(pull.body, call.marker)]
        strangers = [
            number for number, pull in same.items() if number not in ours and pull.state == "open"
        ]
        if len(ours) > 1 or strangers:
            numbers = sorted([*ours, *strangers])
            return Conflicting("more than our own pull request stands there", {"numbers": numbers})
        if ours:
            return Found(str(ours[0]), {"number": ours[0]})
        return Absent("no pull request of ours from this head to this base", conclusive=False)


def _is_of(pull: Pull, wanted: requests.CreateDraftPullRequest) -> bool:
    """Compare again what a list's filters may have ignored silently."""
    return (pull.head_branch, pull.base_branch, pull.head_repository) == (
        wanted.head,
        wanted.base,
        wanted.repository,
    )


@dataclass
class AttachEvidence:
    """Set the evidence section of the pull request's body, and read it back."""

    host: Host
    name: str = "attach-evidence"
    queue: str = "tracker"
    guarantee: Guarantee = Guarantee.NATURAL

    def perform(self, request: JsonObject, call: Call) -> Outcome:
        """Read the body, set the section, write the body, compare the answer."""
        wanted = requests.AttachEvidence.model_validate(request)
        path = f"/repos/{wanted.repository}/pulls/{wanted.number}"
        try:
            pull = read_pull(self.host, wanted.repository, wanted.number)
        except HostUnreadable as fault:
            return fault.before_sending()
        if pull is None:
            return Refused(FailureKind.PERMANENT, f"{wanted.repository} has no #{wanted.number}")
        text = sections.put(pull.body, EVIDENCE, wanted.section)
        answer = self.host.send("PATCH", path, {"body": text}, name=self.name)
        if not isinstance(answer, Parsed):
            return answer
        if not answer.is_ok:
            return refusal(answer, self.name)
        if not sections.says(answer.body.get("body"), EVIDENCE, wanted.section):
            return Unsettled(f"{self.name}: the answer shows another section")
        return Applied(str(wanted.number), {"manifest_sha256": wanted.manifest_sha256})

    def observe(self, request: JsonObject, call: Call) -> Observed:
        """Compare the section with what was to be set."""
        wanted = requests.AttachEvidence.model_validate(request)
        try:
            pull = read_pull(self.host, wanted.repository, wanted.number)
        except HostUnreadable as fault:
            return fault.as_observed()
        if pull is not None and sections.says(pull.body, EVIDENCE, wanted.section):
            return Found(str(wanted.number), {"manifest_sha256": wanted.manifest_sha256})
        return Absent("the section says something else", conclusive=False)


@dataclass
class RequestReview:
    """Ask people for a review; the host keeps a set of them."""

    host: Host
    name: str = "request-review"
    queue: str = "tracker"
    guarantee: Guarantee = Guarantee.NATURAL

    def perform(self, request: JsonObject, call: Call) -> Outcome:
        """Add them to the set."""
        wanted = requests.RequestReview.model_validate(request)
        path = f"/repos/{wanted.repository}/pulls/{wanted.number}/requested_reviewers"
        body = {"reviewers": list(wanted.reviewers)}
        answer = self.host.send("POST", path, body, name=self.name)
        if not isinstance(answer, Parsed):
            return answer
        return Applied(str(wanted.number)) if answer.is_ok else refusal(answer, self.name)

    def observe(self, request: JsonObject, call: Call) -> Observed:
        """Join those asked and those who answered: an answer takes its author off the list."""
        wanted = requests.RequestReview.model_validate(request)
        path = f"/repos/{wanted.repository}/pulls/{wanted.number}"
        try:
            asked = self.host.read(f"{path}/requested_reviewers") or {}
            reviews = self.host.read_all(f"{path}/reviews")
        except HostUnreadable as fault:
            return fault.as_observed()
        there = {user.get("login") for user in asked.get("users", [])}
        there |= {(review.get("user") or {}).get("login") for review in reviews}
        if set(wanted.reviewers) <= there:
            return Found(str(wanted.number))
        return Absent("not all were asked", conclusive=False)


@dataclass
class ClosePullRequest:
    """Set the pull request to closed without merging it."""

    host: Host
    name: str = "close-pull-request"
    queue: str = "tracker"
    guarantee: Guarantee = Guarantee.NATURAL

    def perform(self, request: JsonObject, call: Call) -> Outcome:
        """Close it, unless it is merged."""
        wanted = requests.ClosePullRequest.model_validate(request)
        try:
            seen = self._look(wanted)
        except HostUnreadable as fault:
            return fault.before_sending()
        match seen:
            case Found(reference, facts):
                return Applied(reference, facts)
            case Conflicting(reason, facts):
                return Refused(FailureKind.POLICY_BOUND, reason, facts)
            case Absent():
                return self._close(wanted)

    def _close(self, wanted: requests.ClosePullRequest) -> Outcome:
        path = f"/repos/{wanted.repository}/pulls/{wanted.number}"
        answer = self.host.send("PATCH", path, {"state": "closed"}, name=self.name)
        if not isinstance(answer, Parsed):
            return answer
        if not answer.is_ok:
            return refusal(answer, self.name)
        if answer.body.get("merged") is True:
            facts = {"merge_commit": answer.body.get("merge_commit_sha")}
            return Refused(FailureKind.POLICY_BOUND, "it was merged meanwhile", facts)
        return Applied(str(wanted.number))

    def observe(self, request: JsonObject, call: Call) -> Observed:
        """Read its state; a merged one can no longer be closed."""
        try:
            return self._look(requests.ClosePullRequest.model_validate(request))
        except HostUnreadable as fault:
            return fault.as_observed()

    def _look(self, wanted: requests.ClosePullRequest) -> Found | Absent | Conflicting:
        pull = read_pull(self.host, wanted.repository, wanted.number)
        if pull is not None and pull.is_merged:
            return Conflicting("it was merged", {"merge_commit": pull.merge_commit})
        if pull is not None and pull.state == "closed":
            return Found(str(wanted.number))
        return Absent("it is open, or not shown", conclusive=False)
