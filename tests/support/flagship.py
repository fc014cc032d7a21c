"""The flagship, told event by event: the facts of one run and the hand that tells them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from orchestrator.contracts.checkpoint import BugRepairState
from orchestrator.domain.failures import FailureKind
from orchestrator.workflows.bug_repair import BugRepair
from orchestrator.workflows.decision import (
    ApprovalDecided,
    AskApproval,
    Decision,
    EndRun,
    Event,
    Identity,
    Mutate,
    Notify,
    RunActivity,
    RunStarted,
    StepFailed,
    StepSucceeded,
)

AT = datetime(2026, 1, 1, tzinfo=UTC)
BASE, HEAD, MOVED, MERGE = "a" * 40, "b" * 40, "c" * 40, "d" * 40
SHA = "e" * 64
IDENTITY = Identity("bug-repair-7", "inst", "outlast-inst-bug-repair-7")
REPORT = {"repository": "demo/shop", "title": "A fault", "text": "1. Open /x"}
REPLAY = {
    "revision": BASE,
    "procedure_sha256": SHA,
    "environment_sha256": "env",
    "evidence_sha256": "f" * 64,
    "expected": "A",
    "observed": "B",
    "tier": "bubblewrap",
    "browser": "150",
}
VERIFIED = {
    "passed": True,
    "why": "passes 3 of 3",
    "base_revision": BASE,
    "commit": HEAD,
    "bundle_sha256": "1" * 64,
    "environment_sha256": "env",
    "procedure_sha256": SHA,
    "checks_sha256": "2" * 64,
    "replay_sha256": "3" * 64,
    "tier": "bubblewrap",
}
SEEN = {
    "state": "open",
    "merged": False,
    "draft": True,
    "head": HEAD,
    "base": "main",
    "base_revision": BASE,
}
PROPOSED = {"patch_sha256": "9" * 64, "hypothesis": "off by one", "provider": "offline"}


class Run:
    """Feeds events to the definition and keeps what came out."""

    def __init__(self, **contract: Any) -> None:
        self.definition = BugRepair()
        submission = {**REPORT, "contract": contract}
        self.state: BugRepairState = self.definition.start(IDENTITY, submission)
        self.last: Decision[BugRepairState] = Decision(self.state)
        self.tell(RunStarted(AT))

    def tell(self, event: Event) -> list[str]:
        """Decide on an event; return what was asked for, by name."""
        self.last = self.definition.decide(self.state, event)
        self.state = self.last.state
        return [name(effect) for effect in self.last.effects]

    def ok(
        self, step: str, result: dict[str, Any] | None = None, ref: str | None = None
    ) -> list[str]:
        """A step succeeded."""
        return self.tell(StepSucceeded(AT, step, 1, result or {}, ref))

    def fail(self, step: str, kind: FailureKind, reason: str = "why") -> list[str]:
        """A step failed for good."""
        return self.tell(StepFailed(AT, step, 1, kind, reason))

    def reproduced(self) -> Run:
        """Go on to the first candidate's proposal."""
        self.ok("create-ticket", {}, "12")
        self.ok("derive-procedure", {"procedure_sha256": SHA})
        self.ok("resolve-revision", {"revision": BASE})
        self.ok(
            "provision-environment",
            {"spec_sha256": SHA, "environment_sha256": "env", "tier": "bubblewrap"},
        )
        self.ok("reproduce", {**REPLAY, "verdict": "failed"})
        return self

    def asked(self) -> Run:
        """Go on to the first approval."""
        self.reproduced()
        self.ok("propose-candidate", PROPOSED)
        self.ok("verify-candidate", VERIFIED)
        self.ok("push-branch", {}, HEAD)
        self.ok("create-draft-pull-request", {}, "13")
        self.ok("attach-evidence")
        return self

    def approve(self, ordinal: int = 1) -> list[str]:
        """A person approves."""
        return self.tell(ApprovalDecided(AT, ordinal, True, "rita", ""))

    def close(self) -> tuple[list[str], EndRun]:
        """Let every closing step succeed; return their names and the ending."""
        done: list[str] = []
        while True:
            names = [name(effect) for effect in self.last.effects]
            ends = [effect for effect in self.last.effects if isinstance(effect, EndRun)]
            if ends:
                return done, ends[0]
            done += names
            self.ok(names[0])


def name(effect: object) -> str:
    match effect:
        case RunActivity(name=step) | Mutate(name=step):
            return step
        case AskApproval(ordinal=ordinal):
            return f"ask {ordinal}"
        case Notify(topic=topic):
            return f"notify {topic}"
        case EndRun(outcome=outcome):
            return f"end {outcome}"
        case _:
            return type(effect).__name__
