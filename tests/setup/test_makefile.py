"""The Makefile: what it lists, it can do; what it does needs no leftovers of a shell."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.support.house import ROOT

TARGETS = (
    "help",
    "setup",
    "demo",
    "docs",
    "up",
    "test",
    "test-wheel",
    "recovery",
    "model",
    "bench",
    "lint",
    "fresh",
    "format",
    "clean",
)


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run make as a person would, even where make itself started the tests."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    env = {name: value for name, value in env.items() if name not in ("REPORT", "KEYS")}
    return subprocess.run(
        ["make", *arguments], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )


def dry_run(*arguments: str) -> str:
    """Return what make would do."""
    result = make("--dry-run", "--always-make", *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_help_lists_every_target_and_no_other() -> None:
    told = make("help").stdout
    assert sorted(line.split()[0] for line in told.splitlines()) == sorted(TARGETS)


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_has_a_recipe(target: str) -> None:
    assert dry_run(target).strip()


def test_the_demo_takes_a_report_and_a_host_without_keys() -> None:
    told = dry_run("demo", "docs", "REPORT=wrong-total", "KEYS=off")
    assert "outlast demo --report wrong-total --no-keys" in told
    assert "--report" not in dry_run("demo")


def test_a_python_that_is_too_old_is_told() -> None:
    result = make("--always-make", ".venv/.installed", "PYTHON=false")
    assert result.returncode != 0
    assert "Python 3.11 or newer" in result.stderr
