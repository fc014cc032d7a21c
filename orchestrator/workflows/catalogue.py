"""What this release can run."""

from __future__ import annotations

from orchestrator.workflows.bug_repair import BugRepair
from orchestrator.workflows.document import Document
from orchestrator.workflows.notice import Notice
from orchestrator.workflows.registry import Definitions


def definitions() -> Definitions:
    """Return every definition of this release."""
    return Definitions([BugRepair(), Document(), Notice()])
