"""A browser beside the tiny application, in the best tier that works here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from activities.artifacts import ArtifactStore
from activities.environment.provider import Environments, Prepared
from orchestrator.contracts.evidence import ReplayEvidence
from orchestrator.contracts.procedure import Procedure
from tests.support.tiny_site import REVISION, lay_out

Raw = dict[str, Any]
Replay = Callable[..., ReplayEvidence]


@pytest.fixture
def environments(tmp_path: Path) -> Environments:
    """Return environments in a fresh data folder."""
    home = tmp_path / "data"
    return Environments(home, ArtifactStore(home / "artifacts"))


@pytest.fixture
def prepared(environments: Environments, tmp_path: Path) -> Prepared:
    """Return the tiny application, prepared."""
    tag = f"browser-{abs(hash(tmp_path)):x}"
    workspace = lay_out(environments.folder(tag) / "work" / "a")
    return environments.prepare(workspace, REVISION, "demo/tiny", tag)


@pytest.fixture
def replay(environments: Environments, prepared: Prepared) -> Replay:
    """Return what plays steps and expectations, once unless more runs are wished for."""

    def play(
        steps: list[Raw],
        expectations: list[Raw],
        repeat: int = 1,
        secrets: dict[str, str] | None = None,
        step_timeout_ms: int = 1_500,
    ) -> ReplayEvidence:
        procedure = Procedure.model_validate(
            {
                "title": "t",
                "steps": [{"id": f"s{i}", **step} for i, step in enumerate(steps)],
                "expectations": [{"id": f"e{i}", **each} for i, each in enumerate(expectations)],
                "repeat": repeat,
                "secrets": sorted(secrets or {}),
                "step_timeout_ms": step_timeout_ms,
            }
        )
        return environments.replay(prepared, procedure, secrets or {}, "c" * 64)

    return play
