"""The commands of submitters, reviewers and operators: thin callers of the API."""

from __future__ import annotations

import secrets
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer
from rich.console import Group
from rich.live import Live

from cli import render
from cli.client import Client
from cli.settings import NotConfigured, Settings
from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.budgets import Budget

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Run = Annotated[str, typer.Argument(help="The run's id.")]
Number = Annotated[int | None, typer.Argument(help="The approval's number; default the pending.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask; needed where nobody can answer.")]


def submit(
    report: Annotated[Path, typer.Argument(help="A report in plain words; its first line titles.")],
    repository: Annotated[str, typer.Option(help="owner/name")],
    base: str = "main",
    key: Annotated[str | None, typer.Option(help="Repeat with the same key, get the same.")] = None,
    json: Json = False,
) -> None:
    """Submit a bug report; a run starts."""
    try:
        text = report.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        reason = f"{report} cannot be read ({type(fault).__name__}); name a text file in UTF-8"
        raise NotConfigured(reason) from fault
    lines = text.strip().splitlines()
    body = {
        "repository": repository,
        "base": base,
        "title": lines[0].lstrip("# ").strip()[:200] if lines else "",
        "text": text,
    }
    with Client.of(Settings.read(), "submitter") as client:
        said = client.post("/v1/reports", body, key or secrets.token_urlsafe(12))
    _show(said, json, f"run [bold]{said['run']}[/] started; see: outlast watch {said['run']}")


def runs(status: str | None = None, limit: int = 50, json: Json = False) -> None:
    """List runs, newest first."""
    params = {"limit": limit} | ({"status": status} if status else {})
    with Client.of(Settings.read(), "operator") as client:
        found = client.get("/v1/runs", **params)
    if json:
        render.as_json(found)
    else:
        render.console.print(render.runs(found["runs"]))


def show(run: Run, json: Json = False) -> None:
    """Show a run: checkpoint, steps, operations, resources, evidence, history."""
    with Client.of(Settings.read(), "operator") as client:
        if json:
            render.as_json(_whole(client, run))
        else:
            render.console.print(look(client, run))


def watch(run: Run, json: Json = False) -> None:
    """Follow a run live until it ends; with --json, print its events as they are recorded."""
    pause = threading.Event()
    with Client.of(Settings.read(), "operator") as client:
        if json:
            _follow_events(client, run, pause)
        else:
            _follow_steps(client, run, pause)


def approvals(json: Json = False, every: bool = False) -> None:
    """List what waits for a decision; --every lists decided ones too."""
    params = {"status": "" if every else "pending"}
    with Client.of(Settings.read(), "reviewer") as client:
        found = client.get("/v1/approvals", **params)
    if json:
        render.as_json(found)
    else:
        render.console.print(render.approvals(found["approvals"]))


def approve(
    run: Run, number: Number = None, comment: str = "", yes: Yes = False, json: Json = False
) -> None:
    """Approve exactly what is shown: head, base, evidence, policy."""
    _decide("approve", run, number, comment, yes, json)


def reject(
    run: Run, number: Number = None, comment: str = "", yes: Yes = False, json: Json = False
) -> None:
    """Reject what is shown; the run closes its draft and ends."""
    _decide("reject", run, number, comment, yes, json)


def cancel(run: Run, reason: str = "", json: Json = False) -> None:
    """Stop a run coherently: end its processes, clean what it owns, list the rest."""
    with Client.of(Settings.read(), "operator") as client:
        said = client.post(f"{_path(run)}/cancel", {"reason": reason})
    _show(said, json, f"{run}: {said['result']} {said.get('stage', '')}")


def terminate(run: Run, reason: str = "", yes: Yes = False, json: Json = False) -> None:
    """End a run at once; what stays uncertain is listed and looked at further."""
    if not yes:
        _ask(f"terminate {run} now, without cleaning?")
    _tell(run, "terminate", {"reason": reason}, json)


def pause(run: Run, json: Json = False) -> None:
    """Hold a run: what is running ends, nothing further starts."""
    _tell(run, "pause", {}, json)


def resume(run: Run, json: Json = False) -> None:
    """Let a paused run go on, or one that was set aside."""
    _tell(run, "resume", {}, json)


def retry(
    run: Run,
    step: Annotated[str, typer.Option(help="End this step's back-off.")] = "",
    json: Json = False,
) -> None:
    """Have what failed tried again, or end a step's back-off."""
    _tell(run, "retry", {"step": step}, json)


