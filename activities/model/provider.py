"""What a model is to the rest: it proposes a candidate; its answer is data."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from orchestrator.contracts.environment import ApplicationFile
from orchestrator.contracts.payload import JsonObject
from orchestrator.contracts.proposal import Proposal, ProposalRequest


class Answer(Protocol):
    """What the application said to one light request; header names are in lower case."""

    @property
    def status(self) -> int:
        """The status code."""

    @property
    def headers(self) -> list[tuple[str, str]]:
        """The headers, in order."""

    @property
    def body(self) -> str:
        """The body as text."""


class Ended(Protocol):
    """How a command ended."""

    @property
    def returncode(self) -> int:
        """Its exit status; negative when it was ended."""

    @property
    def output(self) -> str:
        """What it printed."""


class ScreeningSession(Protocol):
    """A scratch workspace with the application in it, in a sandbox without network."""

    def start_app(self, extra_env: Mapping[str, str] | None = None) -> None:
        """Seed and start the application afresh. Raises ActivityFailed."""

    def stop_app(self) -> None:
        """End the application."""

    def request(
        self,
        method: str,
        path: str,
        form: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        follow: bool = False,
    ) -> Answer:
        """Send one light request."""

    def run(self, argv: list[str], timeout_s: float) -> Ended:
        """Run a command in the workspace."""

    def write(self, path: str, text: str) -> None:
        """Write a file of the workspace."""


@dataclass(frozen=True)
class Workbench:
    """A restored checkout of the base for this attempt alone, and how to open a session on it.

    `memo` is a folder for results of screening: a cache, never trusted for more than order.
    """

    workspace: Path
    application: ApplicationFile
    secrets: Mapping[str, str]
    open_session: Callable[[], AbstractContextManager[ScreeningSession]]
    progress: Callable[[JsonObject], None] = lambda _: None
    stop: threading.Event = field(default_factory=threading.Event)
    substate: JsonObject | None = None
    memo: Path | None = None


class ModelProvider(Protocol):
    """Proposes candidates. Raises ActivityFailed: domain-negative when it is out of ideas,
    refused, transient or permanent as a hosted model may be."""

    name: str
    version: str

    def propose(self, request: ProposalRequest, bench: Workbench) -> Proposal:
        """Return one candidate that differs from every earlier one."""
