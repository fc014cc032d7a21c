"""What people see in the terminal: runs, one run's steps and timeline, approvals."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from datetime import datetime

from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from orchestrator.contracts.payload import JsonObject

COLOURS = {
    "succeeded": "green",
    "confirmed": "green",
    "merged": "green",
    "clean": "green",
    "leased": "cyan",
    "running": "cyan",
    "due": "blue",
    "waiting": "yellow",
    "pending": "yellow",
    "unsettled": "magenta",
    "ambiguous": "magenta",
    "sent": "magenta",
    "failed": "red",
    "refused": "red",
    "lost": "red",
    "incomplete": "red",
    "cancelled": "red",
}
console = Console()
errors = Console(stderr=True, soft_wrap=True)


def as_json(value: object) -> None:
    """Print a value as JSON, whole, for programs."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def as_json_line(value: object) -> None:
    """Print a value as one line of JSON, at once: a program may wait for it."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def coloured(word: object) -> Text:
    """Return a state's word in its colour."""
    return Text(str(word or "-"), style=COLOURS.get(str(word), ""))


def receivers(rows: Sequence[JsonObject]) -> Table:
    """Return receivers with their breakers."""
    table = Table("receiver", "breaker", "failures", "open until", "last reason")
    for row in rows:
        state = "open" if row["is_open"] else "on trial"
        table.add_row(
            row["receiver"], state, str(row["failures"]), row["open_until"], row["reason"]
        )
    return table


def runs(rows: Sequence[JsonObject]) -> Table:
    """Return the list of runs."""
    table = Table("run", "status", "phase", "outcome", "cleanup", "submitted by", "updated")
    for row in rows:
        table.add_row(
            row["id"],
            coloured(row["status"]),
            row["phase"],
            coloured(row["outcome"]),
            coloured(row["cleanup"]),
            row["submitter"],
            row["updated_at"][:19],
        )
    return table


def steps(rows: Sequence[JsonObject]) -> Table:
    """Return a run's steps as a timeline: each with its attempts, one mark an attempt."""
    table = Table("step", "status", "attempts", "generation", "worker", "seconds")
    for row in rows:
        attempts = row["attempt_records"]
        marks = Text(" ").join(coloured(each["outcome"]) for each in attempts)
        table.add_row(
            f"{row['name']} {row['ordinal']}" if row["ordinal"] > 1 else row["name"],
            coloured(row["status"]),
            marks,
            str(row["generation"]),
            attempts[-1]["worker"] if attempts else "-",
            _seconds(attempts),
        )
    return table


def run(
    shown: JsonObject, step_rows: Sequence[JsonObject], operation_rows: Sequence[JsonObject]
) -> Group:
    """Return one run: its head, its steps, and what was sent and is still not known."""
    state = shown["state"]
    head = Table.grid(padding=(0, 2))
    facts = {
        "status": coloured(shown["status"]),
        "phase": shown["phase"],
        "outcome": coloured(shown["outcome"]),
        "cleanup": coloured(shown["cleanup"]),
        "reason": Text(shown["reason"] or "-"),  # people's words: brackets are no markup
        "revision": state.get("target_revision") or "-",
        "ticket": _number(state.get("ticket"), "number"),
        "pull request": _number(state.get("publication"), "pull_request"),
    }
    for name, value in facts.items():
        head.add_row(Text(name, style="bold"), value)
    open_rows = [row for row in operation_rows if row["status"] == "ambiguous"]
    not_known = (ambiguous(open_rows),) if open_rows else ()
    return Group(Panel(head, title=shown["id"]), steps(step_rows), *not_known)


def ambiguous(rows: Sequence[JsonObject]) -> Table:
    """Return the operations whose outcome is not known: what was last seen, and the next look."""
    table = Table("not known", "last seen", "why", "next look")
    for row in rows:
        last = row["observations"][-1] if row["observations"] else {}
        saw = f"{last.get('saw', 'nothing yet')} {last.get('kind', '')}".strip()
        next_look = (row["observe_at"] or "now")[:19]
        table.add_row(row["activity"], saw, Text(last.get("reason", "-")), next_look)
    return table


def approvals(rows: Sequence[JsonObject]) -> Table:
    """Return requests for a decision with their exact scope."""
    table = Table("run", "no.", "status", "action", "head", "base", "evidence", "expires")
    for row in rows:
        scope = row["scope"]
        table.add_row(
            row["workflow_id"],
            str(row["ordinal"]),
            coloured(row["status"]),
            f"{scope['action']} #{scope['pull_request']}",
            scope["head"][:12],
            f"{scope['base']} {scope['base_revision'][:12]}",
            scope["manifest_sha256"][:19],
            row["expires_at"][:19],
        )
    return table


def _number(fact: object, name: str) -> str:
    """Return the host's number of a thing, from a checkpoint of any definition."""
    number = fact.get(name) if isinstance(fact, dict) else None
    return f"#{number}" if number else "-"


def _seconds(attempts: Sequence[JsonObject]) -> str:
    if not attempts or not attempts[-1]["ended_at"]:
        return "..."
    began = datetime.fromisoformat(attempts[0]["started_at"])
    return f"{(datetime.fromisoformat(attempts[-1]['ended_at']) - began).total_seconds():.1f}"
