"""Branches: conditional pushes and deletions under an explicit lease, which the server enforces."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path

from activities.artifacts import ArtifactStore, ArtifactUnreadable
from activities.git import command
from activities.git.mirror import Remote, mirrored, read_ref
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

DONE_FLAGS = (" ", "+", "*", "=", "-")


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
        match self.observe(request, call):
            case Found(reference, facts):
                return Applied(reference, facts)
            case Conflicting(reason, facts):
                return Refused(FailureKind.POLICY_BOUND, reason, facts)
            case Unreadable(reason):
                return NotSent(FailureKind.TRANSIENT, reason)
            case Absent():
                return self._push(wanted)

    def _push(self, wanted: requests.PushBranch) -> Outcome:
        try:
            bundle = self.artifacts.read(wanted.bundle_sha256)
            with mirrored(self.remote, wanted.repository, self.cache) as mirror:
                _import(mirror, bundle, wanted.revision)
                return self._send(mirror, wanted)
        except (ArtifactUnreadable, command.GitFailed) as fault:
            return NotSent(FailureKind.PERMANENT, str(fault))
        except ActivityFailed as failed:
            return NotSent(failed.kind, failed.reason, failed.retry_after_s)

    def _send(self, mirror: Path, wanted: requests.PushBranch) -> Outcome:
        ref = f"refs/heads/{wanted.branch}"
        done = command.call(
            [
                "push",
                "--porcelain",
                "--atomic",
                f"--force-with-lease={ref}:{wanted.expected or ''}",
                self.remote.address(wanted.repository),
                f"{wanted.revision}:{ref}",
            ],
            self.remote.token(),
            folder=mirror,
            name=self.name,
        )
        return settle_push(self.remote, wanted.repository, ref, wanted.revision, done)

    def observe(self, request: JsonObject, call: Call) -> Observed:
        """Read the branch at the repository itself; its absence there is conclusive."""
        wanted = requests.PushBranch.model_validate(request)
        try:
            found = read_ref(self.remote, wanted.repository, f"refs/heads/{wanted.branch}")
        except ActivityFailed as failed:
            return Unreadable(failed.reason)
        if found == wanted.revision:
            return Found(found, {"revision": found})
        if found == wanted.expected:
            return Absent(f"the branch stands on {found or 'nothing'}", conclusive=True)
        return Conflicting(f"the branch stands on {found}", {"revision": found})


@dataclass
class DeleteBranch:
    """Delete a branch that still stands on the expected revision; people may have pushed."""

    remote: Remote
    cache: Path
    name: str = "delete-branch"
    queue: str = "git"
    guarantee: Guarantee = Guarantee.CONDITIONAL_WRITE

    def perform(self, request: JsonObject, call: Call) -> Outcome:
        """Delete it under the lease."""
        wanted = requests.DeleteBranch.model_validate(request)
        match self.observe(request, call):
            case Found(reference, facts):
                return Applied(reference, facts)
            case Conflicting(reason, facts):
                return Refused(FailureKind.POLICY_BOUND, reason, facts)
            case Unreadable(reason):
                return NotSent(FailureKind.TRANSIENT, reason)
            case Absent():
                return self._delete(wanted)

    def _delete(self, wanted: requests.DeleteBranch) -> Outcome:
        ref = f"refs/heads/{wanted.branch}"
        address = self.remote.address(wanted.repository)
        lease = f"--force-with-lease={ref}:{wanted.expected}"
        try:
            with mirrored(self.remote, wanted.repository, self.cache) as mirror:
                done = command.call(
                    ["push", "--porcelain", "--atomic", lease, address, f":{ref}"],
                    self.remote.token(),
                    folder=mirror,
                    name=self.name,
                )
        except ActivityFailed as failed:
            return NotSent(failed.kind, failed.reason, failed.retry_after_s)
        return settle_push(self.remote, wanted.repository, ref, None, done)

    def observe(self, request: JsonObject, call: Call) -> Observed:
        """Read the branch; gone is done, another revision is somebody's work."""
        wanted = requests.DeleteBranch.model_validate(request)
        try:
            found = read_ref(self.remote, wanted.repository, f"refs/heads/{wanted.branch}")
        except ActivityFailed as failed:
            return Unreadable(failed.reason)
        if found is None:
            return Found(wanted.branch, {"revision": None})
        if found == wanted.expected:
            return Absent("the branch is still there", conclusive=True)
        return Conflicting(f"the branch stands on {found}", {"revision": found})


def settle_push(
    remote: Remote, repository: str, ref: str, wanted: str | None, done: command.Completed
) -> Outcome:
    """Say what a push came to. Success needs rc 0, a line for the ref, and the ref read back.

    A rejection is compared with the ref. Everything else is unsettled: over HTTP a lost answer, a
    cut and a 502 print the same words, even `Done`.
    """
    line = _ref_line(done.output, ref)
    if done.is_ok and line is not None and line[:1] in DONE_FLAGS:
        return _read_back(remote, repository, ref, wanted)
    if line is not None and line.startswith("!"):
        return _rejected(remote, repository, ref, wanted, line[1:].strip()[:300])
    if not line and ("error: 403" in done.errors or "Authentication failed" in done.errors):
        return Refused(FailureKind.PERMANENT, f"the host does not let us push to {repository}")
    return Unsettled(f"push of {ref}: no word on the ref (git ended with {done.returncode})")


def _rejected(remote: Remote, repository: str, ref: str, wanted: str | None, why: str) -> Outcome:
    """Look before believing a rejection.

    The transport may have sent our own push twice by itself; the second is then rejected because
    the first has landed.
    """
    try:
        found = read_ref(remote, repository, ref)
    except ActivityFailed as failed:
        return Unsettled(f"push of {ref} rejected ({why}), and not read back: {failed.reason}")
    if found == wanted:
        return Applied(found or ref, {"revision": found})
    reason = f"push of {ref} rejected: {why}; it stands on {found}"
    return Refused(FailureKind.POLICY_BOUND, reason, {"revision": found})


def _read_back(remote: Remote, repository: str, ref: str, wanted: str | None) -> Outcome:
    """Read the ref: there are servers that report success for an update that was lost."""
    try:
        found = read_ref(remote, repository, ref)
    except ActivityFailed as failed:
        return Unsettled(f"pushed, and not read back: {failed.reason}")
    if found != wanted:
        return Unsettled(f"pushed, and the ref reads {found}")
    return Applied(found or ref, {"revision": found})


def _ref_line(output: str, ref: str) -> str | None:
    for line in output.splitlines():
        columns = line.split("\t")
        if len(columns) >= 2 and columns[1].split(":")[-1] == ref:
            return line
    return None


def _import(mirror: Path, bundle: bytes, revision: str) -> None:
    """Make the intended commit reachable in the mirror before anything is pushed."""
    file = mirror / f"{secrets.token_hex(8)}.bundle"
    file.write_bytes(bundle)
    try:
        kept = f"refs/outlast/candidates/{revision}"
        command.must(["fetch", "--quiet", str(file), f"refs/heads/candidate:{kept}"], folder=mirror)
    finally:
        file.unlink()
