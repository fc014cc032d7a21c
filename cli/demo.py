"""`outlast demo`: the main job with two killed workers, proved from the outside. Ends by itself."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer
from rich.live import Live
from rich.table import Table

from cli import render
from cli.client import Client
from cli.commands import look
from cli.demo_outside import Fact, examine, keep_pictures
from cli.outside import Outside
from cli.settings import Settings
from cli.stack import Addresses, Stack
from orchestrator.clock import monotonic, wait_for
from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.failures import OutlastError
from orchestrator.domain.operations import run_tag
from orchestrator.engine.database import Database
from orchestrator.store import runs
from sandbox.acceptance.check import FOLDER
from sandbox.host import tokens
from sandbox.owner.owner import Owner
from sandbox.reports import REPOSITORY, SampleReport, get_report

LONGEST_S = 900.0
ACCEPTANCE = FOLDER


class DemoFailed(OutlastError):
    """Something that the demonstration promises did not hold."""


def demo(
    report: Annotated[str, typer.Option(help="A sample report by name.")] = "total",
    keys: Annotated[bool, typer.Option(help="Host with idempotency keys, or as GitHub is.")] = True,
    json: Annotated[bool, typer.Option("--json", help="Print the facts as JSON.")] = False,
) -> None:
    """Run the main job, kill two workers in it, and read the outside afterwards."""
    began = monotonic()
    sample = get_report(report)
    home = Settings.read().home / "demo"
    _fresh(home)
    with Owner() as owner, owner.ending_on_signals():
        where = Stack(home, owner, keys=keys, hidden=ACCEPTANCE).start(workers=2)
        render.errors.print(f"everything is up after {monotonic() - began:.0f} s")
        show = _Show(owner, where, home, sample)
        facts = show.run()
    _tell(facts, sample, home, monotonic() - began, json)
    if not all(fact.holds for fact in facts):
        raise typer.Exit(1)


@dataclass
class _Show:
    owner: Owner
    where: Addresses
    home: Path
    sample: SampleReport

    def run(self) -> list[Fact]:
        """Play it and return what holds."""
        operator = Client(self.where.api, self.where.tokens["operator"])
        held = self._fault({"action": "hold_after", "method": "POST", "path": "/issues$"})
        run = self._submit()
        pause = threading.Event()
        facts = [self._unseen()]
        with Live(look(operator, run), console=render.errors, refresh_per_second=4) as live:
            watcher = threading.Thread(
                target=_keep_live, args=(live, operator, run, pause), daemon=True
            )
            watcher.start()
            try:
                facts += self._kill_after_the_ticket(operator, run, held)
                self._until_verifying(operator, run)
                facts += self._kill_in_verification(operator, run)
                self._review(operator, run)
                self._until_ended(operator, run)
            finally:
                pause.set()
                watcher.join()
        shown = operator.get(f"/v1/runs/{run}")
        keep_pictures(operator, run, self.home / "evidence")
        outside = Outside(
            self.where.host, self.where.host_tokens.of(tokens.ADMIN), REPOSITORY, self.home
        )
        return facts + examine(outside, self.sample, shown, self._tag(run), self.home)

    def _unseen(self) -> Fact:
        """Look at the acceptance checks' folder as each worker sees it."""
        pids = [each.pid for each in self.owner.reports() if each.name.startswith("worker-")]
        seen = [
            entry.name for pid in pids for entry in Path(f"/proc/{pid}/root{ACCEPTANCE}").iterdir()
        ]
        return Fact("workers cannot read the acceptance checks", not seen, f"{len(seen)} files")

    def _submit(self) -> str:
        client = Client(self.where.api, self.where.tokens["submitter"])
        body = {
            "repository": REPOSITORY,
            "title": self.sample.title,
            "text": self.sample.text,
        }
        return str(client.post("/v1/reports", body, "demo")["run"])

    def _kill_after_the_ticket(self, operator: Client, run: str, fault: str) -> list[Fact]:
        """The ticket stands at the host, its answer is held, and its worker is killed."""
        self._host("GET", f"/outlast/faults/{fault}", wait="fired", seconds="60")
        step = self._step(operator, run, "create-ticket")
        name = self._kill(step)
        [operation] = [
            each
            for each in operator.get(f"/v1/runs/{run}/operations")["operations"]
            if each["activity"] == "create-ticket"
        ]
        unrecorded = operation["status"] == "sent" and operation["reference"] is None
        there = len(self._outside().tickets(self._tag(run)))
        self._host("POST", f"/outlast/faults/{fault}/release", json={"how": "drop"})
        wait_for(
            lambda: self._step(operator, run, "create-ticket")["status"] == "succeeded",
            120,
            "the ticket to be settled by somebody else",
            every=0.3,
        )
        after = self._step(operator, run, "create-ticket")
        return [
            self._killed(name, "after the ticket's commit"),
            Fact("ticket at the host, unrecorded", there == 1 and unrecorded, f"{there} there"),
            _taken_over(step, after, "the ticket"),
        ]

    def _until_verifying(self, operator: Client, run: str) -> None:
        """Wait for a verification that has reported progress, or for another ending."""

        def is_there() -> bool:
            if self._is_over(operator, run):
                return True
            steps = operator.get(f"/v1/runs/{run}/steps")["steps"]
            return any(
                step["name"] == "verify-candidate"
                and step["status"] == "leased"
                and "run" in (step["substate"] or {})
                for step in steps
            )

        wait_for(is_there, LONGEST_S, "a verification", every=0.1)

    def _kill_in_verification(self, operator: Client, run: str) -> list[Fact]:
        if self._is_over(operator, run):
            return []
        step = self._step(operator, run, "verify-candidate")
        name = self._kill(step)

        def moved() -> bool:
            now = self._step(operator, run, "verify-candidate", step["ordinal"])
            return bool(now["status"] == "succeeded")

        wait_for(moved, 300, "the verification by another worker", every=0.3)
        after = self._step(operator, run, "verify-candidate", step["ordinal"])
        return [
            self._killed(name, "in the middle of verification"),
            _taken_over(step, after, "the verification"),
        ]

    def _review(self, operator: Client, run: str) -> None:
        """Approve as the demo reviewer exactly what is shown, each time it is asked."""
        reviewer = Client(self.where.api, self.where.tokens["reviewer"])

        def asked_or_over() -> bool:
            return bool(self._pending(reviewer, run)) or self._is_over(operator, run)

        wait_for(asked_or_over, LONGEST_S, "a review to be asked for", every=0.3)
        for approval in self._pending(reviewer, run):
            scope = approval["scope"]
            body = {"head": scope["head"], "manifest_sha256": scope["manifest_sha256"]}
            reviewer.post(f"/v1/runs/{run}/approvals/{approval['ordinal']}/approve", body)

    def _until_ended(self, operator: Client, run: str) -> None:
        wait_for(
            lambda: operator.get(f"/v1/runs/{run}")["status"] in ("ended", "set-aside"),
            LONGEST_S,
            "the run to end",
            every=0.3,
        )

    def _is_over(self, operator: Client, run: str) -> bool:
        shown = operator.get(f"/v1/runs/{run}")
        return shown["status"] in ("ended", "set-aside") or shown["phase"] == "closing"

    def _pending(self, reviewer: Client, run: str) -> list[JsonObject]:
        found = reviewer.get(f"/v1/runs/{run}/approvals")["approvals"]
        return [each for each in found if each["status"] == "pending"]

    def _step(
        self, operator: Client, run: str, name: str, ordinal: int | None = None
    ) -> JsonObject:
        steps = operator.get(f"/v1/runs/{run}/steps")["steps"]
        found = [
            step for step in steps if step["name"] == name and ordinal in (None, step["ordinal"])
        ]
        return dict(found[-1])

    def _kill(self, step: JsonObject) -> str:
        """Have another process send the working worker SIGKILL; return its name."""
        pid = int(step["attempt_records"][-1]["worker"].rsplit("-", 2)[1])
        [name] = [each.name for each in self.owner.reports() if each.pid == pid]
        subprocess.run(["kill", "-KILL", str(pid)], check=True)
        wait_for(lambda: self.owner.report(name).restarts > 0, 20, f"{name} to be started again")
        return name

    def _killed(self, name: str, when: str) -> Fact:
        status = self.owner.report(name).last_status
        is_killed = status is not None and os.WIFSIGNALED(status)
        number = os.WTERMSIG(status) if status is not None and is_killed else None
        holds = number == signal.SIGKILL
        return Fact(f"{name} killed {when}", holds, f"wait status {number}")

    def _fault(self, order: JsonObject) -> str:
        return str(self._host("POST", "/outlast/faults", json=order)["id"])

    def _host(self, method: str, path: str, json: Any = None, **params: str) -> Any:
        answer = httpx.request(
            method,
            f"{self.where.host}{path}",
            params=params,
            json=json,
            headers={"Authorization": f"Bearer {self.where.host_tokens.of(tokens.ADMIN)}"},
            timeout=90.0,
            trust_env=False,
        )
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def _outside(self) -> Outside:
        token = self.where.host_tokens.of(tokens.ADMIN)
        return Outside(self.where.host, token, REPOSITORY, self.home)

    def _tag(self, run: str) -> str:
        database = Database(self.where.dsn)
        with database.read() as tx:
            tag = run_tag(runs.installation_id(tx), run)
        database.close()
        return tag


