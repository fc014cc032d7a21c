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
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from activities.environment.application_file import resolve
from orchestrator.clock import monotonic, wait_for
from orchestrator.contracts.environment import ApplicationFile
from orchestrator.domain.failures import ActivityFailed, FailureKind

TAIL = 4000


class Application:
    """The application under test, one process tree at a time, on the sandbox's own loopback."""

    def __init__(
        self, spec: ApplicationFile, workspace: Path, scratch: Path, revision: str
    ) -> None:
        self.spec, self.workspace, self.scratch, self.revision = spec, workspace, scratch, revision
        self.log = scratch / "application.log"
        self.port = 0
        self._nonce = ""
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Return its address."""
        return f"http://127.0.0.1:{self.port}"

    def start(self, extra: Mapping[str, str]) -> None:
        """Empty the data, seed, start and wait until it shows our nonce and revision.

        Raises ActivityFailed, environmental, with the end of its log.
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
            "OUTLAST_NONCE": self._nonce,
            "OUTLAST_REVISION": self.revision,
        }
        self._seed(env)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                resolve(self.spec.start.command),
                cwd=self.workspace,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._wait_ready()

    def stop(self) -> None:
        """End the application and everything it started in its session."""
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process = None

    def is_ready(self) -> bool:
        """Return whether it answers now as the one that was started here."""
        answer = self._probe()
        return answer is not None and answer.get("nonce") == self._nonce

    def log_tail(self) -> str:
        """Return the end of its log."""
        try:
            return self.log.read_bytes()[-TAIL:].decode(errors="replace")
        except FileNotFoundError:
            return ""

    def _seed(self, env: Mapping[str, str]) -> None:
        for command in self.spec.seed.commands:
            try:
                done = subprocess.run(
                    resolve(command),
                    cwd=self.workspace,
                    env=dict(env),
                    capture_output=True,
                    timeout=self.spec.seed.timeout_s,
                    check=False,
                )
            except (OSError, subprocess.TimeoutExpired) as fault:
                said = f"seeding: {type(fault).__name__}"
                raise ActivityFailed(FailureKind.ENVIRONMENTAL, said) from fault
            if done.returncode:
                tail = (done.stdout + done.stderr).decode(errors="replace")[-1000:]
                raise ActivityFailed(FailureKind.ENVIRONMENTAL, f"seeding failed: {tail}")

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
        answer = self._probe()
        if answer == {"nonce": self._nonce, "revision": self.revision}:
            return
        ended = process.poll()
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
        return {"nonce": said.get("nonce"), "revision": said.get("revision")}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
