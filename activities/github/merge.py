"""Merge exactly the approved head; the host enforces it, the base is compared around it."""

from __future__ import annotations

from dataclasses import dataclass

from activities.git.mirror import Remote, read_ref
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
)
from orchestrator.contracts import requests
from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.failures import ActivityFailed, FailureKind
from orchestrator.domain.operations import Guarantee

REVIEW_AGAIN = (405, 409, 422)


@dataclass
class Merge:
    """Merge under `sha`. No host takes the base as a precondition; strict protection may add it."""

    host: Host
    remote: Remote
    name: str = "merge"
    queue: str = "tracker"
    guarantee: Guarantee = Guarantee.CONDITIONAL_WRITE

    def perform(self, request: JsonObject, call: Call) -> Outcome:
        """Compare the base a last time, merge, and read what was joined (R24)."""
        wanted = requests.Merge.model_validate(request)
        try:
            base = read_ref(self.remote, wanted.repository, f"refs/heads/{wanted.base}")
        except ActivityFailed as failed:
            return NotSent(failed.kind, failed.reason)
        if base != wanted.base_revision:
            reason = f"{wanted.base} stands on {base}, approved was {wanted.base_revision}"
            return Refused(FailureKind.POLICY_BOUND, reason, {"base_revision": base})
        path = f"/repos/{wanted.repository}/pulls/{wanted.number}/merge"
        body = {"sha": wanted.sha, "merge_method": wanted.method}
        answer = self.host.send("PUT", path, body, name=self.name)
        if not isinstance(answer, Parsed):
            return answer
        if answer.is_ok:
            commit = str(answer.body["sha"])
            return Applied(commit, self._joined(wanted.repository, commit))
        refused = refusal(answer, self.name)
        if answer.status in REVIEW_AGAIN:
            return Refused(FailureKind.POLICY_BOUND, refused.reason, refused.facts)
        return refused

    def observe(self, request: JsonObject, call: Call) -> Observed:
        """Read whether it is merged, and with which head."""
        wanted = requests.Merge.model_validate(request)
        try:
            pull = self.host.read(f"/repos/{wanted.repository}/pulls/{wanted.number}")
        except HostUnreadable as fault:
            return Unreadable(str(fault))
        if pull is None:
            return Unreadable(f"#{wanted.number} is not shown")
        if pull.get("merged"):
            return self._merged(wanted, pull)
        if pull["state"] == "closed":
            return Conflicting("it was closed without a merge", {})
        return Absent("it is open and not merged", conclusive=True)

    def _merged(self, wanted: requests.Merge, pull: JsonObject) -> Observed:
        commit = str(pull["merge_commit_sha"])
        if pull["head"]["sha"] != wanted.sha:
            head = pull["head"]["sha"]
            return Conflicting(f"it was merged with head {head}", {"merge_commit": commit})
        return Found(commit, self._joined(wanted.repository, commit))

    def _joined(self, repository: str, commit: str) -> JsonObject:
        """Return the merge and its parents; an unreadable answer leaves the parents out."""
        facts: JsonObject = {"merge_commit": commit}
        try:
            read = self.host.read(f"/repos/{repository}/commits/{commit}")
        except HostUnreadable:
            return facts
        if isinstance(read, dict):
            facts["parents"] = [parent["sha"] for parent in read["parents"]]
        return facts
