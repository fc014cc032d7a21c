"""The REST API on a real server and socket, and the hands of everybody who uses it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from activities.artifacts import ArtifactStore
from api.app import create_app
from orchestrator.clock import wait_for
from orchestrator.contracts.payload import JsonObject
from orchestrator.engine import inbox
from orchestrator.engine.database import Database
from orchestrator.store import principals
from orchestrator.workflows.catalogue import definitions
from tests.support.line import Line
from tests.support.scripted import scripted_registry

ROLES = {
    "submitter": ("submitter",),
    "reviewer": ("reviewer",),
    "second-reviewer": ("reviewer",),
    "operator": ("operator",),
}
TOKENS = {name: f"token-of-the-{name}-that-nobody-may-store" for name in ROLES}
REPORT = {"repository": "demo/shop", "title": "The last page is empty", "text": "1. Open /items"}


@dataclass
class Served:
    """A running API, and a worker's hands that the test moves."""

    url: str
    line: Line
    artifacts: Path
    clients: dict[str | None, httpx.Client] = field(default_factory=dict)

    def as_(self, name: str) -> httpx.Client:
        """Return a client with this principal's token."""
        return self.with_token(TOKENS[name])

    def with_token(self, token: str | None) -> httpx.Client:
        """Return the client with any token, or with none; it stays open as long as this one."""
        if token not in self.clients:
            headers = {} if token is None else {"Authorization": f"Bearer {token}"}
            self.clients[token] = httpx.Client(
                base_url=self.url, headers=headers, timeout=30, trust_env=False
            )
        return self.clients[token]

    def close(self) -> None:
        """Close every client and the line's database."""
        for client in self.clients.values():
            client.close()
        self.line.database.close()

    def submitted(self, **more: Any) -> str:
        """Submit a report and return the run."""
        answer = self.as_("submitter").post("/v1/reports", json={**REPORT, **more})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["run"])

    def awaiting(self) -> tuple[str, JsonObject]:
        """Return a run that waits for review, and the decision that repeats what it shows."""
        run = self.submitted()
        self.line.work()
        [asked] = self.get(f"/v1/runs/{run}/approvals")["approvals"]
        assert asked["status"] == "pending"
        scope = asked["scope"]
        return run, {"head": scope["head"], "manifest_sha256": scope["manifest_sha256"]}

    def ended(self) -> str:
        """Return a run that was cancelled before anything was done for it."""
        run = self.submitted()
        with self.deciding():
            answer = self.as_("operator").post(f"/v1/runs/{run}/cancel", json={})
        assert answer.json()["stage"] == "done", answer.text
        assert self.get(f"/v1/runs/{run}")["status"] == "ended"
        return run

    def get(self, path: str, **params: Any) -> Any:
        """Return what an operator reads there."""
        answer = self.as_("operator").get(path, params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    @contextlib.contextmanager
    def deciding(self) -> Iterator[None]:
        """Decide messages as a worker does, for the length of the block."""
        over = threading.Event()

        def decide() -> None:
            while not over.is_set():
                inbox.decide_some(self.line.database, self.line.definitions)
                over.wait(0.02)

        thread = threading.Thread(target=decide, name="decider")
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


@contextlib.contextmanager
def serving(dsn: str, folder: Path, policy: JsonObject | None = None) -> Iterator[Served]:
    """Yield the API with a principal for each role."""
    store = ArtifactStore(folder / "artifacts")
    line = Line(dsn, definitions(), scripted_registry(store))
    with line.database.commit("principals") as tx:
        for name, roles in ROLES.items():
            principals.put(tx, name, roles, TOKENS[name])
    with listening(dsn, store, policy or {}) as url:
        served = Served(url, line, folder / "artifacts")
        try:
            yield served
        finally:
            served.close()


@contextlib.contextmanager
def listening(dsn: str, store: ArtifactStore, policy: JsonObject) -> Iterator[str]:
    """Yield the address of the API over a database, which may have no schema or not be there."""
    database = Database(dsn)
    app = create_app(database, definitions(), policy, store.checked_path)
    config = uvicorn.Config(app, "127.0.0.1", 0, log_config=None, ws="none", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, name="api")
    thread.start()
    try:
        wait_for(lambda: server.started or not thread.is_alive(), 20, "the API to listen")
        [listener] = server.servers[0].sockets
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        database.close()
