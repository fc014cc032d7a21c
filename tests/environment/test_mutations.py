"""Provisioning is done once for a tag, torn down for ever, and both can be observed afterwards."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from activities.environment.mutations import (
    ProvisionEnvironment,
    TearDownEnvironment,
    tombstone,
)
from activities.environment.provider import Environments
from activities.environment.sweep import list_processes
from activities.mutation import (
    Absent,
    Applied,
    Call,
    Conflicting,
    Found,
    Refused,
    Unreadable,
)
from activities.workspace.restore import Workspaces
from orchestrator.clock import wait_for
from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.failures import FailureKind
from tests.support.repository import publish, remote_of
from tests.support.tiny_site import lay_out


@dataclass(frozen=True)
class Bench:
    """Both mutations over one application, and the request and call to use them with."""

    provision: ProvisionEnvironment
    tear_down: TearDownEnvironment
    request: JsonObject
    call: Call

    @property
    def folder(self) -> Path:
        """Return where the environment lies."""
        return self.provision.environments.folder(self.call.run_tag)


@dataclass(frozen=True)
class Late(Workspaces):
    """Workspaces whose checkout takes until somebody tears the environment down."""

    began: threading.Event
    stone: Path

    def __init__(self, like: Workspaces, began: threading.Event, stone: Path) -> None:
        super().__init__(like.remote, like.cache, like.folder)
        object.__setattr__(self, "began", began)
        object.__setattr__(self, "stone", stone)

    @contextmanager
    def checkout(self, repository: str, revision: str, owner: str, name: str) -> Iterator[Path]:
        """Yield the checkout when the tombstone stands."""
        with super().checkout(repository, revision, owner, name) as place:
            self.began.set()
            wait_for(self.stone.exists, 20, "the tombstone")
            yield place


@pytest.fixture
def make(
    environments: Environments, run_tag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Bench]:
    """Return what makes a bench for an application in a given mode."""
    monkeypatch.setenv("OUTLAST_SECRET_HOST_TOKEN", "token")

    def made(mode: str = "", ready_s: int = 10) -> Bench:
        site = lay_out(tmp_path / "site", mode=mode, ready_s=ready_s)
        revision = publish(site, tmp_path / "host", "demo/tiny")
        remote = remote_of(tmp_path / "host", tmp_path / "secrets.toml")
        workspaces = Workspaces(remote, tmp_path / "cache", environments.home / "environments")
        return Bench(
            ProvisionEnvironment(environments, workspaces),
            TearDownEnvironment(environments),
            {"repository": "demo/tiny", "revision": revision, "tag": run_tag},
            Call("op-1", "outlast:here:op-1", 1, run_tag, "here"),
        )

    return made


@pytest.fixture
def bench(make: Callable[..., Bench]) -> Bench:
    """Return a bench over the application as it should be."""
    return make()


def tag_of(bench: Bench) -> JsonObject:
    """Return the request to tear down."""
    return {"tag": bench.call.run_tag}


def test_an_environment_is_built_proved_and_observed(bench: Bench) -> None:
    assert isinstance(bench.provision.observe(bench.request, bench.call), Absent)
    outcome = bench.provision.perform(bench.request, bench.call)
    assert isinstance(outcome, Applied)
    observed = bench.provision.observe(bench.request, bench.call)
    assert observed == Found(outcome.reference, outcome.facts)
    spec = json.loads(bench.provision.environments.artifacts.read(outcome.facts["spec_sha256"]))
    assert spec["revision"] == bench.request["revision"]
    assert spec["application"]["name"] == "tiny"
    wait_for(lambda: list_processes(bench.call.run_tag) == [], 5, "its processes to be gone")


def test_sending_it_again_finds_the_first_and_builds_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = bench.provision.perform(bench.request, bench.call)
    monkeypatch.setattr(Environments, "prepare", None)
    later = replace(bench.call, fence=2)
    assert bench.provision.perform(bench.request, later) == first


def test_another_operation_on_the_same_tag_is_refused(bench: Bench) -> None:
    bench.provision.perform(bench.request, bench.call)
    other = replace(bench.call, operation_id="op-2")
    assert isinstance(bench.provision.observe(bench.request, other), Conflicting)
    outcome = bench.provision.perform(bench.request, other)
    assert isinstance(outcome, Refused)
    assert outcome.kind is FailureKind.POLICY_BOUND


def test_an_application_that_never_gets_ready_is_refused_and_leaves_no_receipt(
    make: Callable[..., Bench], run_tag: str
) -> None:
    bench = make(mode="never", ready_s=1)
    outcome = bench.provision.perform(bench.request, bench.call)
    assert isinstance(outcome, Refused)
    assert outcome.kind is FailureKind.ENVIRONMENTAL
    assert "did not get ready" in outcome.reason
    assert isinstance(bench.provision.observe(bench.request, bench.call), Absent)
    wait_for(lambda: list_processes(run_tag) == [], 5, "its processes to be gone")


@pytest.mark.parametrize("said", ["{ half", "[]", "{}", '{"operation": "op-1"}'])
def test_a_receipt_that_cannot_be_read_says_nothing(bench: Bench, said: str) -> None:
    bench.folder.mkdir(parents=True)
    (bench.folder / "receipt.json").write_text(said)
    seen = bench.provision.observe(bench.request, bench.call)
    assert isinstance(seen, Unreadable)
    assert seen.kind is FailureKind.PERMANENT


def test_tearing_down_ends_processes_removes_files_and_may_be_repeated(bench: Bench) -> None:
    bench.provision.perform(bench.request, bench.call)
    assert isinstance(bench.tear_down.observe(tag_of(bench), bench.call), Absent)
    for _ in range(2):
        assert isinstance(bench.tear_down.perform(tag_of(bench), bench.call), Applied)
        assert isinstance(bench.tear_down.observe(tag_of(bench), bench.call), Found)
    assert not bench.folder.exists()


def test_tearing_down_ends_a_provision_that_is_still_at_work(
    make: Callable[..., Bench], run_tag: str
) -> None:
    bench = make(mode="never", ready_s=300)
    stone, began = tombstone(bench.provision.environments.home, run_tag), threading.Event()
    late = replace(bench.provision, workspaces=Late(bench.provision.workspaces, began, stone))
    with ThreadPoolExecutor(1) as pool:
        building = pool.submit(late.perform, bench.request, bench.call)
        assert began.wait(20)
        assert isinstance(bench.tear_down.perform(tag_of(bench), bench.call), Applied)
        outcome = building.result()
    assert isinstance(outcome, Refused)
    assert "it answered" not in outcome.reason, "its whole time to get ready was waited for"
    assert isinstance(bench.tear_down.observe(tag_of(bench), bench.call), Found)
    assert not bench.folder.exists()


def test_a_late_provision_after_the_tear_down_builds_nothing(bench: Bench) -> None:
    bench.tear_down.perform(tag_of(bench), replace(bench.call, fence=2))
    outcome = bench.provision.perform(bench.request, bench.call)
    assert isinstance(outcome, Refused)
    assert "torn down" in outcome.reason
    assert not bench.folder.exists()
    stone = tombstone(bench.provision.environments.home, bench.call.run_tag)
    assert json.loads(stone.read_text())["fence"] == 2
