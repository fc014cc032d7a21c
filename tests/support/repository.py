"""Makes a bare repository out of a folder, with a fixed first commit."""

from __future__ import annotations

from pathlib import Path

from activities.git import command
from activities.git.mirror import Remote
from activities.secrets import SecretSource

DATE = "2026-01-02T03:04:05+00:00"
WHO = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "someone"), ("EMAIL", "someone@test"), ("DATE", DATE))
}


def publish(work: Path, host: Path, name: str) -> str:
    """Commit everything in the folder, serve it as `name` below the host, return the revision."""
    bare = host / f"{name}.git"
    command.must(["init", "--quiet", "-b", "main"], folder=work)
    command.must(["add", "--all"], folder=work)
    command.must(["commit", "--quiet", "-m", "one"], folder=work, extra=WHO)
    command.must(["clone", "--quiet", "--bare", str(work), str(bare)])
    return command.must(["rev-parse", "main"], folder=bare).strip()


def remote_of(host: Path, secrets: Path) -> Remote:
    """Return the host's folder as a remote. The caller sets the token, which nobody asks for."""
    return Remote(host.as_uri(), SecretSource(secrets))
