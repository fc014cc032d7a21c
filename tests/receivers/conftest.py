"""Fixtures: one host for each module and each kind, with keys and without."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.desk import Desk, open_desk


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """Yield a host with keys."""
    yield from open_desk(tmp_path_factory.mktemp("keys"), keys=True)


@pytest.fixture(scope="module")
def keyless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """Yield a host without keys, as GitHub is."""
    yield from open_desk(tmp_path_factory.mktemp("keyless"), keys=False)


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """Yield a host whose base takes only heads that are up to date."""
    yield from open_desk(tmp_path_factory.mktemp("strict"), keys=True, strict=True)