def raise_budget(
    run: Run,
    budget: Annotated[Budget, typer.Argument(help="Which budget.")],
    amount: Annotated[int, typer.Argument(min=1, help="How much more; seconds of workflow-time.")],
    json: Json = False,
) -> None:
    """Give a run more of a budget; one that ended for want of it goes on where it can."""
    _tell(run, f"budgets/{budget}", {"amount": amount}, json)


def correct(
    run: Run,
    text: Annotated[str, typer.Argument(help="What is wrong with what is shown.")],
    json: Json = False,
) -> None:
    """Say what is wrong with what waits for approval; work goes on from there."""
    _tell(run, "correct", {"text": text}, json, role="reviewer")


def receivers(json: Json = False) -> None:
    """List receivers that have failed since they last answered, and which are left alone."""
    with Client.of(Settings.read(), "operator") as client:
        found = client.get("/v1/receivers")
    if json:
        render.as_json(found)
    else:
        render.console.print(render.receivers(found["receivers"]))


def look(client: Client, run: str) -> Group:
    """Return the picture of a run as it stands now."""
    rows = client.get(f"{_path(run)}/steps")["steps"]
    sent = client.get(f"{_path(run)}/operations")["operations"]
    return render.run(client.get(_path(run)), rows, sent)


def _decide(word: str, run: str, number: int | None, comment: str, yes: bool, json: bool) -> None:
    with Client.of(Settings.read(), "reviewer") as client:
        asked = _asked(client, run, number)
        if not yes:
            _confirm(word, asked)
        scope = asked["scope"]
        body = {
            "head": scope["head"],
            "manifest_sha256": scope["manifest_sha256"],
            "comment": comment,
        }
        said = client.post(f"{_path(run)}/approvals/{asked['ordinal']}/{word}", body)
    _show(said, json, f"{run}: {said['result']}")


def _tell(run: str, path: str, body: JsonObject, json: bool, role: str = "operator") -> None:
    with Client.of(Settings.read(), role) as client:
        said = client.post(f"{_path(run)}/{path}", body)
    rest = ", ".join(f"{name} {value}" for name, value in said.items() if name != "result")
    _show(said, json, f"{run}: {said['result']} {rest}".rstrip())


def _ask(question: str) -> None:
    if not sys.stdin.isatty():
        raise NotConfigured("nobody is here to ask; say --yes")
    typer.confirm(question, abort=True, err=True)


def _confirm(word: str, asked: JsonObject) -> None:
    """Show what is decided and ask, beside the output that a program may read."""
    if not sys.stdin.isatty():
        raise NotConfigured("nobody is here to ask; say --yes")
    render.errors.print(render.approvals([asked]))
    typer.confirm(f"{word} exactly this?", abort=True, err=True)


def _asked(client: Client, run: str, number: int | None) -> JsonObject:
    found = client.get(f"{_path(run)}/approvals")["approvals"]
    for row in found:
        if row["ordinal"] == number or (number is None and row["status"] == "pending"):
            return dict(row)
    lacks = "pending approval" if number is None else f"approval {number}"
    raise NotConfigured(f"run {run} has no {lacks}; see `outlast approvals --every`")


def _whole(client: Client, run: str) -> JsonObject:
    parts = ("steps", "operations", "resources", "evidence", "approvals")
    whole = {part: client.get(f"{_path(run)}/{part}") for part in parts}
    events = list(_events(client, run, after=0))
    return {"run": client.get(_path(run)), **whole, "history": {"events": events}}


def _follow_steps(client: Client, run: str, pause: threading.Event) -> None:
    with Live(look(client, run), console=render.console, refresh_per_second=4) as live:
        while client.get(_path(run))["status"] != "ended":
            live.update(look(client, run))
            pause.wait(0.5)
        live.update(look(client, run))


def _follow_events(client: Client, run: str, pause: threading.Event) -> None:
    position = 0
    while True:
        ended = client.get(_path(run))["status"] == "ended"
        for event in _events(client, run, position):
            render.as_json_line(event)
            position = event["position"]
        if ended:
            return
        pause.wait(0.5)


def _events(client: Client, run: str, after: int) -> Iterator[JsonObject]:
    """Yield every event after a position, page by page."""
    while page := client.get(f"{_path(run)}/history", after=after)["events"]:
        yield from page
        after = page[-1]["position"]


def _path(run: str) -> str:
    """Return the run's path; whatever was typed stays one part of it."""
    return f"/v1/runs/{quote(run, safe='')}"


def _show(said: JsonObject, json: bool, words: str) -> None:
    if json:
        render.as_json(said)
    else:
        render.console.print(words)
