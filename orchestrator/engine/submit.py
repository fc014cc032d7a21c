"""Start a run from a submission, once per idempotency key."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, select
from sqlalchemy.dialects.postgresql import insert

from orchestrator.contracts.payload import JsonObject, fingerprint
from orchestrator.domain.failures import SubmissionConflict
from orchestrator.domain.operations import run_tag
from orchestrator.engine.database import Database
from orchestrator.engine.fold import fold
from orchestrator.store import runs, tables
from orchestrator.workflows.decision import Identity, RunStarted
from orchestrator.workflows.registry import Definitions


@dataclass(frozen=True)
class Submission:
    """What to start, for whom; `key` makes its repeat the same submission."""

    definition: str
    body: JsonObject
    principal: str
    key: str


def start_once(database: Database, definitions: Definitions, submission: Submission) -> str:
    """Start the run, or return the run that this key started before.

    Raises SubmissionConflict for the same key with another body, ValueError (from the
    definition) for a body that names a wrong field, UnknownDefinition.
    """
    try:
        return _start(database, definitions, submission)
    except _StartedBefore as before:
        return before.workflow_id


class _StartedBefore(Exception):
    """Leaves the transaction, undone: the key holds an earlier run."""

    def __init__(self, workflow_id: str) -> None:
        super().__init__(workflow_id)
        self.workflow_id = workflow_id


def _start(database: Database, definitions: Definitions, submission: Submission) -> str:
    definition = definitions.get(submission.definition)
    with database.commit("start-run") as tx:
        workflow_id = runs.next_id(tx, definition.name)
        installation = runs.installation_id(tx)
        identity = Identity(workflow_id, installation, run_tag(installation, workflow_id))
        state = definition.start(identity, submission.body)
        runs.create(
            tx,
            workflow_id,
            definition.name,
            definition.version,
            submission.principal,
            state.to_json(),
            definition.phase(state),
        )
        _claim_key(tx, submission, workflow_id)
        run = runs.lock(tx, workflow_id)
        fold(tx, definitions, run, RunStarted(at=run.now), f"principal:{submission.principal}")
    return workflow_id


def _claim_key(tx: Connection, submission: Submission, workflow_id: str) -> None:
    """Bind the key to the new run, or leave with the run that holds it. Waits for a rival."""
    table = tables.submission
    said = fingerprint({"definition": submission.definition, "body": submission.body})
    taken = tx.execute(
        insert(table)
        .values(
            principal=submission.principal,
            idempotency_key=submission.key,
            fingerprint=said,
            workflow_id=workflow_id,
        )
        .on_conflict_do_nothing()
        .returning(table.c.workflow_id)
    ).first()
    if taken is not None:
        return
    query = select(table.c.workflow_id, table.c.fingerprint).where(
        table.c.principal == submission.principal,
        table.c.idempotency_key == submission.key,
    )
    earlier, fingerprint_before = tx.execute(query).one()
    if fingerprint_before != said:
        raise SubmissionConflict(submission.key)
    raise _StartedBefore(earlier)
