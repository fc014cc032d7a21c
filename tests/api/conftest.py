"""The API on a real server: over a fresh database, or over one that a module's tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.database import Databases, render
from tests.support.served import Served, serving

POLICY = {
    "allowed_paths": ["shop", "lib/core"],
    "repair_attempts": 3,
    "may_merge_after_approval": False,
}


@pytest.fixture
def served(database_url: str, tmp_path: Path) -> Iterator[Served]:
    """Yield the running API."""
    with serving(database_url, tmp_path) as running:
        yield running


@pytest.fixture(scope="module")
def shared(
    databases: Databases, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """Yield a running API for tests that need no emptiness."""
    folder = tmp_path_factory.mktemp("api")
    with databases.lend("api", template) as url, serving(render(url), folder) as running:
        yield running


@pytest.fixture(scope="module")
def strict(
    databases: Databases, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """Yield an API whose installation permits less than the default."""
    folder = tmp_path_factory.mktemp("strict")
    with databases.lend("api", template) as url, serving(render(url), folder, POLICY) as running:
        yield running
