"""Runs inside the sandbox: start the application, seed it, prove that it is this one, stop it."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from activities.environment.application_file import resolve
from activities.environment.bounded import run_bounded
from activities.environment.sweep import end_carrying
from orchestrator import seam
from orchestrator.clock import monotonic, wait_for
from orchestrator.contracts.environment import ApplicationFile
from orchestrator.domain.failures import ActivityFailed, FailureKind

TAIL = 4000
READ_MAX = 200_000
LEASH = Path(__file__).with_name("leash.py")
NONCE = "OUTLAST_NONCE"


class Application:
    """The application under test, one process tree at a time, on the sandbox's own loopback."""

    def __init__(
        self, spec: ApplicationFile, workspace: Path, scratch: Path, revision: str
    ) -> None:
        self.spec, self.workspace, self.scratch, self.revision = spec, workspace, scratch, revision
        self.log = scratch / "application.log"
        self.hide: Callable[[str], str] = str
        self.port = 0
        self._nonce = ""
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Return its address."""
        return f"http://127.0.0.1:{self.port}"

    def start(self, extra: Mapping[str, str]) -> None:
        """Empty the data, seed, start and wait until it shows our nonce and revision.

        Raises ActivityFailed, environmental, with the end of its log, which begins anew here.
        """
        self.stop()
        data = self.scratch / "data"
        shutil.rmtree(data, ignore_errors=True)
        data.mkdir(parents=True)
        self.port, self._nonce = _free_port(), secrets.token_hex(8)
        env = {
            **os.environ,
            **self.spec.start.env,
            **extra,
            "PORT": str(self.port),
            "DATA_DIR": str(data),
            NONCE: self._nonce,
            "OUTLAST_REVISION": self.revision,
        }
        self._seed(env)
        self._process = self._launch(env)
        self._wait_ready()

    def stop(self) -> None:
        """End the application and everything it started, also what left its session."""
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=2)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process = None
        end_carrying(f"{NONCE}={self._nonce}")

    def is_ready(self) -> bool:
        """Return whether it answers now as the one that was started here."""
        return self._probe() == {"nonce": self._nonce, "revision": self.revision}

    def log_tail(self) -> str:
        """Return the end of its log since it was started, without what `hide` takes out of it."""
        try:
            with self.log.open("rb") as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - READ_MAX))
                said = log.read(READ_MAX).decode(errors="replace")
        except FileNotFoundError:
            return ""
        return self.hide(said)[-TAIL:]

    def _launch(self, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-I", str(LEASH), *resolve(self.spec.start.command)]
        with self.log.open("wb") as log, seam.crossing("call", "start-application"):
            return subprocess.Popen(
                command,
                cwd=self.workspace,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _seed(self, env: Mapping[str, str]) -> None:
        for command in self.spec.seed.commands:
            self._seed_with(resolve(command), env)

    def _seed_with(self, argv: Sequence[str], env: Mapping[str, str]) -> None:
        limit = self.spec.seed.timeout_s
        try:
            done = run_bounded(argv, self.workspace, env, limit, name="seed-application")
        except OSError as fault:
            said = f"seeding: {argv[0]}: {fault.strerror}"
            raise ActivityFailed(FailureKind.ENVIRONMENTAL, said) from fault
        if done.returncode is None:
            said = f"seeding: `{argv[0]}` did not end in {limit} s; {self.hide(done.output)[-800:]}"
            raise ActivityFailed(FailureKind.ENVIRONMENTAL, said)
        if done.returncode:
            said = f"seeding failed ({done.returncode}): {self.hide(done.output)[-1000:]}"
            raise ActivityFailed(FailureKind.ENVIRONMENTAL, said)

    def _wait_ready(self) -> None:
        process, limit = self._process, self.spec.ready.timeout_s
        assert process is not None
        until = monotonic() + limit
        wait_for(
            lambda: process.poll() is not None or self._probe() is not None or monotonic() > until,
            limit + 5,
            "the application",
            every=0.03,
        )
        if self.is_ready():
            return
        answer, ended = self._probe(), process.poll()
        why = f"it ended with {ended}" if ended is not None else f"it answered {answer}"
        self.stop()
        reason = f"the application did not get ready in {limit} s: {why}; {self.log_tail()[-1500:]}"
        raise ActivityFailed(FailureKind.ENVIRONMENTAL, reason)

    def _probe(self) -> dict[str, Any] | None:
        """Return what the readiness path says of nonce and revision, or None without an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
        try:
            connection.request("GET", self.spec.ready.path)
            response = connection.getresponse()
            body = response.read(65_536)
            if response.status != 200:
                return None
            said = json.loads(body)
        except (OSError, http.client.HTTPException, ValueError):
            return None
        finally:
            connection.close()
        if not isinstance(said, dict):
            return None
        return {"nonce": said.get("nonce"), "revision": said.get("revision")}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
