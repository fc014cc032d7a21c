"""Branches: conditional pushes and deletions under an explicit lease, which the server enforces."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path

from activities.artifacts import ArtifactStore, ArtifactUnreadable
from activities.git import command
from activities.git.fence import Fence, ref_of, shut_revision
from activities.git.mirror import Remote, mirrored, read_ref, read_refs
from activities.git.pushes import Move, Push
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


@dataclass
class PushBranch:
    """Put a branch on the intended commit, from exactly the expected revision or from nothing."""

    remote: Remote
    artifacts: ArtifactStore
    cache: Path
    name: str = "push-branch"
    queue: str = "git"
    guarantee: Guarantee = Guarantee.CONDITIONAL_WRITE

    def perform(self, request: JsonObject, call: Call) -> Outcome:
        """Inspect, compare, and only then push under the lease; a stranger there is a conflict."""
        wanted = requests.PushBranch.model_validate(request)
        try:
            seen = self._look(wanted)
            if isinstance(seen, Found):
                return Applied(seen.reference, seen.facts)
            if isinstance(seen, Conflicting):
                return Refused(FailureKind.POLICY_BOUND, seen.reason, seen.facts)
            bundle = self.artifacts.read(wanted.bundle_sha256)
            with mirrored(self.remote, wanted.repository, self.cache, call.stop) as mirror:
                _import(mirror, bundle, wanted.revision)
                return self._push(mirror, wanted, call)
        except (ArtifactUnreadable, command.GitFailed) as fault:
            return NotSent(FailureKind.PERMANENT, str(fault))
        except ActivityFailed as failed:
            return NotSent(failed.kind, failed.reason, failed.retry_after_s)

    def _push(self, mirror: Path, wanted: requests.PushBranch, call: Call) -> Outcome:
        """Move branch and fence, both or none; a superseded attempt is told so by the fence."""
        ref, fence = f"refs/heads/{wanted.branch}", Fence(mirror, call.run_tag)
        stand = fence.read()
        forbidden = stand.forbids(call)
        if forbidden is not None:
            return Refused(FailureKind.POLICY_BOUND, forbidden, {"fence": stand.revision})
        moves = (
            Move(ref, wanted.expected, wanted.revision),
            Move(ref_of(call.run_tag), stand.revision, fence.moved_by(call)),
        )
        push = Push(self.remote, wanted.repository, moves, {ref: wanted.revision})
        return _send(push, mirror, call, self.name)

    def observe(self, request: JsonObject, call: Call) -> Observed:
        """Read the branch at the repository itself; its absence there is conclusive."""
        try:
            return self._look(requests.PushBranch.model_validate(request))
        except ActivityFailed as failed:
            return Unreadable(failed.reason, failed.kind)

    def _look(self, wanted: requests.PushBranch) -> Found | Absent | Conflicting:
        found = read_ref(self.remote, wanted.repository, f"refs/heads/{wanted.branch}")
        if found == wanted.revision:
            return Found(found, {"revision": found})
        if found == wanted.expected:
            return Absent(f"the branch stands on {found or 'nothing'}", conclusive=True)
        return Conflicting(f"the branch stands on {found}", {"revision": found})


@dataclass
class DeleteBranch:
    """Delete a branch that still stands on the expected revision; people may have pushed.

    The run's fence is shut with it, so that a push still on its way does not bring it back (R21).
    """

    remote: Remote
    cache: Path
    name: str = "delete-branch"
    queue: str = "git"
    guarantee: Guarantee = Guarantee.CONDITIONAL_WRITE

    def perform(self, request: JsonObject, call: Call) -> Outcome:
        """Shut the fence and delete what stands on the expected revision, both or none."""
        wanted = requests.DeleteBranch.model_validate(request)
        try:
            seen = self._look(wanted, call)
            if isinstance(seen, Found):
                return Applied(seen.reference, seen.facts)
            if isinstance(seen, Conflicting):
                return Refused(FailureKind.POLICY_BOUND, seen.reason, seen.facts)
            with mirrored(self.remote, wanted.repository, self.cache, call.stop) as mirror:
                return self._delete(mirror, wanted, call)
        except command.GitFailed as fault:
            return NotSent(FailureKind.PERMANENT, str(fault))
        except ActivityFailed as failed:
            return NotSent(failed.kind, failed.reason, failed.retry_after_s)

    def _delete(self, mirror: Path, wanted: requests.DeleteBranch, call: Call) -> Outcome:
        ref, fence_ref = f"refs/heads/{wanted.branch}", ref_of(call.run_tag)
        fence = Fence(mirror, call.run_tag)
        stands = read_ref(self.remote, wanted.repository, ref) is not None
        moves = (
            *((Move(ref, wanted.expected, None),) if stands else ()),
            Move(fence_ref, fence.read().revision, fence.shut()),
        )
        goal = {ref: None, fence_ref: shut_revision(call.run_tag)}
        return _send(Push(self.remote, wanted.repository, moves, goal), mirror, call, self.name)

    def observe(self, request: JsonObject, call: Call) -> Observed:
        """Read branch and fence; gone and shut is done, another revision is somebody's work."""
        try:
            return self._look(requests.DeleteBranch.model_validate(request), call)
        except ActivityFailed as failed:
            return Unreadable(failed.reason, failed.kind)

    def _look(self, wanted: requests.DeleteBranch, call: Call) -> Found | Absent | Conflicting:
        ref, fence_ref = f"refs/heads/{wanted.branch}", ref_of(call.run_tag)
        refs = read_refs(self.remote, wanted.repository, ref, fence_ref)
        found = refs[ref]
        if found is None and refs[fence_ref] == shut_revision(call.run_tag):
            return Found(wanted.branch, {"revision": None})
        if found is None:
            return Absent("the branch is gone; a push on its way could bring it back", True)
        if found == wanted.expected:
            return Absent("the branch is still there", conclusive=True)
        return Conflicting(f"the branch stands on {found}", {"revision": found})


def _send(push: Push, mirror: Path, call: Call, name: str) -> Outcome:
    done = command.call(
        push.arguments(), push.remote.token(), folder=mirror, name=name, stop=call.stop
    )
    return push.settle(done)


def _import(mirror: Path, bundle: bytes, revision: str) -> None:
    """Make the intended commit reachable in the mirror before anything is pushed."""
    file = mirror / f"{secrets.token_hex(8)}.bundle"
    file.write_bytes(bundle)
    try:
        kept = f"refs/outlast/candidates/{revision}"
        command.must(["fetch", "--quiet", str(file), f"refs/heads/candidate:{kept}"], folder=mirror)
    finally:
        file.unlink()
    held = command.must(["rev-parse", kept], folder=mirror).strip()
    if held != revision:
        reason = f"the bundle holds {held} and not the intended {revision}"
        raise ActivityFailed(FailureKind.PERMANENT, reason)
