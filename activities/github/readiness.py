"""The draft mark. REST cannot set it: GraphQL has one mutation for each direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from activities.github.client import (
    GRAPHQL,
    LIMITED_S,
    Host,
    HostUnreadable,
    Parsed,
    refusal,
)
from activities.github.pull import read_pull
from activities.mutation import (
    Absent,
    Applied,
    Call,
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

MUTATION = (
    "mutation($id: ID!) {{ {field}(input: {{pullRequestId: $id}}) "
    "{{ pullRequest {{ number isDraft }} }} }}"
)
FAULT_WITHIN = "Something went wrong"


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
        """Set it, unless it stands so, and believe only an answer that shows it."""
        wanted = requests.MarkReady.model_validate(request)
        try:
            pull = read_pull(self.host, wanted.repository, wanted.number)
        except HostUnreadable as fault:
            return fault.before_sending()
        if pull is None:
            return Refused(FailureKind.PERMANENT, f"{wanted.repository} has no #{wanted.number}")
        if pull.is_draft is self.draft:
            return Applied(str(wanted.number), {"draft": self.draft})
        body = {
            "query": MUTATION.format(field=self.field),
            "variables": {"id": pull.node_id},
        }
        answer = self.host.send("POST", GRAPHQL, body, name=self.name)
        if not isinstance(answer, Parsed):
            return answer
        if not answer.is_ok:
            return refusal(answer, self.name)
        errors = answer.body.get("errors")
        if errors:
            return _failed(self.name, errors)
        shown = ((answer.body.get("data") or {}).get(self.field) or {}).get("pullRequest") or {}
        if shown.get("isDraft") is not self.draft:
            return Unsettled(f"{self.name}: the answer does not show the mark")
        return Applied(str(wanted.number), {"draft": self.draft})

    def observe(self, request: JsonObject, call: Call) -> Observed:
        """Read the mark."""
        wanted = requests.MarkReady.model_validate(request)
        try:
            pull = read_pull(self.host, wanted.repository, wanted.number)
        except HostUnreadable as fault:
            return fault.as_observed()
        if pull is not None and pull.is_draft is self.draft:
            return Found(str(wanted.number), {"draft": self.draft})
        return Absent(f"draft is not {self.draft}", conclusive=False)


def _failed(name: str, errors: Any) -> Outcome:
    """Say what a GraphQL error proves: its status is 200, and a fault within is one of them."""
    first = errors[0] if isinstance(errors, list) and isinstance(errors[0], dict) else {}
    reason = f"{name}: {first.get('message', 'an error without words')}"[:500]
    match first.get("type"):
        case "RATE_LIMITED":
            return NotSent(FailureKind.TRANSIENT, reason, LIMITED_S)
        case "FORBIDDEN" | "NOT_FOUND" | "INSUFFICIENT_SCOPES":
            return Refused(FailureKind.PERMANENT, reason)
        case None if not first or str(first.get("message")).startswith(FAULT_WITHIN):
            return Unsettled(reason)
        case _:
            return Refused(FailureKind.POLICY_BOUND, reason)


def mark_ready(host: Host) -> SetDraft:
    """Return the mutation that takes the mark off."""
    return SetDraft(host, "mark-ready", False, "markPullRequestReadyForReview")


def convert_to_draft(host: Host) -> SetDraft:
    """Return the mutation that puts the mark back."""
    return SetDraft(host, "convert-to-draft", True, "convertPullRequestToDraft")
