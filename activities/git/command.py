"""Run git with a scrubbed environment; a token reaches it by its environment alone."""

from __future__ import annotations

import base64
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator import seam
from orchestrator.clock import monotonic

LOCAL = "git-local"
NETWORK_S = 120.0
LOOK_S = 0.2
SETTINGS = ("-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0")
# The watch reads a pipe that only we can write to: its end is our death, and the group's.
LEASH = (
    "(read -r _ </proc/self/fd/$0; kill -KILL 0) & watch=$!;"
    ' "$@"; status=$?; kill $watch; exit $status'
)
DENIALS = ("Authentication failed", "could not read Username", "error: 403")
PASSED = ("PATH", "LANG", "SSL_CERT_FILE", "TMPDIR")


@dataclass(frozen=True)
class Completed:
    """How git ended. `returncode` is None when it was ended: too long, or told to stop."""

    returncode: int | None
    output: str
    errors: str

    @property
    def is_ok(self) -> bool:
        """Whether git said that all went well."""
        return self.returncode == 0

    @property
    def is_denied(self) -> bool:
        """Whether the remote knows our token and does not let us, or does not know it."""
        return any(words in self.errors for words in DENIALS)


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
    """Return the environment that authorises one command; the token stands in no argument.

    A redirection is not followed: git would show the header to whoever it leads to.
    """
    basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    return {
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": "http.extraHeader",
        "GIT_CONFIG_VALUE_0": f"Authorization: Basic {basic}",
        "GIT_CONFIG_KEY_1": "http.followRedirects",
        "GIT_CONFIG_VALUE_1": "false",
    }


def run(
    arguments: Sequence[str],
    *,
    folder: Path | None = None,
    extra: Mapping[str, str] | None = None,
    given: bytes | None = None,
    timeout_s: float = 60.0,
    stop: threading.Event | None = None,
    name: str = LOCAL,
) -> Completed:
    """Run git and return how it ended; over its time, or once `stop` is set, its group is killed.

    It also dies with this process, with all that it started (R10): a push does not go on alone.
    It passes the seam as one call of this name.
    """
    theirs, ours = os.pipe()
    try:
        with seam.crossing("call", name):
            process = subprocess.Popen(
                ["sh", "-c", LEASH, str(theirs), "git", *SETTINGS, *arguments],
                cwd=folder,
                env=environment(extra),
                stdin=subprocess.PIPE if given is not None else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(theirs,),
                start_new_session=True,
            )
            return _ended(process, given, monotonic() + timeout_s, stop)
    finally:
        os.close(theirs)
        os.close(ours)


def _ended(
    process: subprocess.Popen[bytes],
    given: bytes | None,
    end: float,
    stop: threading.Event | None,
) -> Completed:
    while True:
        try:
            output, errors = process.communicate(given, timeout=LOOK_S)
            return Completed(process.returncode, _text(output), _text(errors))
        except subprocess.TimeoutExpired:
            given = None  # what is left of it is kept by the process object
            if monotonic() < end and not (stop is not None and stop.is_set()):
                continue
        os.killpg(process.pid, signal.SIGKILL)
        output, errors = process.communicate()
        return Completed(None, _text(output), _text(errors))


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
    arguments: Sequence[str],
    token: str,
    *,
    folder: Path | None = None,
    name: str,
    stop: threading.Event | None = None,
) -> Completed:
    """Run a command that talks to a remote, authorised; it passes the seam under this name."""
    extra = with_token(token)
    return run(arguments, folder=folder, extra=extra, timeout_s=NETWORK_S, stop=stop, name=name)


def _text(raw: bytes | None) -> str:
    return (raw or b"").decode(errors="replace")
