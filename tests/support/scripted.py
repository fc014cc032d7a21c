"""The flagship's activities and mutations with results written beforehand: no git, no browser."""

from __future__ import annotations

from dataclasses import dataclass, field

from activities.activity import Context, Outcome
from activities.artifacts import ArtifactStore
from activities.mutation import Absent, Applied, Call, Observed
from activities.registry import Registry
from orchestrator.contracts.payload import JsonObject
from orchestrator.domain.operations import Guarantee
from orchestrator.store.artifacts import Binding

BASE, HEAD, MERGE = "a" * 40, "b" * 40, "d" * 40
PROCEDURE = "e" * 64
SCREENSHOT = b"\x89PNG not really, but bytes all the same\x00\xff"
RESULTS: dict[str, tuple[str, JsonObject]] = {
    "derive-procedure": ("model", {"procedure_sha256": PROCEDURE}),
    "resolve-revision": ("git", {"revision": BASE}),
    "reproduce": (
        "browser",
        {
            "verdict": "failed",
            "revision": BASE,
            "procedure_sha256": PROCEDURE,
            "environment_sha256": "env",
            "evidence_sha256": "f" * 64,
            "expected": "A",
            "observed": "B",
            "tier": "bubblewrap",
            "browser": "150",
        },
    ),
    "propose-candidate": (
        "model",
        {"patch_sha256": "9" * 64, "hypothesis": "off by one", "provider": "offline"},
    ),
    "verify-candidate": (
        "browser",
        {
            "passed": True,
            "why": "passes 3 of 3",
            "base_revision": BASE,
            "commit": HEAD,
            "bundle_sha256": "1" * 64,
            "environment_sha256": "env",
            "procedure_sha256": PROCEDURE,
            "checks_sha256": "2" * 64,
            "replay_sha256": "3" * 64,
            "tier": "bubblewrap",
        },
    ),
    "revalidate": (
        "git",
        {
            "state": "open",
            "merged": False,
            "draft": True,
            "head": HEAD,
            "base": "main",
            "base_revision": BASE,
        },
    ),
}
EFFECTS: dict[str, tuple[str, str, JsonObject]] = {
    "create-ticket": ("tracker", "12", {}),
    "provision-environment": (
        "environment",
        "env-1",
        {"spec_sha256": "5" * 64, "environment_sha256": "env", "tier": "bubblewrap"},
    ),
    "push-branch": ("git", HEAD, {}),
    "create-draft-pull-request": ("tracker", "13", {}),
    "attach-evidence": ("tracker", "13", {}),
    "mark-ready": ("tracker", "13", {}),
    "merge": ("tracker", MERGE, {"merge_commit": MERGE, "parents": [BASE, HEAD]}),
    "close-pull-request": ("tracker", "13", {}),
    "update-ticket": ("tracker", "12", {}),
    "close-ticket": ("tracker", "12", {}),
    "delete-branch": ("git", "gone", {}),
    "tear-down-environment": ("environment", "gone", {}),
}


@dataclass
class Scripted:
    """An activity that brings back what it was given; the reproduction leaves a screenshot."""

    name: str
    queue: str
    result: JsonObject
    store: ArtifactStore

    def run(self, given: JsonObject, context: Context) -> Outcome:
        """Bring it back."""
        if self.name != "reproduce":
            return Outcome(self.result)
        picture = self.store.put(SCREENSHOT, "screenshot", "run-1/the end.png")
        return Outcome(self.result, [picture], Binding(BASE, PROCEDURE, "env"))


@dataclass
class ScriptedEffect:
    """A mutation that always takes effect."""

    name: str
    queue: str
    reference: str
    facts: JsonObject = field(default_factory=dict)
    guarantee: Guarantee = Guarantee.NATURAL

    def perform(self, request: JsonObject, call: Call) -> Applied:
        """Say that it took effect."""
        return Applied(self.reference, self.facts)

    def observe(self, request: JsonObject, call: Call) -> Observed:
        """Say that it may be done again."""
        return Absent("done again", conclusive=True)


def scripted_registry(store: ArtifactStore) -> Registry:
    """Return everything that a run of `bug-repair` schedules on its way to a merge or an end."""
    return Registry(
        [Scripted(name, queue, result, store) for name, (queue, result) in RESULTS.items()],
        [ScriptedEffect(name, *effect) for name, effect in EFFECTS.items()],
    )
