"""Merge exactly the approved head; the host enforces it, the base is compared around it."""

from __future__ import annotations

from dataclasses import dataclass

from activities.git.mirror import Remote, read_ref
from activities.github.client import Host, HostUnreadable, Parsed, refusal
from activities.github.pull import Pull, read_pull
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
from orchestrator.domain.failures import ActivityFailed, FailureKind
from orchestrator.domain.operations import Guarantee

REVIEW_AGAIN = (405, 409, 422)
BASE_MOVED = "Base branch was modified"


@dataclass
class Merge:
    """Merge under `sha`. No host takes the base as a precondition; strict protection may add it."""

    host: Host
    remote: Remote
    name: str = "merge"
    queue: str = "tracker"
    guarantee: Guarantee = Guarantee.CONDITIONAL_WRITE

    def perform(self, request: JsonObject, call: Call) -> Outcome:
        """Look, compare the base a last time, merge, and read what was joined (R24).

        What is merged already is adopted: its own merge is what moved the base.
        """
        wanted = requests.Merge.model_validate(request)
        try:
            pull = read_pull(self.host, wanted.repository, wanted.number)
            if pull is None:
                reason = f"{wanted.repository} has no pull request #{wanted.number}"
                return Refused(FailureKind.PERMANENT, reason)
            ended = self._ended(wanted, pull)
            base = read_ref(self.remote, wanted.repository, f"refs/heads/{wanted.base}")
        except HostUnreadable as fault:
            return fault.before_sending()
        except ActivityFailed as failed:
            return NotSent(failed.kind, failed.reason, failed.retry_after_s)
        if ended is not None:
            return _outcome(ended)
        moved = _moved(wanted, pull, base)
        if moved is not None:
            return Refused(FailureKind.POLICY_BOUND, moved, {"base_revision": base})
        return self._merge(wanted, call)

    def observe(self, request: JsonObject, call: Call) -> Observed:
        """Read whether it is merged, with which head, on which parents."""
        wanted = requests.Merge.model_validate(request)
        try:
            pull = read_pull(self.host, wanted.repository, wanted.number)
            ended = None if pull is None else self._ended(wanted, pull)
        except HostUnreadable as fault:
            return fault.as_observed()
        if pull is None:
            return Unreadable(f"#{wanted.number} is not shown", FailureKind.PERMANENT)
        return ended or Absent("it is open and not merged", conclusive=True)

    def _merge(self, wanted: requests.Merge, call: Call) -> Outcome:
        path = f"/repos/{wanted.repository}/pulls/{wanted.number}/merge"
        body = {"sha": wanted.sha, "merge_method": wanted.method}
        answer = self.host.send("PUT", path, body, name=self.name)
        if not isinstance(answer, Parsed):
            return answer
        if not answer.is_ok:
            return self._refused(wanted, call, answer)
        commit = answer.body.get("sha")
        if answer.body.get("merged") is not True or not isinstance(commit, str):
            return Unsettled(f"{self.name}: the answer does not say what it made")
        try:
            return Applied(commit, self._joined(wanted.repository, commit))
        except HostUnreadable as fault:
            return Unsettled(f"merged as {commit}, and not read what it joined: {fault}")

    def _refused(self, wanted: requests.Merge, call: Call, answer: Parsed) -> Outcome:
        """Say what a refusal means. A race may have merged it all the same, so look once more."""
        refused = refusal(answer, self.name)
        if answer.status not in REVIEW_AGAIN:
            return refused
        seen = self.observe(wanted.model_dump(mode="json"), call)
        if isinstance(seen, Found | Conflicting):
            return _outcome(seen)
        if answer.status == 405 and BASE_MOVED in answer.message:
            return self._base_moved(wanted, refused)
        return Refused(FailureKind.POLICY_BOUND, refused.reason, refused.facts)

    def _base_moved(self, wanted: requests.Merge, refused: Refused) -> Outcome:
        """The host was busy with the base: try again only while it is still the approved one."""
        try:
            base = read_ref(self.remote, wanted.repository, f"refs/heads/{wanted.base}")
        except ActivityFailed as failed:
            return NotSent(failed.kind, f"{refused.reason}; {failed.reason}")
        if base == wanted.base_revision:
            return NotSent(FailureKind.TRANSIENT, refused.reason)
        facts = {**refused.facts, "base_revision": base}
        return Refused(FailureKind.POLICY_BOUND, refused.reason, facts)

    def _ended(self, wanted: requests.Merge, pull: Pull) -> Found | Conflicting | None:
        """Return what a pull request that is no longer open came to. Raises HostUnreadable."""
        if not pull.is_merged:
            closed = Conflicting("it was closed without a merge", {})
            return closed if pull.state == "closed" else None
        commit = str(pull.merge_commit)
        if pull.head != wanted.sha:
            return Conflicting(f"it was merged with head {pull.head}", {"merge_commit": commit})
        return Found(commit, self._joined(wanted.repository, commit))

    def _joined(self, repository: str, commit: str) -> JsonObject:
        """Return the merge and its parents; without them nobody may call it ours (R24)."""
        path = f"/repos/{repository}/commits/{commit}"
        parents = (self.host.read(path) or {}).get("parents")
        if not isinstance(parents, list) or not parents:
            raise HostUnreadable(f"{path}: no parents are shown")
        return {"merge_commit": commit, "parents": [str(parent["sha"]) for parent in parents]}


def _moved(wanted: requests.Merge, pull: Pull, base: str | None) -> str | None:
    """Return in which way the base is not the approved one, or None."""
    if pull.base_branch != wanted.base:
        return f"#{wanted.number} now targets {pull.base_branch}, approved was {wanted.base}"
    if base != wanted.base_revision:
        return f"{wanted.base} stands on {base}, approved was {wanted.base_revision}"
    return None


def _outcome(ended: Found | Conflicting) -> Outcome:
    if isinstance(ended, Found):
        return Applied(ended.reference, ended.facts)
    return Refused(FailureKind.POLICY_BOUND, ended.reason, ended.facts)
