"""The whole product on this machine, as `outlast up` starts it, for the length of a module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.owner.owner import Owner
from tests.support.whole import Whole


@pytest.fixture(scope="session")
def kept_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where installed dependencies are kept between stacks."""
    return tmp_path_factory.mktemp("dependencies")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, kept_cache: Path) -> Iterator[Whole]:
    """Yield everything, started and answering."""
    with Owner() as owner:
        made = Whole.start(tmp_path_factory.mktemp("home"), owner, kept_cache)
        yield made
        made.close()
