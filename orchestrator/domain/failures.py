"""Why something failed, which decides what may follow. The whole policy is in `budgets.py`.

OutlastError
├── ActivityFailed      an activity says why; carries a FailureKind
├── StaleAttempt        a write by an attempt that no longer holds its step
├── RunNotFound         no such run
├── OperationMismatch   the same operation id with other parameters
└── NotPermitted        the work contract or a role does not allow it
"""

from __future__ import annotations

from enum import StrEnum


class FailureKind(StrEnum):
    """What kind of failure it was; each spends another budget, or none."""

    TRANSIENT = "transient"
    ENVIRONMENTAL = "environmental"
    PERMANENT = "permanent"
    AMBIGUOUS = "ambiguous"
    POLICY_BOUND = "policy-bound"
    DOMAIN_NEGATIVE = "domain-negative"
    REFUSED = "refused"


class OutlastError(Exception):
    """The root of every error that this project raises on purpose."""


class ActivityFailed(OutlastError):
    """An activity failed in a way that it can name.

    `retry_after_s` is set only when the receiver said when to come back.
    """

    def __init__(
        self, kind: FailureKind, reason: str, *, retry_after_s: float | None = None
    ) -> None:
        super().__init__(f"{kind}: {reason}")
        self.kind, self.reason, self.retry_after_s = kind, reason, retry_after_s


class StaleAttempt(OutlastError):
    """The attempt no longer holds its step; nothing was written."""

    def __init__(self, workflow_id: str, step: int, attempt: int, generation: int) -> None:
        super().__init__(
            f"attempt {attempt} (generation {generation}) of step {step} of {workflow_id} was "
            "superseded; drop its result, another attempt owns the step"
        )
        self.workflow_id, self.step, self.attempt, self.generation = (
            workflow_id,
            step,
            attempt,
            generation,
        )


class RunNotFound(OutlastError):
    """No run has this id."""

    def __init__(self, workflow_id: str) -> None:
        super().__init__(f"no run {workflow_id}; list the runs to see which exist")
        self.workflow_id = workflow_id


class OperationMismatch(OutlastError):
    """An operation id was used before with other parameters (P7); nothing was sent."""

    def __init__(self, operation_id: str) -> None:
        super().__init__(
            f"operation {operation_id} exists with other parameters; a new intent needs a new id"
        )
        self.operation_id = operation_id


class NotPermitted(OutlastError):
    """The work contract, a budget or a role does not allow what was asked."""


class MessageConflict(OutlastError):
    """A message id was used before for another message; nothing was accepted (P3)."""

    def __init__(self, message_id: str) -> None:
        super().__init__(f"message {message_id} was accepted with other words; use a new id")
        self.message_id = message_id


class SubmissionConflict(OutlastError):
    """An idempotency key was used before for another submission; nothing was started."""

    def __init__(self, key: str) -> None:
        super().__init__(f"Idempotency-Key {key} stands for another submission; use a new key")
        self.key = key
