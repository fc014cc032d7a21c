"""What setup brings, and what it says when it cannot."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import brotli  # type: ignore[import-untyped]
import pytest

from sandbox.setup import browser, npm_browser, tools
from sandbox.setup.errors import CommandFailed, SetupError
from sandbox.setup.machine import run


@pytest.fixture
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand for a machine with nothing on its path, used by an ordinary user."""
    for module in (browser, tools):
        monkeypatch.setattr(module, "can_install", lambda: False)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setenv("OUTLAST_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("OUTLAST_CHROMIUM", raising=False)
    return tmp_path


def plant(folder: Path, name: str) -> Path:
    """Make a program."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)
    return folder / name


def test_a_missing_git_is_an_error_that_says_what_to_do(bare_machine: Path) -> None:
    with pytest.raises(SetupError, match="apt-get install git"):
        tools.provide_git()
    git = plant(bare_machine / "path", "git")
    assert tools.provide_git() == str(git)


def test_a_missing_faketime_is_told_and_no_error(bare_machine: Path) -> None:
    assert "skipped" in tools.provide_faketime()
    found = plant(bare_machine / "path", "faketime")
    assert tools.provide_faketime() == str(found)


def test_a_found_browser_is_taken(bare_machine: Path) -> None:
    found = plant(bare_machine / "path", "chromium")
    assert browser.provide_browser() == found


def test_a_fetched_browser_is_used_again(bare_machine: Path) -> None:
    fetched = plant(bare_machine / "home" / "browsers" / "chromium", "chromium")
    assert browser.provide_browser() == fetched


def test_a_choice_of_browser_is_kept(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(bare_machine / "path", "chromium")
    fetched = plant(bare_machine / "home" / "browsers" / "chromium", "chromium")
    monkeypatch.setenv("OUTLAST_CHROMIUM", "npm")
    assert browser.provide_browser() == fetched
    monkeypatch.setenv("OUTLAST_CHROMIUM", str(bare_machine / "nothing"))
    with pytest.raises(SetupError, match="nothing, which is no program"):
        browser.provide_browser()


def test_found_only_never_fetches(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not (bare_machine / "path").exists()
    monkeypatch.setenv("OUTLAST_CHROMIUM", "found")
    with pytest.raises(SetupError, match="install the package chromium"):
        browser.provide_browser()


def test_a_program_that_fails_is_told_with_its_last_words() -> None:
    with pytest.raises(CommandFailed, match="the last word"):
        run(["sh", "-c", "echo the last word >&2; exit 3"])


def pack(program: bytes, folder: Path) -> None:
    """Write a package of the form that npm's has, with this program as browser."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "chromium.br").write_bytes(brotli.compress(program))
    for name in ("swiftshader", "fonts", "al2023"):
        raw = io.BytesIO()
        with tarfile.open(fileobj=raw, mode="w") as archive:
            archive.addfile(tarfile.TarInfo(f"{name}.txt"))
        (folder / "bin" / f"{name}.tar.br").write_bytes(brotli.compress(raw.getvalue()))


def test_a_fetched_browser_that_does_not_start_is_refused_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unpack(work: Path) -> Path:
        pack(b"#!/bin/sh\nexit 1\n", work / "package")
        return work / "package"

    monkeypatch.setattr(npm_browser, "_unpack_package", unpack)
    target = tmp_path / "browsers" / "chromium" / "chromium"
    with pytest.raises(SetupError, match="does not start here"):
        npm_browser.fetch_browser(target)
    assert os.listdir(tmp_path / "browsers") == []


def test_a_package_with_a_file_outside_itself_is_refused(tmp_path: Path) -> None:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("../outside.txt"))
    raw.seek(0)
    with (
        tarfile.open(fileobj=raw) as archive,
        pytest.raises(SetupError, match="outside itself"),
    ):
        npm_browser._extract(archive, tmp_path / "folder")
    assert not (tmp_path / "outside.txt").exists()
