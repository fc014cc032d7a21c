"""The repository that the host is seeded with."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from sandbox.app_repository import APP, SECOND_APP, CannotBuild, build


def tracked(folder: Path) -> set[str]:
    argv = ["git", "ls-files"]
    listed = subprocess.run(argv, cwd=folder, check=True, capture_output=True, text=True)
    return set(listed.stdout.splitlines())


@pytest.mark.parametrize("source", [APP, SECOND_APP], ids=["shop", "second"])
def test_two_builds_have_the_same_revision(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = build(source, tmp_path / "first")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody Else")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.autocrlf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "true")
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    assert build(source, tmp_path / "second") == first


def test_the_revision_does_not_depend_on_modes_or_leftovers(tmp_path: Path) -> None:
    first = build(APP, tmp_path / "first")
    used = tmp_path / "used"
    shutil.copytree(APP, used)
    for made in (".deps/flask", "instance", "shop/__pycache__"):
        (used / made).mkdir(parents=True, exist_ok=True)
        (used / made / "left.over").write_text("x")
    for file in used.rglob("*.py"):
        file.chmod(0o755)
    assert build(used, tmp_path / "second") == first


def test_the_repository_stands_clean_on_main_with_all_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    revision = build(APP, folder)
    argv = ["git", "log", "--format=%H %D"]
    log = subprocess.run(argv, cwd=folder, check=True, capture_output=True, text=True).stdout
    assert log == f"{revision} HEAD -> main\n"
    assert {".outlast.toml", ".gitignore", "requirements.txt", "fixtures/wares.json"} <= tracked(
        folder
    )
    assert "tests/test_basket.py" in tracked(folder)


def test_a_changed_file_changes_the_revision(tmp_path: Path) -> None:
    first = build(APP, tmp_path / "first")
    changed = tmp_path / "changed"
    shutil.copytree(APP, changed)
    (changed / "README.md").write_text("another\n")
    assert build(changed, tmp_path / "second") != first


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep")
    with pytest.raises(CannotBuild, match="not empty"):
        build(APP, tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "keep"
