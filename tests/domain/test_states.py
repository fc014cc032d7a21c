"""Every machine, every state against every other, and the database's CHECKs beside them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from orchestrator.domain import states
from orchestrator.domain.states import RefusedTransition, move, sources

MACHINES: dict[str, tuple[type[StrEnum], Mapping[Any, frozenset[Any]]]] = {
    "workflow_status": (states.RunStatus, states.RUN),
    "workflow_cancel_stage": (states.CancelStage, states.CANCELLATION),
    "step_status": (states.StepStatus, states.STEP),
    "operation_status": (states.OperationStatus, states.OPERATION),
    "approval_status": (states.ApprovalStatus, states.APPROVAL),
    "resource_status": (states.ResourceStatus, states.RESOURCE),
    "outbox_status": (states.OutboxStatus, states.OUTBOX),
}
PAIRS = [
    (name, before, after)
    for name, (kind, _) in MACHINES.items()
    for before in kind
    for after in kind
]


@pytest.mark.parametrize("name", MACHINES)
def test_a_table_names_every_state(name: str) -> None:
    kind, table = MACHINES[name]
    assert set(table) == set(kind)


@pytest.mark.parametrize(("name", "before", "after"), PAIRS)
def test_a_move_is_allowed_exactly_where_the_table_has_it(
    name: str, before: StrEnum, after: StrEnum
) -> None:
    table = MACHINES[name][1]
    assert (before in sources(table, after)) is (after in table[before])
    if after in table[before]:
        assert move(table, before, after) is after
    else:
        with pytest.raises(RefusedTransition, match=str(after)):
            move(table, before, after)


@pytest.mark.engine
@pytest.mark.parametrize("name", MACHINES)
def test_the_databases_check_lists_the_same_states(database_url: str, name: str) -> None:
    engine = create_engine(database_url)
    with engine.connect() as connection:
        query = text("SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = :name")
        check = str(connection.execute(query, {"name": name}).scalar_one())
    engine.dispose()
    listed = set(check.split("'")[1::2])
    assert listed == {str(state) for state in MACHINES[name][0]}
