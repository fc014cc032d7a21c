"""Dependencies come in once for equal inputs, also when several come at the same time."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from activities.environment.provider import Environments, Prepared
from activities.environment.sweep import list_processes
from orchestrator.clock import wait_for
from orchestrator.domain.failures import ActivityFailed, FailureKind
from tests.support.tiny_site import REVISION, lay_out

Prepare = Callable[..., Prepared]
INSTALL = '[["{python}", "install.py"]]'
PROGRAM = """
import os, pathlib, sys
deps = pathlib.Path(".deps"); (deps / "thing-1.2.0.dist-info").mkdir(parents=True)
(deps / "thing.py").write_text("WORD = 'installed'")
(deps / "env.json").write_text(__import__("json").dumps(dict(os.environ)))
print("installing")
"""


def lay(environments: Environments, tag: str, name: str, program: str, **wishes: object) -> Path:
    """Lay out an application whose installation is this program."""
    workspace = environments.folder(tag) / "work" / name
    wanted = {"install": INSTALL, "produces": '[".deps"]', **wishes}
    lay_out(workspace, **wanted)  # type: ignore[arg-type]
    (workspace / "install.py").write_text(program)
    return workspace


def test_what_was_installed_is_linked_in_named_and_used(
    environments: Environments, run_tag: str
) -> None:
    workspace = lay(environments, run_tag, "a", PROGRAM)
    prepared = environments.prepare(workspace, REVISION, "demo/tiny", run_tag)
    assert prepared.spec.resolved == ("thing==1.2.0",)
    with environments.session(prepared) as session:
        used = session.run(["{python}", "-c", "import sys; sys.path[0] = '.deps'; import thing"], 9)
    assert used.returncode == 0


def test_equal_inputs_install_once_and_a_changed_lock_file_installs_anew(
    environments: Environments, run_tag: str
) -> None:
    first = lay(environments, run_tag, "a", PROGRAM)
    second = lay(environments, run_tag, "b", "raise SystemExit('must not run')")
    third = lay(environments, run_tag, "c", PROGRAM)
    (third / "lock.txt").write_text("thing==1.3\n")
    hashes = [
        environments.prepare(each, REVISION, "demo/tiny", run_tag).spec.dependencies_hash
        for each in (first, second, third)
    ]
    assert hashes[0] == hashes[1] != hashes[2]


def test_two_that_install_at_once_end_with_one_whole_installation(
    environments: Environments, run_tag: str
) -> None:
    places = [lay(environments, run_tag, name, PROGRAM) for name in ("a", "b", "c")]
    with ThreadPoolExecutor(3) as pool:
        made = list(
            pool.map(
                lambda place: environments.prepare(place, REVISION, "demo/tiny", run_tag), places
            )
        )
    assert len({prepared.spec.dependencies_hash for prepared in made}) == 1
    assert {place.joinpath(".deps").resolve() for place in places} == {
        environments.home / "cache" / "dependencies" / made[0].spec.dependencies_hash / ".deps"
    }
    assert len(list((environments.home / "cache" / "dependencies").iterdir())) == 1


@pytest.mark.parametrize(
    ("program", "kind", "words"),
    [
        ("print('no such wheel'); raise SystemExit(4)", FailureKind.ENVIRONMENTAL, "no such wheel"),
        ("pass", FailureKind.PERMANENT, "made no .deps"),
        (
            "print('waiting', flush=True); __import__('signal').pause()",
            FailureKind.ENVIRONMENTAL,
            "still installed after 1 s: waiting",
        ),
    ],
)
def test_an_installation_that_fails_says_so_and_is_not_kept(
    environments: Environments, run_tag: str, program: str, kind: FailureKind, words: str
) -> None:
    workspace = lay(environments, run_tag, "a", program, install_s=1)
    with pytest.raises(ActivityFailed, match=words) as failed:
        environments.prepare(workspace, REVISION, "demo/tiny", run_tag)
    assert failed.value.kind is kind
    wait_for(lambda: list_processes(run_tag) == [], 5, "the installation to be gone")
    kept = environments.home / "cache" / "dependencies"
    assert list(kept.iterdir()) == []


def test_a_wish_to_stop_ends_an_installation_with_all_it_started(
    environments: Environments, run_tag: str
) -> None:
    workspace = lay(environments, run_tag, "a", "__import__('signal').pause()", install_s=60)
    stop = threading.Event()

    def end_it() -> None:
        wait_for(lambda: bool(list_processes(run_tag)), 10, "the installation to run")
        stop.set()

    threading.Thread(target=end_it).start()
    with pytest.raises(ActivityFailed, match="stopped as told") as failed:
        environments.prepare(workspace, REVISION, "demo/tiny", run_tag, stop)
    assert failed.value.kind is FailureKind.TRANSIENT
    wait_for(lambda: list_processes(run_tag) == [], 5, "the installation to be gone")


def test_an_installation_sees_the_installers_settings_and_no_other_secret(
    environments: Environments, run_tag: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_TIMEOUT", "77")
    monkeypatch.setenv("OUTLAST_SECRET_HOST_TOKEN", "canary")
    workspace = lay(environments, run_tag, "a", PROGRAM)
    environments.prepare(workspace, REVISION, "demo/tiny", run_tag)
    seen = json.loads((workspace / ".deps" / "env.json").read_text())
    assert seen["PIP_TIMEOUT"] == "77"
    assert "canary" not in seen.values()


def test_dependencies_cannot_be_changed_by_an_application_that_is_walled_in(
    environments: Environments, run_tag: str
) -> None:
    if environments.tier != "bubblewrap":
        return
    workspace = lay(environments, run_tag, "a", PROGRAM)
    prepared = environments.prepare(workspace, REVISION, "demo/tiny", run_tag)
    with environments.session(prepared) as session:
        done = session.run(["{python}", "-c", "open('.deps/thing.py', 'w')"], 10)
    assert "Read-only file system" in done.output
