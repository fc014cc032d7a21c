"""The draft mark. REST cannot set it: GraphQL has one mutation for each direction."""

from __future__ import annotations

from dataclasses import dataclass

from activities.github.client import GRAPHQL, Host, HostUnreadable, Parsed, refusal
from activities.mutation import (
    Absent,
    Applied,
    Call,
    Found,
    NotSent,
    Observed,
    Outcome,
    Refused,
    Unreadable,
)
from orchestrator.contracts import requests
from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.failures import FailureKind
from orchestrator.domain.operations import Guarantee

MUTATION = (
    "mutation($id: ID!) {{ {field}(input: {{pullRequestId: $id}}) "
    "{{ pullRequest {{ number isDraft }} }} }}"
)


@dataclass
class SetDraft:
    """Set the draft mark on or off; setting it again changes nothing."""

    host: Host
    name: str
    draft: bool
    field: str
    queue: str = "tracker"
    guarantee: Guarantee = Guarantee.NATURAL

    def perform(self, request: JsonObject, call: Call) -> Outcome:
        """Set it, unless it stands so."""
        wanted = requests.MarkReady.model_validate(request)
        path = f"/repos/{wanted.repository}/pulls/{wanted.number}"
        try:
            pull = self.host.read(path)
        except HostUnreadable as fault:
            return NotSent(FailureKind.TRANSIENT, str(fault))
        if pull is None:
            return Refused(FailureKind.PERMANENT, f"{wanted.repository} has no #{wanted.number}")
        if pull["draft"] is self.draft:
            return Applied(str(wanted.number), {"draft": self.draft})
        body = {
            "query": MUTATION.format(field=self.field),
            "variables": {"id": pull["node_id"]},
        }
        answer = self.host.send("POST", GRAPHQL, body, name=self.name)
        if not isinstance(answer, Parsed):
            return answer
        if not answer.is_ok:
            return refusal(answer, self.name)
        if answer.body.get("errors"):
            reason = f"{self.name}: {answer.body['errors'][0].get('message', '')}"[:500]
            return Refused(FailureKind.POLICY_BOUND, reason)
        return Applied(str(wanted.number), {"draft": self.draft})

    def observe(self, request: JsonObject, call: Call) -> Observed:
        """Read the mark."""
        wanted = requests.MarkReady.model_validate(request)
        try:
            pull = self.host.read(f"/repos/{wanted.repository}/pulls/{wanted.number}")
        except HostUnreadable as fault:
            return Unreadable(str(fault))
        if pull and pull["draft"] is self.draft:
            return Found(str(wanted.number), {"draft": self.draft})
        return Absent(f"draft is not {self.draft}", conclusive=False)


def mark_ready(host: Host) -> SetDraft:
    """Return the mutation that takes the mark off."""
    return SetDraft(host, "mark-ready", False, "markPullRequestReadyForReview")


def convert_to_draft(host: Host) -> SetDraft:
    """Return the mutation that puts the mark back."""
    return SetDraft(host, "convert-to-draft", True, "convertPullRequestToDraft")
