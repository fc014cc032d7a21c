"""Reads what stands outside after a run: host, repositories, processes, folders. Not our tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from activities.environment.sweep import list_processes
from activities.git import command
from activities.git.command import with_token
from activities.github import sections


@dataclass(frozen=True)
class Outside:
    """The host as its administrator sees it, and this machine's processes and folders."""

    host_url: str
    token: str
    repository: str
    home: Path

    def get(self, path: str, **params: str) -> Any:
        """Read from the host, which must answer."""
        response = httpx.get(
            f"{self.host_url}{path}",
            params=params,
            headers={"Authorization": f"Bearer {self.token}"},
            timeout=10.0,
            trust_env=False,
        )
        response.raise_for_status()
        return response.json()

    def tickets(self, run_tag: str) -> list[dict[str, Any]]:
        """Return every ticket that carries a marker of the run."""
        issues = self.get(f"/repos/{self.repository}/issues", state="all", per_page="100")
        stem = "<!-- " + marker_stem(run_tag)
        return [
            issue
            for issue in issues
            if "pull_request" not in issue and stem in (issue.get("body") or "")
        ]

    def branches(self, run_tag: str) -> list[dict[str, Any]]:
        """Return every branch whose name is the run's own."""
        found = self.get(f"/repos/{self.repository}/git/matching-refs/heads/repair/")
        name = f"refs/heads/{branch_of(run_tag)}"
        return [ref for ref in found if ref["ref"] == name]

    def pulls(self, run_tag: str) -> list[dict[str, Any]]:
        """Return every pull request from the run's branch, each whole."""
        owner = self.repository.split("/")[0]
        listed = self.get(
            f"/repos/{self.repository}/pulls",
            state="all",
            head=f"{owner}:{branch_of(run_tag)}",
        )
        return [self.get(f"/repos/{self.repository}/pulls/{each['number']}") for each in listed]

    def environments(self, run_tag: str) -> list[str]:
        """Return processes and folders that still carry the run's tag."""
        found = [f"process {pid}" for pid in list_processes(run_tag)]
        folder = self.home / "environments" / run_tag
        return [*found, *([str(folder)] if folder.exists() else [])]

    def clone(self, target: Path, revision: str) -> None:
        """Clone the repository anew from the host, at a revision."""
        address = f"{self.host_url}/{self.repository}.git"
        command.must(["clone", "--quiet", address, str(target)], extra=with_token(self.token))
        command.must(["checkout", "--quiet", "--detach", revision], folder=target)


def marker_stem(run_tag: str) -> str:
    """Return the beginning of every marker of a run, from its tag `outlast-<id>-<run>`."""
    installation, _, run = run_tag.removeprefix("outlast-").partition("-")
    return f"outlast:{installation}:{run}:"


def branch_of(run_tag: str) -> str:
    """Return the run's branch name."""
    return f"repair/{run_tag.removeprefix('outlast-')}"


def shown_head(pull: dict[str, Any]) -> str | None:
    """Return the head that the pull request's own evidence section names."""
    section = sections.get(pull.get("body"), "evidence") or ""
    for line in section.splitlines():
        if line.startswith("| Head |"):
            return line.split("`")[1]
    return None
