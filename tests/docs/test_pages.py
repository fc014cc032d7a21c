"""The pages say what is there: links resolve, commands exist, tables match the code."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from activities.installation import build
from docs.generate import states_page
from orchestrator.domain.operations import Guarantee
from orchestrator.store import statements
from tests.support.database import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\(([^)#:\s]+)\)")
COMMAND = re.compile(r"(?:^|[`\s/])outlast ([a-z-]+)", re.M)
TARGET = re.compile(r"(?:^\s+|`)make ([a-z-]+)", re.M)


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_every_relative_link_of_a_page_leads_somewhere(page: Path) -> None:
    missing = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert missing == []


def test_every_command_that_a_page_names_exists() -> None:
    named = {name for page in PAGES for name in COMMAND.findall(page.read_text())}
    assert {"api", "approve", "doctor"} <= named
    argv = [sys.executable, "-m", "cli.main", "--help"]
    said = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    listed = set(re.findall(r"[a-z-]+", said))
    assert named - listed == set()


def test_every_target_that_a_page_names_is_in_the_makefile() -> None:
    named = {name for page in PAGES for name in TARGET.findall(page.read_text())}
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    assert {"demo", "test"} <= named
    assert named - targets == set()


def test_every_file_that_the_index_names_exists() -> None:
    text = (ROOT / "docs" / "index.md").read_text()
    named = re.findall(r"`((?:orchestrator|activities|reconciler)/[\w/.]+)`", text)
    assert len(named) >= 8
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_drawn_machines_are_those_of_the_code() -> None:
    assert (ROOT / "docs" / "states.md").read_text() == states_page(), "run `make docs`"


def test_the_index_lists_exactly_the_locking_statements() -> None:
    text = (ROOT / "docs" / "index.md").read_text()
    assert set(re.findall(r"`(\w+)\.sql`", text)) == set(statements.names())


def test_the_boundaries_are_exactly_the_registered_mutations_and_their_guarantees(
    tmp_path: Path,
) -> None:
    text = (ROOT / "docs" / "failure-boundaries.md").read_text()
    rows = dict(re.findall(r"^\| `([\w-]+)` \| [^|]+ \| ([\w-]+)", text, re.M))
    registry = build(tmp_path, "http://127.0.0.1:1")
    assert set(rows) == set(registry.mutations)
    for name, mutation in registry.mutations.items():
        declared = getattr(type(mutation), "guarantee", None)
        if isinstance(declared, Guarantee):
            assert rows[name] == declared


def test_the_operators_are_those_that_the_rates_were_measured_with() -> None:
    text = (ROOT / "docs" / "repairer.md").read_text()
    stated = re.findall(r"([0-9a-f]{64})  (activities/[\w/.]+)", text)
    assert len(stated) == 3
    for sha256, path in stated:
        assert hashlib.sha256((ROOT / path).read_bytes()).hexdigest() == sha256
