"""One worker's work, a step at a time, in the test's own process: no threads, no waiting."""

from __future__ import annotations

from activities.activity import Stop
from activities.attempt import Attempts
from activities.registry import Registry
from orchestrator.contracts.payload import JsonObject
from orchestrator.engine.database import Database
from orchestrator.engine.results import Results
from orchestrator.engine.submit import Submission, start_once
from orchestrator.store import reads, steps
from orchestrator.store.records import Lease
from orchestrator.workflows.registry import Definitions
from reconciler.ambiguous_operations import AmbiguousOperations
from reconciler.expired_leases import ExpiredLeases

LEASE_S = 10.0
NOTICE = {"repository": "demo/shop", "title": "Maintenance", "text": "From two to three."}


class Line:
    """A database, a worker's hands and a reconciler, each moved by the test."""

    def __init__(self, dsn: str, definitions: Definitions, registry: Registry) -> None:
        self.database, self.definitions = Database(dsn), definitions
        self.registry = registry
        self.results = Results(self.database, definitions)
        self.attempts = Attempts(self.database, registry, self.results)
        self.expired = ExpiredLeases(self.database, definitions)
        self.ambiguous = AmbiguousOperations(self.database, definitions, registry, "test")

    def start(self, key: str = "key", **body: str) -> str:
        """Start a notice."""
        submission = Submission("notice", {**NOTICE, **body}, "alice", key)
        return start_once(self.database, self.definitions, submission)

    def claim(self, worker: str = "w1", batch: int = 10) -> list[Lease]:
        """Claim what is due."""
        names = self.registry.served(self.registry.queues())
        with self.database.commit("claim") as tx:
            return steps.claim_due(tx, worker, "test", names, batch=batch, lease_s=LEASE_S)

    def execute(self, lease: Lease) -> None:
        """Execute one lease to its end."""
        self.attempts.execute(lease, Stop())

    def work(self, worker: str = "w1") -> int:
        """Claim and execute until nothing is due; return how many steps were executed."""
        done = 0
        while leases := self.claim(worker):
            for lease in leases:
                self.execute(lease)
                done += 1
        return done

    def run(self, workflow_id: str) -> JsonObject:
        """Return the run as people see it."""
        with self.database.read() as tx:
            return reads.run(tx, workflow_id)

    def steps(self, workflow_id: str) -> list[JsonObject]:
        """Return its steps with attempts."""
        with self.database.read() as tx:
            return reads.steps(tx, workflow_id)

    def operations(self, workflow_id: str) -> list[JsonObject]:
        """Return its operations."""
        with self.database.read() as tx:
            return reads.operations(tx, workflow_id)

    def history(self, workflow_id: str) -> list[str]:
        """Return the kinds of its events, in order."""
        with self.database.read() as tx:
            events = reads.history(tx, workflow_id, after=0, limit=500)
        return [event["kind"] for event in events]