def _taken_over(before: JsonObject, after: JsonObject, what: str) -> Fact:
    higher = after["generation"] > before["generation"]
    said = f"generation {before['generation']} -> {after['generation']}"
    return Fact(f"{what} taken over by another process", higher, said)


def _keep_live(live: Live, operator: Client, run: str, pause: threading.Event) -> None:
    while not pause.wait(0.4):
        try:
            live.update(look(operator, run))
        except (OutlastError, httpx.HTTPError):
            continue
    live.update(look(operator, run))


def _fresh(home: Path) -> None:
    """Begin on an empty folder; what was installed once is kept beside it."""
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    cache = home.parent / "cache" / "dependencies"
    cache.mkdir(parents=True, exist_ok=True)
    (home / "cache").mkdir()
    (home / "cache" / "dependencies").symlink_to(cache)
    browsers = home.parent / "browsers"
    if browsers.exists():
        (home / "browsers").symlink_to(browsers)


def _tell(facts: list[Fact], sample: SampleReport, home: Path, seconds: float, json: bool) -> None:
    if json:
        rows = [vars(fact) for fact in facts]
        render.as_json({"report": sample.name, "seconds": round(seconds, 1), "facts": rows})
        return
    table = Table("what was promised", "holds", "what was read", title=f"report: {sample.name}")
    for fact in facts:
        table.add_row(fact.what, "[green]yes[/]" if fact.holds else "[red]NO[/]", fact.read)
    render.console.print(table)
    render.console.print(f"evidence: {home / 'evidence'}")
    render.console.print(f"took {seconds:.0f} s")
