"""What a worker says it serves, what a registry refuses, and which budget a failure spends."""

from __future__ import annotations

from pathlib import Path

import pytest

from activities.installation import build
from activities.registry import IncompleteMutation, Registry
from orchestrator.contracts.payload import UnreadablePayload
from orchestrator.contracts.procedure import Procedure
from orchestrator.domain.budgets import Budget, GiveUp, Limits, Retry, Spent, after_failure
from orchestrator.domain.failures import FailureKind


def test_a_worker_serves_exactly_the_kinds_that_it_names(tmp_path: Path) -> None:
    registry = build(tmp_path, "http://127.0.0.1:1")
    assert registry.served(["model"]) == ("derive-procedure", "propose-candidate")
    assert "push-branch" in registry.served(["git"])
    assert registry.queues() == ("browser", "environment", "git", "model", "text", "tracker")


def test_every_mutation_of_the_flagship_is_registered_with_both_ways(tmp_path: Path) -> None:
    registry = build(tmp_path, "http://127.0.0.1:1")
    assert set(registry.mutations) == {
        "create-ticket",
        "update-ticket",
        "close-ticket",
        "provision-environment",
        "tear-down-environment",
        "push-branch",
        "delete-branch",
        "create-draft-pull-request",
        "attach-evidence",
        "request-review",
        "mark-ready",
        "convert-to-draft",
        "merge",
        "close-pull-request",
    }


@pytest.mark.parametrize("missing", ["perform", "observe", "guarantee"])
def test_a_mutation_without_a_part_is_refused_by_name(missing: str) -> None:
    class Half:
        name = "half"
        queue = "git"
        guarantee = "none"
        perform = observe = staticmethod(lambda *_: None)

    if missing != "guarantee":
        setattr(Half, missing, None)
    with pytest.raises(IncompleteMutation, match=missing):
        Registry([], [Half()])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("kind", "budget"),
    [
        (FailureKind.TRANSIENT, Budget.TRANSPORT),
        (FailureKind.ENVIRONMENTAL, Budget.TOOL),
        (FailureKind.REFUSED, Budget.REFUSAL),
    ],
)
def test_a_failure_spends_the_budget_of_its_kind_until_that_one_ends(
    kind: FailureKind, budget: Budget
) -> None:
    limits, spent, tries = Limits(), Spent(), 0
    while isinstance(move := after_failure(kind, limits, spent), Retry):
        spent, tries = move.spent, tries + 1
    assert move == GiveUp(budget)
    assert tries == getattr(limits, budget)
    assert [name for name, used in spent.to_json().items() if used] == [budget]


@pytest.mark.parametrize(
    "kind",
    [
        FailureKind.PERMANENT,
        FailureKind.POLICY_BOUND,
        FailureKind.DOMAIN_NEGATIVE,
        FailureKind.AMBIGUOUS,
    ],
)
def test_what_no_retry_helps_is_never_retried(kind: FailureKind) -> None:
    assert after_failure(kind, Limits(), Spent()) == GiveUp(None)


def test_a_wait_that_the_receiver_asks_for_is_counted_by_time_and_not_as_an_attempt() -> None:
    move = after_failure(FailureKind.TRANSIENT, Limits(), Spent(), asked_wait_s=3600)
    assert isinstance(move, Retry)
    assert (move.after_s, move.spent.transport, move.spent.asked_wait_s) == (3600, 0, 3600)
    assert after_failure(FailureKind.TRANSIENT, Limits(), move.spent, asked_wait_s=3601) == GiveUp(
        Budget.TRANSPORT
    )


def test_a_payload_of_another_version_is_refused_and_says_which() -> None:
    raw = {"kind": "procedure", "version": 9}
    with pytest.raises(UnreadablePayload, match="procedure v1, found procedure v9"):
        Procedure.from_json(raw)


def test_what_failed_in_one_moment_does_not_come_back_in_one_moment() -> None:
    """Jitter from the key alone: between half of the pause and all of it, the same each time."""
    pauses = [Retry(10.0, Spent()).pause(f"run-{number}:1:1") for number in range(100)]
    assert len(set(pauses)) == 100
    assert min(pauses) >= 5.0
    assert max(pauses) <= 10.0
    assert max(pauses) - min(pauses) > 4.0
    assert pauses[7] == Retry(10.0, Spent()).pause("run-7:1:1")


def test_a_wait_that_a_receiver_asked_for_is_never_shortened() -> None:
    asked = [Retry(60.0, Spent(), asked=True).pause(f"run-{number}") for number in range(50)]
    assert min(asked) >= 60.0
    assert max(asked) <= 66.0
