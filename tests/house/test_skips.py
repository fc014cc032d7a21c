"""A run that skips without leave, or executes nothing, is red."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.house import ROOT

PLUGIN = """
import sys
sys.path.insert(0, {root!r})
from tests.support.skips import SkipJudge

def pytest_configure(config):
    config.pluginmanager.register(SkipJudge(["needs the moon*"]))
"""
PASS = "def test_passes():\n    assert True\n"
SKIP = "import pytest\n\n@pytest.mark.skip(reason={reason!r})\ndef test_skips():\n    pass\n"
SKIP_FILE = "import pytest\n\npytest.skip({reason!r}, allow_module_level=True)\n"
EXPECTED = "import pytest\n\n@pytest.mark.xfail(reason='known')\ndef test_x():\n    assert False\n"


def run(folder: Path, *arguments: str, **files: str) -> tuple[int, str]:
    """Run pytest on these files; return its exit status and what it printed."""
    (folder / "conftest.py").write_text(PLUGIN.format(root=str(ROOT)))
    for name, text in files.items():
        (folder / f"test_{name}.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments, str(folder)]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return result.returncode, result.stdout


def test_a_run_that_only_passes_is_green(tmp_path: Path) -> None:
    assert run(tmp_path, passes=PASS)[0] == 0


@pytest.mark.parametrize("form", [SKIP, SKIP_FILE], ids=["test", "file"])
def test_a_skip_with_leave_is_printed_and_green(tmp_path: Path, form: str) -> None:
    code, told = run(tmp_path, passes=PASS, skips=form.format(reason="needs the moon tonight"))
    assert code == 0
    assert "needs the moon tonight" in told


@pytest.mark.parametrize("form", [SKIP, SKIP_FILE], ids=["test", "file"])
def test_a_skip_without_leave_is_red(tmp_path: Path, form: str) -> None:
    code, told = run(tmp_path, passes=PASS, skips=form.format(reason="did not feel like it"))
    assert code == 1
    assert "skip without leave" in told


def test_an_expected_failure_is_a_skip_as_well(tmp_path: Path) -> None:
    assert run(tmp_path, passes=PASS, expected=EXPECTED)[0] == 1


def test_a_run_without_an_executed_test_is_red(tmp_path: Path) -> None:
    assert run(tmp_path, skips=SKIP.format(reason="needs the moon"))[0] == 1
    assert run(tmp_path, "-k", "nothing_of_that_name", passes=PASS)[0] == 1


def test_listing_tests_is_left_alone(tmp_path: Path) -> None:
    assert run(tmp_path, "--collect-only", passes=PASS)[0] == 0
