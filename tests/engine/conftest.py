"""A ticket service and one line of work on a fresh database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.workflows.catalogue import definitions
from tests.support.line import Line
from tests.support.tickets import TicketService, registry


@pytest.fixture
def service(tmp_path: Path) -> TicketService:
    """Return a ticket service with keys."""
    return TicketService(tmp_path / "tickets.sqlite")


@pytest.fixture
def line(database_url: str, service: TicketService) -> Iterator[Line]:
    """Yield the line."""
    made = Line(database_url, definitions(), registry(service))
    yield made
    made.database.close()
