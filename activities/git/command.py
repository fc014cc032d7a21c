"""Run git with a scrubbed environment; a token reaches it by its environment alone."""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator import seam

NETWORK_S = 120.0
PASSED = ("PATH", "LANG", "SSL_CERT_FILE", "TMPDIR")


@dataclass(frozen=True)
class Completed:
    """How git ended. `returncode` is None when it was ended for taking too long."""

    returncode: int | None
    output: str
    errors: str

    @property
    def is_ok(self) -> bool:
        """Whether git said that all went well."""
        return self.returncode == 0


class GitFailed(RuntimeError):
    """A local git command failed; its own words are in the text, never a credential."""

    def __init__(self, arguments: Sequence[str], completed: Completed) -> None:
        said = (completed.errors or completed.output).strip()[:1500]
        super().__init__(f"git {arguments[0]} failed ({completed.returncode}): {said}")
        self.completed = completed


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return git's whole environment: nothing of the machine's or the user's git settings."""
    kept = {name: os.environ[name] for name in PASSED if name in os.environ}
    fixed = {
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
    return {**kept, **fixed, **(extra or {})}


def with_token(token: str) -> dict[str, str]:
    """Return the environment that authorises one command; the token stands in no argument."""
    basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    return {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "http.extraHeader",
        "GIT_CONFIG_VALUE_0": f"Authorization: Basic {basic}",
    }


def run(
    arguments: Sequence[str],
    *,
    folder: Path | None = None,
    extra: Mapping[str, str] | None = None,
    given: bytes | None = None,
    timeout_s: float = 60.0,
) -> Completed:
    """Run git and return how it ended; a command over its time is killed, its group with it."""
    process = subprocess.Popen(
        ["git", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0", *arguments],
        cwd=folder,
        env=environment(extra),
        stdin=subprocess.PIPE if given is not None else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(given, timeout=timeout_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        output, errors = process.communicate()
        return Completed(None, _text(output), _text(errors))
    return Completed(process.returncode, _text(output), _text(errors))


def must(
    arguments: Sequence[str],
    *,
    folder: Path | None = None,
    extra: Mapping[str, str] | None = None,
    given: bytes | None = None,
) -> str:
    """Run a local command and return its output. Raises GitFailed."""
    completed = run(arguments, folder=folder, extra=extra, given=given)
    if not completed.is_ok:
        raise GitFailed(arguments, completed)
    return completed.output


def call(
    arguments: Sequence[str], token: str, *, folder: Path | None = None, name: str
) -> Completed:
    """Run a command that talks to a remote, authorised; it passes the seam as one call."""
    with seam.crossing("call", name):
        return run(arguments, folder=folder, extra=with_token(token), timeout_s=NETWORK_S)


def _text(raw: bytes | None) -> str:
    return (raw or b"").decode(errors="replace")
