"""Pull requests: open a draft, set its evidence, ask for reviews, close."""

from __future__ import annotations

from dataclasses import dataclass

from activities.github import sections
from activities.github.client import Host, HostUnreadable, Parsed, refusal
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
    Unreadable,
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
        before = self.observe(request, call)
        match before:
            case Found(reference, facts):
                return Applied(reference, facts)
            case Conflicting(reason, facts):
                return Refused(FailureKind.POLICY_BOUND, reason, facts)
            case Unreadable(reason):
                return NotSent(FailureKind.TRANSIENT, reason)
            case Absent():
                return self._create(wanted, request, call)

    def _create(
        self, wanted: requests.CreateDraftPullRequest, request: JsonObject, call: Call
    ) -> Outcome:
        body = {
            "title": wanted.title,
            "head": wanted.head,
            "base": wanted.base,
            "body": f"{wanted.body}\n{sections.mark(call.marker)}\n",
            "draft": True,
        }
        path = f"/repos/{wanted.repository}/pulls"
        answer = self.host.send("POST", path, body, name=self.name, key=call.operation_id)
        if not isinstance(answer, Parsed):
            return answer
        if answer.status == 201:
            return Applied(str(answer.body["number"]), {"number": answer.body["number"]})
        refused = refusal(answer, self.name)
        if answer.status == 422 and "already exists" in refused.reason:
            return self._after_exists(request, call)
        if answer.status == 422 and "No commits between" in refused.reason:
            return Refused(FailureKind.TRANSIENT, refused.reason, refused.facts)
        return refused

    def _after_exists(self, request: JsonObject, call: Call) -> Outcome:
        match self.observe(request, call):
            case Found(reference, facts):
                return Applied(reference, facts)
            case Conflicting(reason, facts):
                return Refused(FailureKind.POLICY_BOUND, reason, facts)
            case Absent(reason) | Unreadable(reason):
                return Unsettled(f"the host says it exists and does not show it: {reason}")

    def observe(self, request: JsonObject, call: Call) -> Observed:
        """Look through all states: one that people closed was created all the same (R7)."""
        wanted = requests.CreateDraftPullRequest.model_validate(request)
        owner = wanted.repository.split("/")[0]
        try:
            listed = self.host.read_all(
                f"/repos/{wanted.repository}/pulls",
                head=f"{owner}:{wanted.head}",
                base=wanted.base,
                state="all",
            )
        except HostUnreadable as fault:
            return Unreadable(str(fault))
        same = [pull for pull in listed if _is_of(pull, wanted)]
        ours = [pull["number"] for pull in same if sections.carries(pull["body"], call.marker)]
        strangers = [
            pull["number"]
            for pull in same
            if pull["number"] not in ours and pull["state"] == "open"
        ]
        if len(ours) > 1 or strangers:
            numbers = sorted([*ours, *strangers])
            return Conflicting("more than our own pull request stands there", {"numbers": numbers})
        if ours:
            return Found(str(ours[0]), {"number": ours[0]})
        return Absent("no pull request of ours from this head to this base", conclusive=False)


def _is_of(pull: JsonObject, wanted: requests.CreateDraftPullRequest) -> bool:
    """Compare again what a list's filters may have ignored silently."""
    return bool(
        pull["head"]["ref"] == wanted.head
        and pull["base"]["ref"] == wanted.base
        and (pull["head"].get("repo") or {}).get("full_name") == wanted.repository
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
            pull = self.host.read(path)
        except HostUnreadable as fault:
            return NotSent(FailureKind.TRANSIENT, str(fault))
        text = sections.put((pull or {}).get("body"), EVIDENCE, wanted.section)
        answer = self.host.send("PATCH", path, {"body": text}, name=self.name)
        if not isinstance(answer, Parsed):
            return answer
        if not answer.is_ok:
            return refusal(answer, self.name)
        if sections.get(answer.body.get("body"), EVIDENCE) != wanted.section.strip():
            return Unsettled(f"{self.name}: the answer shows another section")
        return Applied(str(wanted.number), {"manifest_sha256": wanted.manifest_sha256})

    def observe(self, request: JsonObject, call: Call) -> Observed:
        """Compare the section with what was to be set."""
        wanted = requests.AttachEvidence.model_validate(request)
        try:
            pull = self.host.read(f"/repos/{wanted.repository}/pulls/{wanted.number}")
        except HostUnreadable as fault:
            return Unreadable(str(fault))
        if pull and sections.get(pull.get("body"), EVIDENCE) == wanted.section.strip():
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
            return Unreadable(str(fault))
        there = {user["login"] for user in asked.get("users", [])}
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
        match self.observe(request, call):
            case Found(reference, facts):
                return Applied(reference, facts)
            case Conflicting(reason, facts):
                return Refused(FailureKind.POLICY_BOUND, reason, facts)
            case Unreadable(reason):
                return NotSent(FailureKind.TRANSIENT, reason)
            case Absent():
                return self._close(requests.ClosePullRequest.model_validate(request))

    def _close(self, wanted: requests.ClosePullRequest) -> Outcome:
        path = f"/repos/{wanted.repository}/pulls/{wanted.number}"
        answer = self.host.send("PATCH", path, {"state": "closed"}, name=self.name)
        if not isinstance(answer, Parsed):
            return answer
        return Applied(str(wanted.number)) if answer.is_ok else refusal(answer, self.name)

    def observe(self, request: JsonObject, call: Call) -> Observed:
        """Read its state; a merged one can no longer be closed."""
        wanted = requests.ClosePullRequest.model_validate(request)
        try:
            pull = self.host.read(f"/repos/{wanted.repository}/pulls/{wanted.number}")
        except HostUnreadable as fault:
            return Unreadable(str(fault))
        if pull and pull.get("merged"):
            return Conflicting("it was merged", {"merge_commit": pull.get("merge_commit_sha")})
        if pull and pull["state"] == "closed":
            return Found(str(wanted.number))
        return Absent("it is open", conclusive=False)
