"""The program inside the sandbox: takes orders as JSON lines, starts the application, answers.

Spoken to over its own standard input and output, also where there are no walls: no port of it is
open to anybody. Secrets come in with an order, are used, and are written nowhere.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urljoin, urlsplit

from activities.browser.masking import mask
from activities.browser.replay import replay
from activities.environment.application import Application
from activities.environment.application_file import resolve
from activities.environment.bounded import run_bounded
from orchestrator.contracts.environment import ApplicationFile
from orchestrator.contracts.payload import JsonObject
from orchestrator.contracts.procedure import Procedure
from orchestrator.domain.failures import ActivityFailed, FailureKind

NOT_STARTED = 127
OVER_TIME = -1
REDIRECTS_MAX = 5
AS_GET, KEEP_METHOD = (301, 302, 303), (307, 308)
AS_IT_IS = "%/?#:&=+,;@!$'()*[]~"
Send = Callable[[JsonObject], None]


class Inside:
    """One sandbox's hands: a closed set of orders, one at a time."""

    def __init__(self, order: JsonObject, send: Send) -> None:
        self._workspace, self._scratch = Path(order["workspace"]), Path(order["scratch"])
        self._send = send
        spec = ApplicationFile.model_validate(order["application"])
        self._application = Application(spec, self._workspace, self._scratch, order["revision"])

    def obey(self, order: JsonObject) -> Any:
        """Do what the order says and return its answer. Raises ActivityFailed."""
        match order["do"]:
            case "start":
                self._application.start(order["extra"])
            case "stop":
                self._application.stop()
            case "request":
                return self._request(order)
            case "run":
                return self._run(order)
            case "write":
                self._put(order["path"], order["text"])
            case "log":
                return self._application.log_tail()
            case "replay":
                return self._replay(order)
            case other:
                raise ActivityFailed(FailureKind.PERMANENT, f"no order {other}")
        return None

    def end(self) -> None:
        """Stop the application."""
        self._application.stop()

    def _replay(self, order: JsonObject) -> list[JsonObject]:
        """Play it. From here on the log is shown without the secrets: the application has them."""
        procedure = Procedure.from_json(order["procedure"])
        self._application.hide = lambda text: mask(text, order["secrets"].values())
        runs = replay(
            procedure,
            self._application,
            self._scratch,
            order["secrets"],
            lambda said: self._send({"progress": said}),
            order["chromium"],
        )
        return [run.model_dump(mode="json") for run in runs]

    def _run(self, order: JsonObject) -> JsonObject:
        argv, limit = resolve(tuple(order["argv"])), order["timeout_s"]
        try:
            done = run_bounded(argv, self._workspace, os.environ, limit, name="run-command")
        except OSError as fault:
            return {"returncode": NOT_STARTED, "output": f"{argv[0]}: {fault.strerror}"}
        if done.returncode is None:
            said = f"{done.output}\nstill running after {limit} s"
            return {"returncode": OVER_TIME, "output": said}
        return {"returncode": done.returncode, "output": done.output}

    def _put(self, path: str, text: str) -> None:
        place = (self._workspace / path).resolve()
        if not place.is_relative_to(self._workspace.resolve()):
            raise ActivityFailed(FailureKind.POLICY_BOUND, f"{path} is outside")
        try:
            place.write_text(text, encoding="utf-8")
        except OSError as fault:
            said = f"{path}: {fault.strerror}"
            raise ActivityFailed(FailureKind.ENVIRONMENTAL, said) from fault

    def _request(self, order: JsonObject) -> JsonObject:
        """Ask once, and where it is wished follow redirections, as a browser would."""
        method, path, form = order["method"], order["path"], order["form"]
        headers = dict(order["headers"])
        for _ in range(REDIRECTS_MAX if order["follow"] else 1):
            answer = self._once(method, path, form, headers)
            onward = self._onward(path, answer)
            if onward is None:
                break
            path = onward
            if answer["status"] not in KEEP_METHOD:
                method, form = "GET", None
        return answer

    def _onward(self, path: str, answer: JsonObject) -> str | None:
        """Return the path that the answer sends us to, if it is the application's own."""
        location = dict(answer["headers"]).get("location")
        if answer["status"] not in (*AS_GET, *KEEP_METHOD) or not location:
            return None
        own = urlsplit(self._application.url)
        onward = urlsplit(urljoin(self._application.url + path, location))
        if (onward.scheme, onward.netloc) != (own.scheme, own.netloc):
            return None
        return f"{onward.path or '/'}{'?' if onward.query else ''}{onward.query}"

    def _once(self, method: str, path: str, form: Any, headers: dict[str, str]) -> JsonObject:
        connection = http.client.HTTPConnection("127.0.0.1", self._application.port, timeout=10)
        body = None if form is None else urlencode(form, doseq=True)
        if body is not None:
            headers = {**headers, "Content-Type": "application/x-www-form-urlencoded"}
        try:
            connection.request(method, quote(path, safe=AS_IT_IS), body=body, headers=headers)
            response = connection.getresponse()
            text = response.read(2_000_000).decode(errors="replace")
        except (OSError, http.client.HTTPException) as fault:
            said = f"{method} {path}: {type(fault).__name__}"
            raise ActivityFailed(FailureKind.ENVIRONMENTAL, said) from fault
        finally:
            connection.close()
        pairs = [[name.lower(), value] for name, value in response.getheaders()]
        return {"status": response.status, "headers": pairs, "body": text, "url": path}


def main() -> None:
    """Obey orders until standard input ends; then end everything and go.

    Our own code's place is taken out of the environment: the application never imports from it.
    """
    os.environ.pop("PYTHONPATH", None)
    out = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)

    def send(said: JsonObject) -> None:
        out.write(json.dumps(said) + "\n")
        out.flush()

    inside = Inside(json.loads(sys.stdin.readline()), send)
    try:
        for line in sys.stdin:
            try:
                send({"answer": inside.obey(json.loads(line))})
            except ActivityFailed as failed:
                send({"failed": {"kind": failed.kind, "reason": failed.reason}})
    finally:
        inside.end()


if __name__ == "__main__":
    main()
