"""Everything that `outlast up` starts, and the hands of its users."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from cli.client import Client
from cli.outside import Outside
from cli.stack import Addresses, Stack
from orchestrator.clock import wait_for
from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.operations import run_tag
from orchestrator.engine.database import Database
from orchestrator.store import runs
from sandbox.host import tokens
from sandbox.owner.owner import Owner
from sandbox.reports import REPOSITORY, SampleReport

LONGEST_S = 400.0


@dataclass
class Whole:
    """A running stack."""

    home: Path
    owner: Owner
    where: Addresses
    clients: dict[str, Client] = field(default_factory=dict)

    @classmethod
    def start(cls, home: Path, owner: Owner, kept_cache: Path) -> Whole:
        """Start it with one worker more than there are cores, as reports run side by side."""
        (home / "cache").mkdir()
        (home / "cache" / "dependencies").symlink_to(kept_cache)
        return cls(home, owner, Stack(home, owner).start(workers=2))

    def client(self, role: str) -> Client:
        """Return a caller with this role."""
        if role not in self.clients:
            self.clients[role] = Client(self.where.api, self.where.tokens[role])
        return self.clients[role]

    def close(self) -> None:
        """Close the users' connections."""
        for client in self.clients.values():
            client.close()

    def submit(self, report: SampleReport, **more: Any) -> str:
        """Submit a sample report."""
        body = {"repository": REPOSITORY, "title": report.title, "text": report.text, **more}
        return str(self.client("submitter").post("/v1/reports", body)["run"])

    def show(self, run: str) -> JsonObject:
        """Return the run."""
        return self.client("operator").get(f"/v1/runs/{run}")

    def part(self, run: str, part: str) -> Any:
        """Return one part of a run: its steps, operations, resources, history or evidence."""
        answer = self.client("operator").get(f"/v1/runs/{run}/{part}")
        return next(iter(answer.values()))

    def wait_phase(self, run: str, phase: str) -> None:
        """Wait until the run is in a phase or has ended."""
        wait_for(
            lambda: self.show(run)["phase"] == phase or self.show(run)["status"] == "ended",
            LONGEST_S,
            f"{run} to be in {phase}",
            every=0.3,
        )

    def wait_ended(self, run: str) -> JsonObject:
        """Wait for the end, approving nothing, and return the run."""
        wait_for(
            lambda: self.show(run)["status"] in ("ended", "set-aside"),
            LONGEST_S,
            f"{run} to end",
            every=0.3,
        )
        return self.show(run)

    def end_approving(self, run: str) -> JsonObject:
        """Approve whatever is asked for until the run has ended, and return it."""

        def over() -> bool:
            for approval in self.pending(run):
                self.decide(run, approval, "approve")
            return bool(self.show(run)["status"] in ("ended", "set-aside"))

        wait_for(over, LONGEST_S, f"{run} to end", every=0.3)
        return self.show(run)

    def pending(self, run: str) -> list[JsonObject]:
        """Return what the run asks for."""
        return [each for each in self.part(run, "approvals") if each["status"] == "pending"]

    def decide(self, run: str, approval: JsonObject, word: str) -> JsonObject:
        """Approve or reject exactly what the approval shows."""
        scope = approval["scope"]
        body = {"head": scope["head"], "manifest_sha256": scope["manifest_sha256"]}
        path = f"/v1/runs/{run}/approvals/{approval['ordinal']}/{word}"
        return self.client("reviewer").post(path, body)

    def outside(self) -> Outside:
        """Return the outside as its administrator sees it."""
        token = self.where.host_tokens.of(tokens.ADMIN)
        return Outside(self.where.host, token, REPOSITORY, self.home)

    def tag(self, run: str) -> str:
        """Return the run's tag."""
        database = Database(self.where.dsn)
        with database.read() as tx:
            tag = run_tag(runs.installation_id(tx), run)
        database.close()
        return tag

    def move(self, branch: str, path: str, content: str) -> str:
        """Have somebody else commit onto a branch; return its new revision."""
        answer = self.admin(
            "POST",
            "/outlast/move",
            {"repository": REPOSITORY, "branch": branch, "path": path, "content": content},
        )
        return str(answer["revision"])

    def admin(self, method: str, path: str, body: JsonObject | None = None, **params: str) -> Any:
        """Use the host's switchboard."""
        answer = httpx.request(
            method,
            f"{self.where.host}{path}",
            json=body,
            params=params,
            headers={"Authorization": f"Bearer {self.where.host_tokens.of(tokens.ADMIN)}"},
            timeout=60.0,
            trust_env=False,
        )
        answer.raise_for_status()
        return answer.json() if answer.content else None

    @contextlib.contextmanager
    def fault(self, order: JsonObject) -> Iterator[str]:
        """Set a fault for the length of the block."""
        fault = str(self.admin("POST", "/outlast/faults", order)["id"])
        try:
            yield fault
        finally:
            self.admin("DELETE", f"/outlast/faults/{fault}")
