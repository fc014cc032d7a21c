"""Rows of stored files: whose, of which attempt, and what they were obtained on. Never commits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection
from sqlalchemy.dialects.postgresql import insert

from orchestrator.contracts.evidence import ArtifactRef
from orchestrator.store import tables
from orchestrator.store.records import Lease
from orchestrator.store.runs import NOW


@dataclass(frozen=True)
class Binding:
    """What an artifact was obtained on (R25); None where the thing does not apply."""

    revision: str | None = None
    procedure_sha256: str | None = None
    environment_sha256: str | None = None


def record(
    connection: Connection, lease: Lease, refs: Sequence[ArtifactRef], binding: Binding
) -> None:
    """Record files of an accepted result; the same file of the same run is recorded once."""
    for ref in refs:
        statement = insert(tables.artifact).values(
            workflow_id=lease.workflow_id,
            sha256=ref.sha256,
            kind=ref.kind,
            name=ref.name,
            size=ref.size,
            step=lease.step,
            attempt=lease.attempt,
            revision=binding.revision,
            procedure_sha256=binding.procedure_sha256,
            environment_sha256=binding.environment_sha256,
            recorded_at=NOW,
        )
        connection.execute(statement.on_conflict_do_nothing())
