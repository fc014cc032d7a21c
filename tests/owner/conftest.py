"""Small real programs to own."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox.owner.child import Child

Make = Callable[..., Child]

FAMILY = """
import subprocess, sys, threading
for session in (False, True):
    subprocess.Popen(
        [sys.executable, "-c", "import threading; threading.Event().wait()", sys.argv[1]],
        start_new_session=session,
    )
print("started", flush=True)
threading.Event().wait()
"""


@pytest.fixture
def mark() -> str:
    """Return a word that finds this test's processes on their command lines."""
    return f"outlast-test-{secrets.token_hex(6)}"


@pytest.fixture
def make_child(tmp_path: Path, mark: str) -> Make:
    """Return a maker of children that run a piece of Python, with the mark as first argument."""

    def make(name: str, program: str, **fields: Any) -> Child:
        given: dict[str, Any] = {
            "argv": [sys.executable, "-c", program, mark],
            "env": {"PATH": os.environ["PATH"]},
            "log": tmp_path / f"{name}.log",
            "cwd": tmp_path,
        }
        return Child(name=name, **{**given, **fields})

    return make


@pytest.fixture
def make_family(make_child: Make, tmp_path: Path) -> Callable[[str], Child]:
    """Return a maker of a child with two children of its own, one of them in its own session."""

    def make(name: str) -> Child:
        log = tmp_path / f"{name}.log"
        return make_child(name, FAMILY, ready=lambda: log.exists() and "started" in log.read_text())

    return make
