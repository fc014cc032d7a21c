"""A repository and an application that mean harm get nothing of the machine's own files."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from activities.environment.application_file import read_application_file
from activities.environment.provider import Environments, Prepared
from activities.environment.tiers import Tier
from orchestrator.domain.failures import ActivityFailed, FailureKind
from tests.support.tiny_site import REVISION, lay_out

Prepare = Callable[..., Prepared]
CANARY = "canary-77b0d2"
INSTALL = '[["{python}", "install.py"]]'
LINKS_OUT = """
import os, pathlib, shutil
shutil.rmtree("deps", ignore_errors=True)
os.symlink({outside!r}, "deps")
"""
SPEAKS_FOR_US = """
import os
place = f"/proc/{os.getppid()}/fd"
for name in os.listdir(place):
    if os.readlink(f"{place}/{name}").startswith("pipe:"):
        try:
            os.write(os.open(f"{place}/{name}", os.O_WRONLY | os.O_NONBLOCK), b"[nonsense\\n")
        except OSError:
            pass
"""
MAKES_NESTED = """
import pathlib
folder = pathlib.Path("deps/made"); folder.mkdir(parents=True)
(folder / "thing.py").write_text("WORD = 'installed'")
"""


def lay(environments: Environments, tag: str, name: str, produces: str, program: str) -> Path:
    """Lay out an application whose installation is this program."""
    workspace = environments.folder(tag) / "work" / name
    lay_out(workspace, install=INSTALL, produces=produces)
    (workspace / "install.py").write_text(program)
    return workspace


@pytest.mark.parametrize("target", ["/dev/zero", "elsewhere.toml"])
def test_the_applications_file_must_not_be_a_link(tmp_path: Path, target: str) -> None:
    workspace = lay_out(tmp_path / "a")
    shutil.move(workspace / ".outlast.toml", tmp_path / "elsewhere.toml")
    (workspace / ".outlast.toml").symlink_to(tmp_path / target)
    with pytest.raises(ActivityFailed, match="is no ordinary file") as failed:
        read_application_file(workspace)
    assert failed.value.kind is FailureKind.PERMANENT


def test_an_enormous_file_is_refused_unread(tmp_path: Path) -> None:
    workspace = lay_out(tmp_path / "a")
    with (workspace / ".outlast.toml").open("ab") as file:
        file.truncate(10_000_000_000)
    with pytest.raises(ActivityFailed, match="too large"):
        read_application_file(workspace)


def test_a_lock_file_must_not_be_a_link(environments: Environments, run_tag: str) -> None:
    workspace = lay(environments, run_tag, "a", "[]", "")
    (workspace / "lock.txt").unlink()
    (workspace / "lock.txt").symlink_to("/dev/zero")
    with pytest.raises(ActivityFailed, match=r"lock\.txt is no ordinary file") as failed:
        environments.prepare(workspace, REVISION, "demo/tiny", run_tag)
    assert failed.value.kind is FailureKind.PERMANENT


def test_an_installation_cannot_have_files_of_the_machine_moved_into_the_cache(
    environments: Environments, run_tag: str
) -> None:
    outside = environments.home / "private"
    outside.mkdir(parents=True)
    (outside / "made").write_text(CANARY)
    program = LINKS_OUT.format(outside=str(outside))
    workspace = lay(environments, run_tag, "a", '["deps/made"]', program)
    with pytest.raises(ActivityFailed, match="deps/made") as failed:
        environments.prepare(workspace, REVISION, "demo/tiny", run_tag)
    assert failed.value.kind is FailureKind.PERMANENT
    assert (outside / "made").read_text() == CANARY
    assert list((environments.home / "cache" / "dependencies").iterdir()) == []


def test_what_is_produced_in_a_folder_is_linked_into_a_checkout_without_that_folder(
    environments: Environments, run_tag: str
) -> None:
    for name in ("a", "b"):
        workspace = lay(environments, run_tag, name, '["deps/made"]', MAKES_NESTED)
        environments.prepare(workspace, REVISION, "demo/tiny", run_tag)
        assert "installed" in (workspace / "deps" / "made" / "thing.py").read_text()


def test_a_log_that_the_application_replaced_by_a_link_is_not_followed(
    environments: Environments, prepare: Prepare
) -> None:
    (environments.home / "secrets.toml").write_text(CANARY)
    prepared = prepare()
    with environments.session(prepared) as session:
        log = session.scratch / "inside.log"
        log.unlink()
        log.symlink_to(environments.home / "secrets.toml")
        with pytest.raises(ActivityFailed, match="the sandbox ended") as failed:
            session.run(["{python}", "-c", "import os; os.kill(os.getppid(), 9)"], 10)
    assert CANARY not in failed.value.reason


def test_an_application_that_speaks_in_the_sandboxs_name_is_not_believed(
    environments: Environments, prepare: Prepare
) -> None:
    with environments.session(prepare()) as session:
        with pytest.raises(ActivityFailed, match="talks nonsense") as failed:
            session.run(["{python}", "-c", SPEAKS_FOR_US], 10)
        assert failed.value.kind is FailureKind.ENVIRONMENTAL


@pytest.mark.parametrize("tier", [Tier.BUBBLEWRAP], indirect=True)
def test_the_machines_password_file_cannot_be_read(
    environments: Environments, prepare: Prepare
) -> None:
    program = "import pathlib; print(len(pathlib.Path('/etc/shadow').read_bytes()))"
    with environments.session(prepare()) as session:
        done = session.run(["{python}", "-c", program], 10)
    assert done.output.strip() == "0" or "PermissionError" in done.output


@pytest.mark.parametrize("tag", ["../other", ".gone", "", "a/b"])
def test_a_tag_is_one_plain_name(environments: Environments, tag: str) -> None:
    with pytest.raises(ActivityFailed, match="no tag"):
        environments.folder(tag)
