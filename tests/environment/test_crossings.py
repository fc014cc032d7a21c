"""Every process that an environment starts passes the seam under its own name."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from activities.browser import replay
from activities.environment import tiers
from activities.environment.application import Application
from activities.environment.application_file import read_application_file
from activities.environment.inside import Inside
from activities.environment.provider import Environments
from activities.git import command
from orchestrator.contracts.payload import JsonObject
from orchestrator.contracts.procedure import Procedure
from orchestrator.domain.failures import ActivityFailed
from tests.support.crossings import crossings
from tests.support.tiny_site import REVISION, lay_out

INSTALL = '[["{python}", "-c", "import os; os.mkdir(\'.deps\')"], ["{python}", "-c", "pass"]]'


def both(name: str) -> list[tuple[str, str]]:
    """Return a whole crossing."""
    return [(name, "before"), (name, "after")]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return the tiny application's folder."""
    return lay_out(tmp_path / "site")


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """Return an empty folder."""
    made = tmp_path / "scratch"
    made.mkdir()
    return made


def order(workspace: Path, scratch: Path) -> JsonObject:
    """Return the first order to the inside of a sandbox."""
    spec = read_application_file(workspace).model_dump(mode="json", by_alias=True)
    places = {"workspace": str(workspace), "scratch": str(scratch)}
    return {**places, "revision": REVISION, "application": spec}


def test_each_command_of_an_installation_is_a_call_and_a_kept_one_is_none(
    environments: Environments, run_tag: str
) -> None:
    folder = environments.folder(run_tag) / "work"
    first, second = (
        lay_out(folder / name, install=INSTALL, produces='[".deps"]') for name in ("a", "b")
    )
    with crossings() as seen:
        environments.prepare(first, REVISION, "demo/tiny", run_tag)
        assert seen == both("install-dependencies") * 2
        environments.prepare(second, REVISION, "demo/tiny", run_tag)
    assert len(seen) == 4


def test_the_start_of_a_sandbox_is_a_call(environments: Environments, run_tag: str) -> None:
    workspace = lay_out(environments.folder(run_tag) / "work" / "a")
    prepared = environments.prepare(workspace, REVISION, "demo/tiny", run_tag)
    with crossings() as seen, environments.session(prepared) as session:
        session.start_app()
    assert seen == both("sandbox-open") + both("sandbox-start")


def test_the_trial_of_a_sandbox_is_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OUTLAST_TIER", raising=False)
    monkeypatch.setattr(tiers, "find_bwrap", lambda: sys.executable)
    with crossings() as seen:
        tiers.choose_tier.__wrapped__()
    assert seen == both("sandbox-trial")


def test_seed_and_start_of_an_application_are_calls(site: Path, scratch: Path) -> None:
    application = Application(read_application_file(site), site, scratch, REVISION)
    with crossings() as seen:
        application.start({})
        application.stop()
    assert seen == both("seed-application") + both("start-application")


def test_a_command_in_a_sandbox_is_a_call(site: Path, scratch: Path) -> None:
    inside = Inside(order(site, scratch), lambda _: None)
    with crossings() as seen:
        said = inside.obey({"do": "run", "argv": ["{python}", "-c", "pass"], "timeout_s": 10})
    assert said["returncode"] == 0
    assert seen == both("run-command")


def test_driver_and_browser_are_calls_and_one_that_does_not_start_is_never_left(
    site: Path, scratch: Path
) -> None:
    application = Application(read_application_file(site), site, scratch, REVISION)
    procedure = Procedure.model_validate(
        {
            "title": "t",
            "steps": [{"id": "s", "do": "navigate", "path": "/"}],
            "expectations": [{"id": "e", "expect": "path", "equals": "/"}],
        }
    )
    with crossings() as seen, pytest.raises(ActivityFailed, match="browser did not start"):
        replay.replay(procedure, application, scratch, {}, lambda _: None, "/bin/false")
    assert seen == [*both("start-browser-driver"), ("start-browser", "before")]


def test_git_on_this_machine_is_a_call_too(tmp_path: Path) -> None:
    with crossings() as seen:
        command.must(["init", "--quiet", str(tmp_path / "r")])
    assert seen == both("git-local")
