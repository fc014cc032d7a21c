"""Environments in a folder of the test's own, once for each tier that works here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from activities.artifacts import ArtifactStore
from activities.environment.provider import Environments, Prepared
from activities.environment.tiers import Tier, choose_tier
from tests.support.tiny_site import REVISION, lay_out

TIERS = [Tier.PLAIN] if choose_tier() is Tier.PLAIN else [Tier.BUBBLEWRAP, Tier.PLAIN]


@pytest.fixture(params=TIERS)
def tier(request: pytest.FixtureRequest) -> Tier:
    """Return each tier that works on this machine."""
    return Tier(request.param)


@pytest.fixture
def environments(tmp_path: Path, tier: Tier) -> Environments:
    """Return environments in a fresh data folder."""
    home = tmp_path / "data"
    return Environments(home, ArtifactStore(home / "artifacts"), tier)


@pytest.fixture
def run_tag(tmp_path: Path) -> str:
    """Return a tag that no other test has."""
    return f"run-{abs(hash(tmp_path)):x}"


@pytest.fixture
def prepare(environments: Environments, run_tag: str) -> Callable[..., Prepared]:
    """Return what lays the tiny application out and prepares it."""

    def made(name: str = "one", **wishes: object) -> Prepared:
        workspace = environments.folder(run_tag) / "work" / name
        lay_out(workspace, **wishes)  # type: ignore[arg-type]
        return environments.prepare(workspace, REVISION, "demo/tiny", run_tag)

    return made
