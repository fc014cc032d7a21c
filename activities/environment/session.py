"""One sandbox, from outside: orders go in over a pipe, answers come back, nothing else does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from activities.browser.find import find_browser
from activities.environment.bounded import end_group
from activities.environment.command import Sandbox
from orchestrator import seam
from orchestrator.contracts.environment import ApplicationFile
from orchestrator.contracts.evidence import ProcedureRun
from orchestrator.contracts.payload import JsonObject
from orchestrator.contracts.procedure import Procedure
from orchestrator.domain.failures import ActivityFailed, FailureKind

Progress = Callable[[JsonObject], None]
TAIL = 1500
_KINDS = frozenset(FailureKind)


@dataclass(frozen=True)
class Response:
    """An answer of the application to one light request; header names are in lower case."""

    status: int
    headers: list[tuple[str, str]]
    body: str
    url: str


@dataclass(frozen=True)
class Completed:
    """How a command ended."""

    returncode: int
    output: str


class Session:
    """A sandbox with an application in it, for the length of a `with` block.

    It dies with this process and with `stop`; everything inside dies with it.
    """

    def __init__(
        self,
        application: ApplicationFile,
        workspace: Path,
        scratch: Path,
        revision: str,
        sandbox: Sandbox,
        stop: threading.Event | None = None,
    ) -> None:
        self._sandbox, self._workspace = sandbox, workspace
        self._stop = stop or threading.Event()
        self._home, self.scratch = sandbox.home, scratch
        self._first: JsonObject = {
            "workspace": str(workspace),
            "scratch": str(scratch),
            "revision": revision,
            "application": application.model_dump(mode="json", by_alias=True),
        }
        self._process: subprocess.Popen[str] | None = None
        self._closed = threading.Event()

    def __enter__(self) -> Session:
        program = [sys.executable, "-P", "-m", "activities.environment.inside"]
        code = str(Path(__file__).parents[2])
        self._errors = (self.scratch / "inside.log").open("a+b")
        with seam.crossing("call", "sandbox-open"):
            self._process = subprocess.Popen(
                self._sandbox.argv(program, self._workspace),
                cwd=self._workspace,
                env={**self._sandbox.environment(), "PYTHONPATH": code},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                text=True,
                start_new_session=True,
            )
        threading.Thread(target=self._end_when_told, daemon=True).start()
        try:
            self._write(self._first)
        except ActivityFailed:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closed.set()
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.close()
            process.wait(timeout=5)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            self._kill()
        process.wait()
        process.stdout.close()
        self._errors.close()

    def start_app(self, extra_env: Mapping[str, str] | None = None) -> None:
        """Seed and start the application afresh. Raises ActivityFailed with its log's end."""
        self._ask({"do": "start", "extra": dict(extra_env or {})})

    def stop_app(self) -> None:
        """End the application."""
        self._ask({"do": "stop"})

    def request(
        self,
        method: str,
        path: str,
        form: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        follow: bool = False,
    ) -> Response:
        """Send one light request to the application; cookies are the caller's part."""
        order = {
            "do": "request",
            "method": method,
            "path": path,
            "form": None if form is None else dict(form),
            "headers": dict(headers or {}),
            "follow": follow,
        }
        answer = self._ask(order)
        pairs = [(name, value) for name, value in answer["headers"]]
        return Response(answer["status"], pairs, answer["body"], answer["url"])

    def run(self, argv: Sequence[str], timeout_s: float) -> Completed:
        """Run a command in the workspace, without network."""
        answer = self._ask({"do": "run", "argv": list(argv), "timeout_s": timeout_s})
        return Completed(answer["returncode"], answer["output"])

    def write(self, path: str, text: str) -> None:
        """Write a file of the workspace."""
        self._ask({"do": "write", "path": path, "text": text})

    def log_tail(self) -> str:
        """Return the end of the application's log."""
        return str(self._ask({"do": "log"}))

    def replay(
        self, procedure: Procedure, secrets: Mapping[str, str], progress: Progress
    ) -> list[ProcedureRun]:
        """Play the procedure in a browser beside the application, run by run.

        Screenshots and traces lie in the scratch folder, named by their references.
        """
        order = {
            "do": "replay",
            "procedure": procedure.to_json(),
            "secrets": dict(secrets),
            "chromium": str(find_browser(self._home)),
        }
        return [ProcedureRun.model_validate(raw) for raw in self._ask(order, progress)]

    def _ask(self, order: JsonObject, progress: Progress | None = None) -> Any:
        with seam.crossing("call", f"sandbox-{order['do']}"):
            return self._answer(order, progress)

    def _answer(self, order: JsonObject, progress: Progress | None) -> Any:
        self._write(order)
        assert self._process is not None
        assert self._process.stdout is not None
        for line in self._process.stdout:
            match _read(line):
                case {"progress": said}:
                    if progress is not None:
                        progress(said)
                case {"failed": {"kind": str(kind), "reason": str(reason)}} if kind in _KINDS:
                    raise ActivityFailed(FailureKind(kind), reason)
                case {"answer": answer}:
                    return answer
                case _:
                    raise ActivityFailed(FailureKind.ENVIRONMENTAL, "the sandbox talks nonsense")
        raise self._ended()

    def _write(self, said: JsonObject) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(said) + "\n")
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError) as fault:
            raise self._ended() from fault

    def _ended(self) -> ActivityFailed:
        if self._stop.is_set():
            return ActivityFailed(FailureKind.TRANSIENT, "stopped as told")
        return ActivityFailed(FailureKind.ENVIRONMENTAL, f"the sandbox ended: {self._said()}")

    def _said(self) -> str:
        """Return the end of its own log, from the file we opened: the name may be a link by now."""
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - TAIL))
        return self._errors.read(TAIL).decode(errors="replace")

    def _end_when_told(self) -> None:
        while not self._closed.is_set():
            if self._stop.wait(0.1):
                self._kill()
                return

    def _kill(self) -> None:
        assert self._process is not None
        end_group(self._process)


def _read(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None
