"""The API on a real server over a fresh database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.served import Served, serving


@pytest.fixture
def served(database_url: str, tmp_path: Path) -> Iterator[Served]:
    """Yield the running API."""
    with serving(database_url, tmp_path) as running:
        yield running


@pytest.fixture
def strict(database_url: str, tmp_path: Path) -> Iterator[Served]:
    """Yield an API whose installation permits less than the default."""
    policy = {
        "allowed_paths": ["shop", "lib/core"],
        "repair_attempts": 3,
        "may_merge_after_approval": False,
    }
    with serving(database_url, tmp_path, policy) as running:
        yield running
