"""The commands of submitters, reviewers and operators against a running API."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from cli.main import app
from cli.render import run as run_shown
from orchestrator.engine.database import Database
from orchestrator.store import breakers, reads
from tests.cli.conftest import Command, Inside
from tests.support.database import Databases, render
from tests.support.scripted import HEAD
from tests.support.served import Served

WORDS = "# The last page is empty\n\n1. Open /items\n"
COMMANDS = (
    *("up", "demo", "doctor", "sandbox", "api", "worker", "reconciler", "db"),
    *("submit", "runs", "show", "watch", "approvals", "approve", "reject", "cancel"),
    *("terminate", "pause", "resume", "retry", "raise-budget", "correct", "receivers"),
)

SERVING = ("sandbox", "api", "worker", "reconciler")


@pytest.fixture
def report(tmp_path: Path) -> str:
    """Return the path of a report."""
    path = tmp_path / "report.md"
    path.write_text(WORDS)
    return str(path)


def test_help_lists_every_command(command: Command) -> None:
    done = command.run("--help")
    assert done.returncode == 0
    listed = {line.strip("│ ").split(" ")[0] for line in done.stdout.splitlines()}
    assert set(COMMANDS) <= listed


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str) -> None:
    done = CliRunner().invoke(app, [name, "--help"], prog_name="outlast")
    assert done.exit_code == 0
    assert f"Usage: outlast {name}" in done.stdout


@pytest.mark.parametrize(
    "name", [*(name for name in COMMANDS if name not in (*SERVING, "db")), "db upgrade"]
)
def test_every_command_that_ends_can_speak_json(name: str) -> None:
    done = CliRunner().invoke(app, [*name.split(), "--help"], prog_name="outlast")
    assert "--json" in done.stdout


def test_db_upgrade_says_at_which_revision_the_schema_stands(
    command: Command, databases: Databases
) -> None:
    with databases.lend("upgrade") as url:
        given = command.with_(OUTLAST_DSN=render(url))
        first = given.json("db", "upgrade")
        database = Database(render(url))
        with database.read() as tx:
            assert first == {"schema": reads.ping(tx)}
        database.close()
        assert given.json("db", "upgrade") == first
        assert f"at revision {first['schema']}" in given.run("db", "upgrade").stdout


def test_submit_starts_a_run_and_a_repeat_with_its_key_does_not(
    outlast: Command, served: Served, report: str
) -> None:
    submitter = outlast.as_("submitter")
    argv = ("submit", report, "--repository", "demo/shop", "--base", "stable", "--key", "k1")
    first = submitter.json(*argv)
    assert submitter.json(*argv) == first
    shown = served.get(first["href"])["state"]["report"]
    assert (shown["title"], shown["base"]) == ("The last page is empty", "stable")
    assert shown["text"] == WORDS.strip()


def test_submit_says_how_to_follow_the_run(inside: Inside, report: str) -> None:
    said = inside.as_("submitter").run("submit", report, "--repository", "demo/shop")
    assert f"outlast watch {said.split()[1]}" in said


def test_runs_are_listed(outlast: Command, served: Served) -> None:
    run = served.submitted()
    operator = outlast.as_("operator")
    [newest] = operator.json("runs", "--limit", "1")["runs"]
    assert (newest["id"], newest["submitter"]) == (run, "submitter")


def test_show_prints_the_whole_run(outlast: Command, served: Served, inside: Inside) -> None:
    run, _ = served.awaiting()
    shown = outlast.as_("operator").json("show", run)
    assert shown["run"]["id"] == run
    assert shown["history"]["events"] == served.get(f"/v1/runs/{run}/history")["events"]
    for part in ("steps", "operations", "resources", "evidence", "approvals"):
        assert shown[part] == served.get(f"/v1/runs/{run}/{part}")
    people = inside.as_("operator").run("show", run)
    assert all(word in people for word in (run, "awaiting-review", "#12", "#13", "push-branch"))


def test_watch_prints_a_line_for_each_event_and_ends_with_the_run(
    outlast: Command, served: Served, inside: Inside
) -> None:
    run = served.ended()
    done = outlast.as_("operator").run("watch", run, "--json")
    assert done.returncode == 0
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert events == served.get(f"/v1/runs/{run}/history")["events"]
    assert "cancelled" in inside.as_("operator").run("watch", run)


def test_approvals_are_listed_and_approved(
    outlast: Command, served: Served, inside: Inside
) -> None:
    run, _ = served.awaiting()
    reviewer = outlast.as_("reviewer")
    rows = reviewer.json("approvals")["approvals"]
    assert rows == served.get("/v1/approvals")["approvals"]
    assert run in [row["workflow_id"] for row in rows]
    with served.deciding():
        said = reviewer.json("approve", run, "--yes", "--comment", "good")
    assert said == {"result": "approved", "ordinal": 1, "by": "reviewer"}
    assert "approvals --every" in inside.as_("reviewer").refusal("approve", run, "--yes")


def test_what_waits_and_what_was_decided_is_shown_to_people(served: Served, inside: Inside) -> None:
    run, decision = served.awaiting()
    inside.as_("reviewer")
    assert run in inside.run("runs")
    listed = inside.run("approvals")
    assert run in listed
    assert HEAD[:12] in listed
    assert "say --yes" in inside.refusal("approve", run)
    with served.deciding():
        served.as_("reviewer").post(f"/v1/runs/{run}/approvals/1/approve", json=decision)
    assert run not in inside.run("approvals")
    assert run in inside.run("approvals", "--every")


def test_a_rejection_is_shown_with_the_reviewers_own_words(
    outlast: Command, served: Served, inside: Inside
) -> None:
    """Brackets in them are no markup."""
    run, _ = served.awaiting()
    with served.deciding():
        said = outlast.as_("reviewer").json(
            "reject", run, "1", "--yes", "--comment", "see [/items] [bold]"
        )
    assert said["result"] == "rejected"
    served.line.work()
    shown = inside.as_("operator").run("show", run)
    assert "rejected by reviewer: see [/items] [bold]" in shown


def test_cancel_stops_a_run_and_is_too_late_after_its_end(
    outlast: Command, served: Served, inside: Inside
) -> None:
    run = served.submitted()
    operator = outlast.as_("operator")
    with served.deciding():
        said = operator.json("cancel", run, "--reason", "enough")
        assert said == {"result": "accepted", "stage": "done"}
        assert "message-too-late" in inside.as_("operator").refusal("cancel", run)


def test_what_is_not_known_is_shown_with_why_and_when_it_is_looked_at_again() -> None:
    seen = {"saw": "unreadable", "kind": "permanent", "reason": "/user: [status] 401"}
    row = {"activity": "create-ticket", "status": "ambiguous", "observations": [seen]}
    rows = [{**row, "observe_at": "2026-01-01T12:00:00+00:00"}]
    rows.append({"activity": "push-branch", "status": "confirmed", "observations": []})
    shown = {"status": "waiting", "phase": "ticketing", "outcome": None, "cleanup": "none"}
    said = io.StringIO()
    Console(file=said, width=200).print(
        run_shown({"id": "r", "reason": None, "state": {}, **shown}, [], rows)
    )
    for word in ("create-ticket", "unreadable permanent", "/user: [status] 401", "T12:00:00"):
        assert word in said.getvalue()
    assert "push-branch" not in said.getvalue()


def test_an_operator_holds_a_run_gives_it_more_and_ends_it(
    outlast: Command, served: Served, inside: Inside
) -> None:
    run, _ = served.awaiting()
    operator = outlast.as_("operator")
    with served.deciding():
        assert operator.json("pause", run)["result"] == "paused"
        assert served.get(f"/v1/runs/{run}")["paused_by"] == "operator"
        assert operator.json("resume", run)["result"] == "resumed"
        assert operator.json("raise-budget", run, "escalation", "2")["result"] == "accepted"
        assert "message-refused" in inside.as_("operator").refusal("retry", run)
        assert "--yes" in inside.as_("operator").refusal("terminate", run)
        said = operator.json("terminate", run, "--yes", "--reason", "no more")
    assert (said["result"], said["open_operations"]) == ("terminated", [])
    assert served.get(f"/v1/runs/{run}")["outcome"] == "terminated"


def test_a_reviewer_corrects(outlast: Command, served: Served) -> None:
    run, _ = served.awaiting()
    with served.deciding():
        said = outlast.as_("reviewer").json("correct", run, "keep the old name")
    assert (said["result"], said["phase"]) == ("accepted", "diagnosing")


def test_receivers_in_trouble_are_shown(outlast: Command, served: Served, inside: Inside) -> None:
    assert outlast.as_("operator").json("receivers") == {"receivers": []}
    with served.line.database.commit("trouble") as tx:
        breakers.failed(tx, "git", "503 from the host", asked_wait_s=60)
    assert "503 from the host" in inside.as_("operator").run("receivers")
