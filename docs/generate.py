"""Write the pages that follow from code: `python -m docs.generate`. A test holds them equal."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from orchestrator.domain import states

HERE = Path(__file__).parent
MACHINES: dict[str, Mapping[Any, frozenset[Any]]] = {
    "A run": states.RUN,
    "A cancellation": states.CANCELLATION,
    "A step": states.STEP,
    "An operation": states.OPERATION,
    "An approval": states.APPROVAL,
    "A resource": states.RESOURCE,
    "A message to publish": states.OUTBOX,
}
HEAD = """# State machines

Drawn from `orchestrator/domain/states.py` by `make docs`. The database's CHECKs and an exhaustive
test, every state against every other, come from the same tables. What a table lacks is refused.
"""


def states_page() -> str:
    """Return the page of every machine."""
    return HEAD + "".join(_machine(title, table) for title, table in MACHINES.items())


def _machine(title: str, table: Mapping[StrEnum, frozenset[StrEnum]]) -> str:
    kind = type(next(iter(table)))
    words = " ".join((kind.__doc__ or "").split())
    arrows = [
        f"    {_name(before)} --> {_name(after)}"
        for before, targets in table.items()
        for after in sorted(targets)
    ]
    ends = [f"    {_name(state)} --> [*]" for state, targets in table.items() if not targets]
    lines = ["stateDiagram-v2", f"    [*] --> {_name(next(iter(table)))}", *arrows, *ends]
    return f"\n## {title}\n\n{words}\n\n```mermaid\n" + "\n".join(lines) + "\n```\n"


def _name(state: StrEnum) -> str:
    """Return a name that the drawing language takes."""
    return str(state).replace("-", "_")


if __name__ == "__main__":
    (HERE / "states.md").write_text(states_page())
