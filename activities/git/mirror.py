"""A local bare copy of a remote repository: a cache, refreshed before each use, never trusted."""

from __future__ import annotations

import fcntl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from activities.git import command
from activities.secrets import SecretSource
from orchestrator.domain.failures import ActivityFailed, FailureKind

ABSENT = 2


@dataclass(frozen=True)
class Remote:
    """A git host: its address, and the name of the secret that authorises us there."""

    url: str
    secrets: SecretSource
    token_name: str = "HOST_TOKEN"

    def address(self, repository: str) -> str:
        """Return the repository's address, without a credential in it."""
        return f"{self.url.rstrip('/')}/{repository}.git"

    def token(self) -> str:
        """Return the token at the moment of use, so that a rotated one is seen."""
        return self.secrets.get(self.token_name)


def read_ref(remote: Remote, repository: str, ref: str) -> str | None:
    """Return the revision that a ref stands on at the remote itself, or None when it is absent.

    Raises ActivityFailed, transient when the remote could not be read: that says nothing (P9).
    """
    return read_refs(remote, repository, ref)[ref]


def read_refs(remote: Remote, repository: str, *refs: str) -> dict[str, str | None]:
    """Return where each ref stands at one moment, None for an absent one. Raises as `read_ref`."""
    done = command.call(
        ["ls-remote", "--exit-code", remote.address(repository), *refs],
        remote.token(),
        name="git-ls-remote",
    )
    if done.returncode == ABSENT:
        return dict.fromkeys(refs)
    if not done.is_ok:
        raise unreadable(repository, done)
    lines = (line.partition("\t") for line in done.output.splitlines())
    found = {name: revision for revision, _, name in lines}
    return {ref: found.get(ref) for ref in refs}


def unreadable(repository: str, done: command.Completed) -> ActivityFailed:
    """Return the failure of a remote that did not answer as it should."""
    said = done.errors.strip().splitlines()
    words = " ".join(said[-2:])[:500]
    is_gone = "not found" in done.errors.lower()
    kind = FailureKind.PERMANENT if is_gone or done.is_denied else FailureKind.TRANSIENT
    return ActivityFailed(kind, f"repository {repository}: {words or 'no answer from the host'}")


@contextmanager
def mirrored(
    remote: Remote, repository: str, cache: Path, stop: threading.Event | None = None
) -> Iterator[Path]:
    """Yield a bare copy that was refreshed just now; one process at a time refreshes it."""
    folder = cache / repository.replace("/", "--")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "HEAD").exists():
            command.must(["init", "--bare", "--quiet", str(folder)])
        done = command.call(
            ["fetch", "--quiet", "--prune", remote.address(repository), "+refs/*:refs/mirror/*"],
            remote.token(),
            folder=folder,
            name="git-fetch",
            stop=stop,
        )
        if not done.is_ok:
            raise unreadable(repository, done)
    yield folder
