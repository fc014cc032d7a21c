"""A host's process with one repository, and our side of it: what receivers are tested against."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from activities.artifacts import ArtifactStore
from activities.git.branches import DeleteBranch, PushBranch
from activities.git.mirror import Remote, read_ref
from activities.github.client import Host
from activities.github.pull_requests import CreateDraftPullRequest
from activities.mutation import Applied, Call
from activities.secrets import SecretSource
from activities.workspace.policy import PatchLimits
from activities.workspace.restore import Workspaces, apply_patch, build_commit
from orchestrator.contracts.payload import JsonObject
from sandbox.app_repository import SECOND_APP, build
from sandbox.host import tokens
from tests.support.host import Host as HostProcess
from tests.support.host import running_host

REPOSITORY = "demo/refuge"
ASIDE_S = 60.0
LIMITS = PatchLimits((), 3, 10_000)
PATCH = "--- /dev/null\n+++ b/NOTE.md\n@@ -0,0 +1 @@\n+{}\n"
TICKET = {"repository": REPOSITORY, "title": "A fault", "body": "Seen today."}


class Desk:
    """The host's process, and our side of it."""

    def __init__(self, process: HostProcess, folder: Path, base: str) -> None:
        self.process, self.folder, self.base = process, folder, base
        secrets = folder / "secrets.toml"
        secrets.write_text(f'HOST_TOKEN = "{self.token}"\n')
        self.host = Host(process.url, SecretSource(secrets))
        self.remote = Remote(process.url, SecretSource(secrets))
        self.artifacts, self.mirrors = ArtifactStore(folder / "artifacts"), folder / "mirrors"

    @property
    def token(self) -> str:
        """Return the secret that must be found nowhere."""
        return self.process.tokens.of(tokens.BOT)

    def review(self, number: int) -> None:
        """Comment on a pull request as its reviewer."""
        path = f"/repos/{REPOSITORY}/pulls/{number}/reviews"
        self._ask(tokens.REVIEWER, "POST", path, {"event": "COMMENT", "body": "I see."})

    def admin(self, method: str, path: str, body: JsonObject | None = None) -> Any:
        """Use the switchboard, or the API as its administrator."""
        return self._ask(tokens.ADMIN, method, path, body)

    def _ask(self, login: str, method: str, path: str, body: JsonObject | None) -> Any:
        answer = httpx.request(
            method,
            f"{self.process.url}{path}",
            json=body,
            headers={"Authorization": f"Bearer {self.process.tokens.of(login)}"},
            trust_env=False,
        )
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def fault(self, action: str, method: str, path: str, **more: Any) -> int:
        """Set a fault for the next such request; return its number."""
        order = {"action": action, "method": method, "path": path, **more}
        return int(self.admin("POST", "/outlast/faults", order)["id"])

    def applied(self) -> int:
        """Return how many requests the host has applied."""
        return sum(entry["applied"] for entry in self.admin("GET", "/outlast/journal"))

    def branch(self, name: str) -> str:
        """Make a branch with a commit of its own; return its revision."""
        main = self.admin("GET", f"/repos/{REPOSITORY}/git/ref/heads/main")["object"]["sha"]
        body = {"ref": f"refs/heads/{name}", "sha": main}
        self.admin("POST", f"/repos/{REPOSITORY}/git/refs", body)
        return self.move(name)

    def move(self, name: str) -> str:
        """Commit onto a branch as somebody else, into a file of the branch's own."""
        moved = {"repository": REPOSITORY, "branch": name, "path": f"MOVED-{name}.txt"}
        return str(self.admin("POST", "/outlast/move", moved)["revision"])

    def draft(self, name: str) -> tuple[int, str]:
        """Open a draft from a new branch; return its number and head."""
        head = self.branch(name)
        outcome = CreateDraftPullRequest(self.host).perform(pull(name), call(name))
        assert isinstance(outcome, Applied)
        return int(outcome.reference), head

    def commit(self, words: str) -> tuple[str, str]:
        """Build a commit on the base; return its revision and its bundle's hash."""
        workspaces = Workspaces(self.remote, self.mirrors, self.folder)
        with workspaces.checkout(REPOSITORY, self.base, "tag", "w") as place:
            apply_patch(place, PATCH.format(words), LIMITS)
            made = build_commit(place, "note", "2026-01-01T00:00:00+00:00")
        return made.revision, self.artifacts.put(made.bundle, "bundle", "c.bundle").sha256

    def push_request(
        self, branch: str, words: str = "a", expected: str | None = None
    ) -> JsonObject:
        """Return a request to put a branch on a commit of these words."""
        revision, bundle = self.commit(words)
        return {
            "repository": REPOSITORY,
            "branch": branch,
            "revision": revision,
            "expected": expected,
            "bundle_sha256": bundle,
        }

    def push(self) -> PushBranch:
        """Return the mutation that pushes."""
        return PushBranch(self.remote, self.artifacts, self.mirrors)

    def delete(self) -> DeleteBranch:
        """Return the mutation that deletes."""
        return DeleteBranch(self.remote, self.mirrors)

    def tip(self, branch: str) -> str | None:
        """Return where the branch stands."""
        return read_ref(self.remote, REPOSITORY, f"refs/heads/{branch}")

    @contextmanager
    def aside(self, act: Callable[[], object]) -> Iterator[None]:
        """Do something beside the body; both have ended afterwards."""
        with ThreadPoolExecutor(1) as pool:
            doing = pool.submit(act)
            yield
            doing.result(ASIDE_S)

    def main(self) -> str:
        """Return where the base stands."""
        return str(self.admin("GET", f"/repos/{REPOSITORY}/git/ref/heads/main")["object"]["sha"])


def call(name: str, ordinal: int = 1, fence: int = 1) -> Call:
    """Return a call of an operation of this name, in a run of its own."""
    operation = f"{name}:act:{ordinal}"
    return Call(operation, f"outlast:i:{operation}", fence, f"outlast-i-{name}", "i")


def pull(name: str) -> JsonObject:
    """Return a request for a draft from this branch."""
    return {"repository": REPOSITORY, "head": name, "base": "main", "title": "t", "body": "b"}


def open_desk(folder: Path, *, keys: bool, strict: bool = False) -> Iterator[Desk]:
    """Start a host with one repository."""
    base = build(SECOND_APP, folder / "source")
    with running_host(folder / "host", keys=keys) as process:
        desk = Desk(process, folder, base)
        seeded = {"repository": REPOSITORY, "source": str(folder / "source"), "strict": strict}
        desk.admin("POST", "/outlast/repositories", seeded)
        yield desk


def merge_request(desk: Desk, number: int, head: str) -> JsonObject:
    """Return a request to merge this head on the base as it stands."""
    return {
        "repository": REPOSITORY,
        "number": number,
        "sha": head,
        "method": "merge",
        "base": "main",
        "base_revision": desk.main(),
    }
