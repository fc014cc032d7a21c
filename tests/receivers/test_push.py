"""Pushes against the real host with real git: applied, lost, cut, contested, and never doubled."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from activities.artifacts import ArtifactStore
from activities.git.branches import DeleteBranch, PushBranch
from activities.git.mirror import Remote, read_ref
from activities.mutation import (
    Absent,
    Applied,
    Call,
    Conflicting,
    Found,
    NotSent,
    Refused,
    Unsettled,
)
from activities.secrets import SecretSource
from activities.workspace.policy import PatchLimits
from activities.workspace.restore import Workspaces, apply_patch, build_commit
from orchestrator.contracts.payload import JsonObject
from sandbox.app_repository import SECOND_APP, build
from sandbox.host import tokens
from tests.support.host import Host, running_host

REPOSITORY = "demo/refuge"
CALL = Call("run:push-branch:1", "outlast:i:run:push-branch:1", 1, "outlast-i-run", "i")
PUSH = {"method": "POST", "path": "git-receive-pack$"}
LIMITS = PatchLimits((), 3, 10_000)
PATCH = "--- /dev/null\n+++ b/NOTE.md\n@@ -0,0 +1 @@\n+{}\n"


@dataclass
class Outer:
    """A host with one repository, and our side of it."""

    host: Host
    base: str
    remote: Remote
    artifacts: ArtifactStore
    folder: Path

    def push(self) -> PushBranch:
        """Return the mutation."""
        return PushBranch(self.remote, self.artifacts, self.folder / "mirrors")

    def request(self, branch: str, words: str = "a", expected: str | None = None) -> JsonObject:
        """Return a request to put a branch on a commit of these words."""
        workspaces = Workspaces(self.remote, self.folder / "mirrors", self.folder)
        with workspaces.checkout(REPOSITORY, self.base, "tag", f"w-{branch}-{words}") as place:
            apply_patch(place, PATCH.format(words), LIMITS)
            commit = build_commit(place, "note", "2026-01-01T00:00:00+00:00")
        bundle = self.artifacts.put(commit.bundle, "bundle", "c.bundle")
        return {
            "repository": REPOSITORY,
            "branch": branch,
            "revision": commit.revision,
            "expected": expected,
            "bundle_sha256": bundle.sha256,
        }

    def tip(self, branch: str) -> str | None:
        """Return where the branch stands."""
        return read_ref(self.remote, REPOSITORY, f"refs/heads/{branch}")

    def fault(self, action: str, **more: Any) -> None:
        """Set a fault for the next push."""
        answer = httpx.post(
            f"{self.host.url}/outlast/faults",
            json={"action": action, **PUSH, **more},
            headers={"Authorization": f"Bearer {self.host.tokens.of(tokens.ADMIN)}"},
            trust_env=False,
        )
        answer.raise_for_status()


@pytest.fixture(scope="module")
def outer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outer]:
    """Yield the host with the second application as its repository."""
    folder = tmp_path_factory.mktemp("outer")
    base = build(SECOND_APP, folder / "source")
    with running_host(folder / "host", keys=True) as host:
        httpx.post(
            f"{host.url}/outlast/repositories",
            json={"repository": REPOSITORY, "source": str(folder / "source")},
            headers={"Authorization": f"Bearer {host.tokens.of(tokens.ADMIN)}"},
            trust_env=False,
        ).raise_for_status()
        secrets = folder / "secrets.toml"
        secrets.write_text(f'HOST_TOKEN = "{host.tokens.of(tokens.BOT)}"\n')
        remote = Remote(host.url, SecretSource(secrets))
        yield Outer(host, base, remote, ArtifactStore(folder / "artifacts"), folder)


def test_a_branch_is_created_once_and_a_repeat_finds_it(outer: Outer) -> None:
    request = outer.request("repair/once")
    assert isinstance(outer.push().perform(request, CALL), Applied)
    assert isinstance(outer.push().perform(request, CALL), Applied)
    assert outer.tip("repair/once") == request["revision"]


@pytest.mark.parametrize("action", ["drop_after", "error_after"])
def test_a_lost_answer_is_unsettled_and_looking_finds_it(outer: Outer, action: str) -> None:
    request = outer.request(f"repair/{action.replace('_', '-')}")
    outer.fault(action)
    assert isinstance(outer.push().perform(request, CALL), Unsettled)
    seen = outer.push().observe(request, CALL)
    assert seen == Found(request["revision"], {"revision": request["revision"]})


def test_a_push_that_was_cut_before_it_applied_is_conclusively_absent(outer: Outer) -> None:
    request = outer.request("repair/cut")
    outer.fault("cut_before")
    assert isinstance(outer.push().perform(request, CALL), Unsettled)
    seen = outer.push().observe(request, CALL)
    assert isinstance(seen, Absent)
    assert seen.conclusive
    assert isinstance(outer.push().perform(request, CALL), Applied)


def test_a_strangers_commit_on_our_branch_is_never_pushed_over(outer: Outer) -> None:
    first, second = outer.request("repair/theirs", "ours"), outer.request("repair/theirs", "new")
    assert isinstance(outer.push().perform(first, CALL), Applied)
    refused = outer.push().perform(second, CALL)
    assert isinstance(refused, Refused)
    assert isinstance(outer.push().observe(second, CALL), Conflicting)
    assert outer.tip("repair/theirs") == first["revision"]


def test_a_branch_moves_only_from_the_expected_revision(outer: Outer) -> None:
    first = outer.request("repair/moves", "one")
    outer.push().perform(first, CALL)
    second = outer.request("repair/moves", "two", expected=first["revision"])
    assert isinstance(outer.push().perform(second, CALL), Applied)
    third = outer.request("repair/moves", "three", expected=first["revision"])
    assert isinstance(outer.push().perform(third, CALL), Refused)
    assert outer.tip("repair/moves") == second["revision"]


def test_of_four_pushers_with_one_lease_exactly_one_wins(outer: Outer) -> None:
    requests = [outer.request("repair/contested", f"pusher {number}") for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(lambda each: outer.push().perform(each, CALL), requests))
    winners = [r for r, o in zip(requests, outcomes, strict=True) if isinstance(o, Applied)]
    assert len(winners) == 1
    assert outer.tip("repair/contested") == winners[0]["revision"]
    assert sum(isinstance(outcome, Refused) for outcome in outcomes) == 3


def test_a_branch_is_deleted_only_from_the_expected_revision(outer: Outer) -> None:
    request = outer.request("repair/gone")
    outer.push().perform(request, CALL)
    delete = DeleteBranch(outer.remote, outer.folder / "mirrors")
    wanted = {"repository": REPOSITORY, "branch": "repair/gone"}
    kept = delete.perform({**wanted, "expected": outer.base}, CALL)
    assert isinstance(kept, Refused)
    assert outer.tip("repair/gone") == request["revision"]
    assert isinstance(delete.perform({**wanted, "expected": request["revision"]}, CALL), Applied)
    assert outer.tip("repair/gone") is None


def test_a_host_that_is_down_was_sent_nothing_and_the_token_is_in_no_word(outer: Outer) -> None:
    request = outer.request("repair/down")
    down = Remote("http://127.0.0.1:1", outer.remote.secrets)
    outcome = PushBranch(down, outer.artifacts, outer.folder / "other").perform(request, CALL)
    assert isinstance(outcome, NotSent)
    token = outer.host.tokens.of(tokens.BOT)
    assert token not in repr(outcome)
    for file in outer.folder.rglob("config"):
        assert token not in file.read_text()
