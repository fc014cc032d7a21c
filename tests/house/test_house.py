"""The house rules hold for every file that would be committed; each rule is shown able to fail."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support import house
from tests.support.house import ROOT, Source, python_sources, tracked_sources
from tests.support.process_starts import STARTED_INSIDE_A_CROSSING, unsealed_starts

Rule = Callable[[Source], Iterator[str]]


@pytest.fixture(scope="module")
def sources() -> list[Source]:
    """Return every text file of the project."""
    return tracked_sources()


def broken(rule: Rule, sources: list[Source]) -> list[str]:
    """Return what breaks a rule."""
    return [found for source in sources for found in rule(source)]


@pytest.mark.parametrize(
    "rule",
    [house.long_functions, house.long_file, house.banned_module, house.late_imports],
    ids=lambda rule: rule.__name__,
)
def test_every_python_file_keeps_the_rule(rule: Rule, sources: list[Source]) -> None:
    python = python_sources(sources)
    assert len(python) > 50
    assert broken(rule, python) == []


@pytest.mark.parametrize(
    "rule", [house.unfinished_words, house.places], ids=lambda rule: rule.__name__
)
def test_every_tracked_file_keeps_the_rule(rule: Rule, sources: list[Source]) -> None:
    assert broken(rule, sources) == []


def test_no_test_sleeps(sources: list[Source]) -> None:
    tests = [source for source in python_sources(sources) if source.name.startswith("tests/")]
    assert broken(house.sleeps, tests) == []


def test_every_locking_statement_says_its_transition_and_its_guard(sources: list[Source]) -> None:
    folder = "orchestrator/store/sql/"
    statements = [source for source in sources if source.name.startswith(folder)]
    assert len(statements) >= 10
    assert broken(house.unguarded_statement, statements) == []


def test_every_process_of_an_activity_starts_inside_a_crossing(sources: list[Source]) -> None:
    work = [source for source in python_sources(sources) if source.name.startswith("activities/")]
    assert len(work) > 30
    assert broken(unsealed_starts, work) == []
    assert {source.name for source in work} >= STARTED_INSIDE_A_CROSSING


def test_alembics_folder_is_no_package_and_tests_are_none(sources: list[Source]) -> None:
    packages = [source.name for source in sources if source.name.endswith("__init__.py")]
    assert [name for name in packages if name.startswith(("alembic/", "tests/"))] == []


DRIVER = "from playwright.sync_api import sync_playwright\n"
CROSSING = "with seam.crossing('call', 'a'):\n"
DOCTORED: list[tuple[Rule, str, str]] = [
    (house.long_functions, "a/b.py", "def f():\n" + "    x = 1\n" * 71),
    (house.long_file, "a/b.py", "x = 1\n" * 501),
    (house.banned_module, "orchestrator/utils.py", ""),
    (house.banned_module, "api/common/words.py", ""),
    (house.late_imports, "a/b.py", "def f():\n    import json\n"),
    (house.late_imports, "a/b.py", "class A:\n    def f(self):\n        from os import path\n"),
    (house.unfinished_words, "a/b.md", "This part is a " + "TO" + "DO"),
    (house.places, "a/b.md", "fetched from pypi" + ".org/simple"),
    (house.places, "a/b.sh", "cd /" + "root/project"),
    (house.sleeps, "tests/a.py", "import time\ntime.sleep(1)\n"),
    (house.sleeps, "tests/a.py", "from time import sleep as rest\nrest(1)\n"),
    (house.unguarded_statement, "a.sql", "-- Step due -> leased.\nSELECT 1\n"),
    (house.unguarded_statement, "a.sql", "-- Guard: due.\nSELECT 1\n"),
    (house.unguarded_statement, "a.sql", "SELECT 1\n-- Step due -> leased. Guard: due.\n"),
    (unsealed_starts, "activities/a.py", "import subprocess\nsubprocess.run(['pip'])\n"),
    (unsealed_starts, "activities/a.py", "from subprocess import Popen as start\nstart(['pip'])\n"),
    (unsealed_starts, "activities/a.py", "import subprocess as s\nwith a:\n    s.Popen(['pip'])\n"),
    (unsealed_starts, "activities/a.py", "import os\nos.posix_spawn('a', ['a'], {})\n"),
    (unsealed_starts, "activities/a.py", "def f(driver):\n    driver.chromium.launch()\n"),
    (unsealed_starts, "activities/a.py", f"{DRIVER}sync_playwright().start()\n"),
    (unsealed_starts, "activities/a.py", f"{CROSSING}    late = lambda: os.fork()\n"),
    (unsealed_starts, "activities/a.py", "with seam.crossing('commit', 'a'):\n    os.fork()\n"),
]


@pytest.mark.parametrize(("rule", "name", "text"), DOCTORED)
def test_a_doctored_file_turns_its_rule_red(rule: Rule, name: str, text: str) -> None:
    assert list(rule(Source(name, text)))


def test_a_file_at_the_limits_is_left_alone() -> None:
    long = Source("a/b.py", '"""Head."""\n\n\ndef f():\n    """Say."""\n' + "    x = 1\n" * 70)
    assert list(house.long_functions(long)) == []
    assert list(house.late_imports(Source("a/b.py", "import json\n"))) == []


def test_a_process_inside_a_crossing_is_left_alone() -> None:
    nested = f"{CROSSING}    if a:\n        os.fork()\n"
    second = f"with open(b) as log, {CROSSING.removeprefix('with ')}    os.fork()\n"
    assert list(unsealed_starts(Source("activities/a.py", nested + second))) == []


def test_imports_against_the_layout_are_found(tmp_path: Path) -> None:
    """Lint a copy of the layout in which a decision reads the database."""
    for package in (
        "orchestrator",
        "activities",
        "reconciler",
        "api",
        "migrations",
        "sandbox",
        "cli",
    ):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    for name in ("domain", "contracts", "workflows", "store", "engine", "seam", "clock"):
        (tmp_path / "orchestrator" / f"{name}.py").touch()
    (tmp_path / "reconciler" / "verdicts.py").touch()
    (tmp_path / ".importlinter").write_text((ROOT / ".importlinter").read_text())
    assert lint(tmp_path) == (0, True)
    (tmp_path / "orchestrator" / "workflows.py").write_text("import orchestrator.store\n")
    code, _ = lint(tmp_path)
    assert code == 1


def lint(folder: Path) -> tuple[int, bool]:
    """Run the import linter there; return its exit status, and whether contracts were judged."""
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return result.returncode, "0 broken" in result.stdout
