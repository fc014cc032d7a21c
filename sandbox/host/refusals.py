"""A refusal, in the words and the shape in which GitHub refuses."""

from __future__ import annotations

from typing import Any

DOCUMENTATION = "https://docs.github.com/rest"


class Refusal(Exception):
    """The request was not done; nothing was applied."""

    def __init__(
        self,
        status: int,
        message: str,
        errors: list[Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.errors = status, message, errors

    def body(self) -> dict[str, Any]:
        """Return the JSON that a client is answered with."""
        body: dict[str, Any] = {"message": self.message}
        if self.errors is not None:
            body["errors"] = self.errors
        return {**body, "documentation_url": DOCUMENTATION, "status": str(self.status)}


def not_found() -> Refusal:
    """Return GitHub's answer for what is not there or not visible."""
    return Refusal(404, "Not Found")


def invalid(resource: str, field: str, code: str = "invalid") -> Refusal:
    """Return GitHub's answer for a field that cannot be used."""
    return Refusal(422, "Validation Failed", [{"resource": resource, "field": field, "code": code}])


def custom(resource: str, message: str) -> Refusal:
    """Return GitHub's answer for a rule that only a sentence can explain."""
    return Refusal(
        422, "Validation Failed", [{"resource": resource, "code": "custom", "message": message}]
    )
