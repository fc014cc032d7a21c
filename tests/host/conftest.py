"""Fixtures: a host process for each module, a fresh repository and judged clients for each test."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest

from sandbox.host.bare import Bare, environment
from sandbox.host.tokens import ADMIN, BOT, REVIEWER
from tests.host.judge import judge
from tests.support.host import Host, running_host

NAMES = count(1)
SOMEBODY = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "Somebody"), ("EMAIL", "somebody@shop.invalid"))
}


def git(folder: Path, *argv: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run git in a working folder."""
    return subprocess.run(
        ("git", *argv),
        cwd=folder,
        env=environment(SOMEBODY),
        capture_output=True,
        text=True,
        check=check,
    )


def commit(folder: Path, name: str, content: str) -> str:
    """Commit one file and return the commit's id."""
    (folder / name).write_text(content, encoding="utf-8")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", f"Change {name}")
    return git(folder, "rev-parse", "HEAD").stdout.strip()


def client_of(host: Host, login: str, judged: bool = True) -> httpx.Client:
    """Return a client with the login's token, each of whose answers is judged."""
    return httpx.Client(
        base_url=host.url,
        headers={"Authorization": f"Bearer {host.tokens.of(login)}"},
        event_hooks={"response": [judge]} if judged else {},
        timeout=30,
        trust_env=False,
    )


@dataclass
class Shop:
    """A repository at the host, its working copy, and clients of everybody."""

    host: Host
    name: str
    folder: Path
    bot: httpx.Client
    reviewer: httpx.Client
    admin: httpx.Client
    main: str

    @property
    def api(self) -> str:
        """Return the path of the repository's REST resources."""
        return f"/repos/demo/{self.name}"

    @property
    def bare(self) -> Bare:
        """Return the host's own repository."""
        return Bare(self.host.folder / "repositories" / "demo" / f"{self.name}.git")

    def remote(self, login: str = BOT) -> str:
        """Return the address for git, with the login's token."""
        rest = self.host.url.removeprefix("http://")
        return f"http://{login}:{self.host.tokens.of(login)}@{rest}/demo/{self.name}.git"

    def push(self, *refspecs: str, login: str = BOT) -> subprocess.CompletedProcess[str]:
        """Push from the working copy; the result says how it went."""
        argv = ("push", "--porcelain", self.remote(login), *refspecs)
        return git(self.folder, *argv, check=False)

    def branch(self, name: str, content: str = "changed\n", file: str = "page.txt") -> str:
        """Push a branch one commit ahead of the first one; return that commit."""
        git(self.folder, "checkout", "--quiet", "-B", name, self.main)
        sha = commit(self.folder, file, content)
        pushed = self.push(f"{name}:refs/heads/{name}")
        assert pushed.returncode == 0, pushed.stderr
        return sha

    def open_pull(self, head: str, **fields: Any) -> dict[str, Any]:
        """Open a pull request of the bot."""
        body = {"title": f"Repair {head}", "head": head, "base": "main", **fields}
        answer = self.bot.post(f"{self.api}/pulls", json=body)
        assert answer.status_code == 201, answer.text
        pull: dict[str, Any] = answer.json()
        return pull

    def set_fault(self, **order: Any) -> dict[str, Any]:
        """Set a fault."""
        answer = self.admin.post("/outlast/faults", json=order)
        assert answer.status_code == 201, answer.text
        fault: dict[str, Any] = answer.json()
        return fault

    def journal(self) -> list[dict[str, Any]]:
        """Return the entries about this repository."""
        entries = self.admin.get("/outlast/journal").json()
        return [one for one in entries if f"/demo/{self.name}" in one["path"]]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """Yield a running host."""
    with running_host(tmp_path_factory.mktemp("host")) as one:
        yield one


@pytest.fixture(params=[True])
def strict(request: pytest.FixtureRequest) -> bool:
    """Return whether the default branch demands heads that are up to date."""
    demanded: bool = request.param
    return demanded


@pytest.fixture
def shop(host: Host, tmp_path: Path, strict: bool) -> Iterator[Shop]:
    """Yield a fresh repository at the running host."""
    folder = tmp_path / "work"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    main = commit(folder, "page.txt", "first\n")
    name = f"shop{next(NAMES)}"
    with (
        client_of(host, BOT) as bot,
        client_of(host, REVIEWER) as reviewer,
        client_of(host, ADMIN, judged=False) as admin,
    ):
        order = {"repository": f"demo/{name}", "source": str(folder), "strict": strict}
        assert admin.post("/outlast/repositories", json=order).status_code == 201
        yield Shop(host, name, folder, bot, reviewer, admin, main)
        admin.delete("/outlast/faults")
