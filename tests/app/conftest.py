"""The sample applications, installed once, in repositories that a test may change."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.acceptance.running import install, read_recipe
from sandbox.app_repository import APP, NOT_SOURCE, SECOND_APP, THIRD_APP, build


@pytest.fixture(scope="session")
def dependencies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the shop's dependencies as its own file says, once; return their folder."""
    folder = tmp_path_factory.mktemp("installed") / "shop"
    shutil.copytree(APP, folder, ignore=shutil.ignore_patterns(*NOT_SOURCE))
    install(read_recipe(folder))
    return folder / ".deps"


@pytest.fixture
def make_shop(tmp_path: Path, dependencies: Path) -> Callable[[str], Path]:
    """Return a maker of fresh shop repositories, with dependencies in place."""

    def make(name: str) -> Path:
        folder = tmp_path / name
        build(APP, folder)
        (folder / ".deps").symlink_to(dependencies, target_is_directory=True)
        return folder

    return make


@pytest.fixture
def shop(make_shop: Callable[[str], Path]) -> Path:
    """Return a fresh repository of the sample shop."""
    return make_shop("shop")


@pytest.fixture
def second_app(tmp_path: Path) -> Path:
    """Return a fresh repository of the second application."""
    folder = tmp_path / "second"
    build(SECOND_APP, folder)
    return folder


@pytest.fixture
def third_app(tmp_path: Path, dependencies: Path) -> Path:
    """Return a fresh repository of the third application; it needs what the shop needs."""
    folder = tmp_path / "third"
    build(THIRD_APP, folder)
    (folder / ".deps").symlink_to(dependencies, target_is_directory=True)
    return folder
