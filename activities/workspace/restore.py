"""Build a clean checkout of exactly one revision, plus a patch, and its commit. Trusts no path."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from activities.git import command
from activities.git.mirror import Remote, mirrored
from activities.workspace.policy import PatchLimits, index_violations, violations
from orchestrator.domain.failures import ActivityFailed, FailureKind

AUTHOR = ("Outlast", "outlast@localhost")


@dataclass(frozen=True)
class Commit:
    """A commit's object id and a bundle that makes it reachable anywhere."""

    revision: str
    bundle: bytes


@dataclass(frozen=True)
class Workspaces:
    """Makes workspaces from a remote's mirror; each attempt gets a folder of its own."""

    remote: Remote
    cache: Path
    folder: Path

    @contextmanager
    def checkout(self, repository: str, revision: str, owner: str, name: str) -> Iterator[Path]:
        """Yield a fresh checkout under the owner's folder; it is removed at the end."""
        place = self.folder / owner / "work" / name
        self.restore(repository, revision, place)
        try:
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def restore(self, repository: str, revision: str, place: Path) -> None:
        """Put a checkout of exactly this revision there; what stood there before is removed.

        Raises ActivityFailed, permanent, for a revision that the repository does not have.
        """
        shutil.rmtree(place, ignore_errors=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        with mirrored(self.remote, repository, self.cache) as mirror:
            known = command.run(["cat-file", "-e", f"{revision}^{{commit}}"], folder=mirror)
            if not known.is_ok:
                reason = f"{repository} has no revision {revision}"
                raise ActivityFailed(FailureKind.PERMANENT, reason)
            command.must(["clone", "--quiet", "--no-checkout", "--shared", str(mirror), str(place)])
        command.must(["checkout", "--quiet", "--detach", revision], folder=place)


def apply_patch(place: Path, patch: str, limits: PatchLimits) -> None:
    """Apply a patch to a clean checkout, after the policy and git itself have checked it.

    Raises ActivityFailed: policy-bound when a rule is broken, domain-negative when it does not
    apply. The checkout is then of no use; it was this attempt's own.
    """
    broken = violations(patch, limits)
    if broken:
        raise _against_policy(broken)
    data = patch.encode()
    checked = command.run(["apply", "--check", "-"], folder=place, given=data)
    if not checked.is_ok:
        reason = f"the patch does not apply: {checked.errors.strip()[:500]}"
        raise ActivityFailed(FailureKind.DOMAIN_NEGATIVE, reason)
    command.must(["apply", "--cached", "-"], folder=place, given=data)
    staged = command.must(["diff", "--cached", "--raw", "--no-renames", "-z"], folder=place)
    broken = index_violations(staged, limits)
    if broken:
        raise _against_policy(broken)
    command.must(["apply", "-"], folder=place, given=data)


def _against_policy(broken: tuple[str, ...]) -> ActivityFailed:
    return ActivityFailed(FailureKind.POLICY_BOUND, "the patch " + "; ".join(broken))


def build_commit(place: Path, message: str, committed_at: str) -> Commit:
    """Commit what is staged with fixed names and dates: equal inputs give the equal object id."""
    name, mail = AUTHOR
    who = {
        f"GIT_{role}_{part}": value
        for role in ("AUTHOR", "COMMITTER")
        for part, value in (("NAME", name), ("EMAIL", mail), ("DATE", committed_at))
    }
    base = command.must(["rev-parse", "HEAD"], folder=place).strip()
    tree = command.must(["write-tree"], folder=place).strip()
    revision = command.must(
        ["commit-tree", tree, "-p", base, "-F", "-"],
        folder=place,
        extra=who,
        given=message.encode(),
    ).strip()
    command.must(["update-ref", "refs/heads/candidate", revision], folder=place)
    target = place / ".git" / "candidate.bundle"
    command.must(
        ["bundle", "create", "--quiet", str(target), f"{base}..refs/heads/candidate"], folder=place
    )
    command.must(["update-ref", "--no-deref", "HEAD", revision], folder=place)
    return Commit(revision, target.read_bytes())
