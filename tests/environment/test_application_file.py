"""`.outlast.toml`: every fault of it is named with file and field, and no path leads out."""

from __future__ import annotations

from pathlib import Path

import pytest

from activities.environment.application_file import read_application_file
from orchestrator.domain.failures import ActivityFailed, FailureKind
from tests.support.tiny_site import lay_out


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    read = read_application_file(lay_out(tmp_path / "a"))
    assert (read.name, read.source, read.ready.path) == ("tiny", ("server.py",), "/ready")


def test_a_repository_without_the_file_is_told_to_write_one(tmp_path: Path) -> None:
    with pytest.raises(ActivityFailed, match=r"has no \.outlast\.toml; write one") as failed:
        read_application_file(tmp_path)
    assert failed.value.kind is FailureKind.PERMANENT


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("schema = 1", "schema = 2", "schema: "),
        ('path = "/ready"', 'path = "ready"', "ready.path: "),
        ('name = "tiny"', 'name = "tiny"\ncolour = "red"', "colour: "),
        ("[outlast]", "[outlast", r"\.outlast\.toml: "),
        ('command = ["{python}", "server.py"]', "command = []", "start.command: "),
        ("produces = []", 'produces = ["../../other"]', "install.produces: '../../other'"),
        ("produces = []", 'produces = ["/etc"]', "install.produces: '/etc'"),
        ("produces = []", 'produces = ["."]', "install.produces: '.'"),
        ("produces = []", 'produces = [".git/hooks"]', "install.produces: '.git/hooks'"),
        ("produces = []", 'produces = ["way-out/x"]', "install.produces: 'way-out/x'"),
        ('lockfiles = ["lock.txt"]', 'lockfiles = ["../x"]', "install.lockfiles: '../x'"),
    ],
)
def test_a_fault_is_named_with_its_field(tmp_path: Path, old: str, new: str, words: str) -> None:
    workspace = lay_out(tmp_path / "a")
    (workspace / "way-out").symlink_to("/")
    file = workspace / ".outlast.toml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(ActivityFailed, match=words) as failed:
        read_application_file(workspace)
    assert failed.value.kind is FailureKind.PERMANENT
