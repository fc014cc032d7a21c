"""One worker's work, a step at a time, in the test's own process: no threads, no waiting."""

from __future__ import annotations

from activities.activity import Stop
from activities.attempt import Attempts
from activities.heartbeat import GRACE_S
from activities.registry import Registry
from orchestrator.contracts.messages import ApprovalAnswer, Message
from orchestrator.contracts.payload import JsonObject
from orchestrator.engine import inbox
from orchestrator.engine.database import Database
from orchestrator.engine.results import Results
from orchestrator.engine.submit import Submission, start_once
from orchestrator.store import claims, reads
from orchestrator.store.claims import Renewal
from orchestrator.store.messages import MessageKey
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

    def document(self, key: str = "key", **body: object) -> str:
        """Start a document, which needs an approval."""
        submission = Submission("document", {**NOTICE, **body}, "alice", key)
        return start_once(self.database, self.definitions, submission)

    def decide(self, workflow_id: str, ordinal: int, *, approve: bool = True) -> JsonObject:
        """Answer an approval as the reviewer rita, about exactly what is asked."""
        [asked] = [row for row in self.approvals(workflow_id) if row["ordinal"] == ordinal]
        scope = asked["scope"]
        answer = ApprovalAnswer(
            ordinal=ordinal,
            approve=approve,
            head=scope["head"],
            manifest_sha256=scope["manifest_sha256"],
        )
        return self.say(workflow_id, answer, f"answer-{ordinal}", by="rita")

    def claim(self, worker: str = "w1", batch: int = 10) -> list[Lease]:
        """Claim what is due."""
        names = self.registry.served(self.registry.queues())
        with self.database.commit("claim") as tx:
            return claims.claim_due(tx, worker, "test", names, batch=batch, lease_s=LEASE_S)

    def beat(self, *leases: Lease, lease_s: float = LEASE_S) -> list[Renewal | None]:
        """Send a heartbeat for these leases; None stands for one that is held no more."""
        with self.database.commit("beat") as tx:
            found = claims.renew_if_held(tx, leases, lease_s, GRACE_S)
        keys = [(lease.workflow_id, lease.step, lease.generation) for lease in leases]
        return [found.get(key) for key in keys]

    def say(
        self, workflow_id: str, message: Message, message_id: str = "m1", by: str = "olga"
    ) -> JsonObject:
        """Say something to a run, and have it decided now."""
        key = MessageKey(workflow_id, "run", by, message_id)
        inbox.accept(self.database, key, message)
        inbox.decide_some(self.database, self.definitions)
        answer = inbox.answer_of(self.database, key)
        if answer is None:
            raise AssertionError(f"{message.KIND} was not decided")
        return answer

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

    def approvals(self, workflow_id: str) -> list[JsonObject]:
        """Return its requests for a decision."""
        with self.database.read() as tx:
            return reads.approvals(tx, workflow_id=workflow_id)

    def history(self, workflow_id: str) -> list[str]:
        """Return the kinds of its events, in order."""
        with self.database.read() as tx:
            events = reads.history(tx, workflow_id, after=0, limit=500)
        return [event["kind"] for event in events]
