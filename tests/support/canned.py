"""A server that says what it is told to say: for answers that no healthy host gives."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Said:
    """One answer: a status and a body, sent as JSON unless it is text already."""

    status: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)


Answer = Callable[[str, str], Said]


@contextmanager
def answering(answer: Answer) -> Iterator[str]:
    """Yield the address of a server that answers (method, path with query) so."""

    class Handler(BaseHTTPRequestHandler):
        def handle_one_request(self) -> None:
            self.raw_requestline = self.rfile.readline()
            if not self.raw_requestline or not self.parse_request():
                self.close_connection = True
                return
            self.rfile.read(int(self.headers.get("content-length", 0)))
            said = answer(self.command, self.path)
            text = said.body if isinstance(said.body, str) else json.dumps(said.body)
            self.send_response(said.status)
            for name, value in {**said.headers, "Content-Length": str(len(text.encode()))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def shown_pull(number: int, body: str, head: str = "x", **more: Any) -> dict[str, Any]:
    """Return a pull request in GitHub's shape, as far as we read it."""
    end = {"sha": "1" * 40, "repo": {"full_name": "demo/refuge"}}
    return {
        "number": number,
        "node_id": f"PR_{number}",
        "state": "open",
        "draft": True,
        "body": body,
        "head": {**end, "ref": head},
        "base": {**end, "ref": "main"},
        "merged_at": None,
        "merge_commit_sha": None,
        **more,
    }
