"""The command as people start it: a process of its own, told by its environment what is where."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cli.main import main
from cli.render import console
from tests.support.database import Databases, render
from tests.support.served import TOKENS, Served, serving

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Command:
    """The command with an environment, in a folder of its own."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    def with_(self, **more: str) -> Command:
        """Return the command with more in its environment."""
        return Command(self.folder, {**self.environment, **more})

    def as_(self, name: str) -> Command:
        """Return the command with this principal's token."""
        return self.with_(OUTLAST_TOKEN=TOKENS[name])

    def run(self, *argv: str) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "PYTHONPATH": str(ROOT),
            "COLUMNS": "200",
            "OUTLAST_HOME": str(self.folder / "home"),
            **self.environment,
        }
        return subprocess.run(
            [sys.executable, "-m", "cli.main", *argv],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def json(self, *argv: str) -> Any:
        """Run it with --json and return what it printed, which is JSON and nothing else."""
        done = self.run(*argv, "--json")
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return json.loads(done.stdout)

    def refusal(self, *argv: str) -> str:
        """Run it, which must end with status 2 and one line on stderr; return the line."""
        done = self.run(*argv)
        assert done.returncode == 2, (done.stdout, done.stderr)
        assert done.stdout == ""
        [line] = done.stderr.splitlines()
        return line


@dataclass(frozen=True)
class Inside:
    """The same command run in this process, which is quicker; the environment is the test's own."""

    patch: pytest.MonkeyPatch
    captured: pytest.CaptureFixture[str]

    def as_(self, name: str) -> Inside:
        """Give it this principal's token."""
        self.patch.setenv("OUTLAST_TOKEN", TOKENS[name])
        return self

    def run(self, *argv: str) -> str:
        """Run it, which must succeed, and return what it printed."""
        status, out, err = self._end(*argv)
        assert (status, err) == (0, "")
        return out

    def refusal(self, *argv: str) -> str:
        """Run it, which must end with status 2 and one line on stderr; return the line."""
        status, out, err = self._end(*argv)
        assert (status, out) == (2, ""), err
        [line] = err.splitlines()
        return line

    def _end(self, *argv: str) -> tuple[object, str, str]:
        self.patch.setattr(sys, "argv", ["outlast", *argv])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = self.captured.readouterr()
        return ended.value.code or 0, out, err


@pytest.fixture(scope="module")
def served(
    databases: Databases, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """Yield the running API."""
    folder = tmp_path_factory.mktemp("api")
    with databases.lend("cli", template) as url, serving(render(url), folder) as running:
        yield running


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """Return the command on a machine where nothing is set."""
    return Command(tmp_path)


@pytest.fixture
def outlast(command: Command, served: Served) -> Command:
    """Return the command that knows where the API is; a token is still to be given."""
    return command.with_(OUTLAST_API_URL=served.url)


@pytest.fixture
def inside(
    served: Served,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Inside:
    """Return the command in this process; it knows where the API is."""
    monkeypatch.setenv("OUTLAST_API_URL", served.url)
    monkeypatch.setenv("OUTLAST_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.setattr(console, "width", 200)
    return Inside(monkeypatch, capsys)
