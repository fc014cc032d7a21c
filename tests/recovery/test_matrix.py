"""The crash matrix: one fault at one crossing; each cell ends as the run that nobody disturbed.

A point is a crossing of the seam, commit or external call, found by recording an undisturbed run.
"""

from __future__ import annotations

import json
import signal
import subprocess

import pytest

from orchestrator.clock import wait_for
from tests.recovery.conftest import DEFINITIONS, bench, start, undisturbed
from tests.recovery.points import Cell, Fault, choose
from tests.recovery.world import World, is_frozen, thaw

pytestmark = [pytest.mark.recovery, pytest.mark.timeout(180)]
PAST_EVERY_LEASE_S = 60.0
FIRES_WITHIN_S = 60.0


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_every_commit_of_the_seam_is_a_write_of_the_database_and_the_reverse(
    definition: str,
) -> None:
    """The server counts what took a transaction id, which only writes do; nobody else is on it."""
    seen = undisturbed(definition)
    assert len(seen.points) >= 12
    assert seen.transactions == seen.writes_at_the_seam


def test_cell(cell: Cell) -> None:
    expected = undisturbed(cell.definition).normal_form
    with bench().fresh() as world:
        run = start(world, cell.definition)
        play(world, run, cell)
        found = world.normal_form(run)
    assert found == expected, json.dumps({"found": found, "expected": expected}, indent=1)


def play(world: World, run: str, cell: Cell) -> None:
    """Let the fault happen, prove that it did, then let fresh processes end the run."""
    victim = world.start("victim", *watched(cell))
    wait_for(lambda: fired(world, run, victim, cell.fault), FIRES_WITHIN_S, f"{cell}", every=0.05)
    if cell.fault is Fault.RESTART:
        bench().restart_at_once()
        world.line.database.close()
    world.clock.advance(PAST_EVERY_LEASE_S)
    world.start("second")
    world.start("reconciler")
    if cell.fault is Fault.RESTART:
        thaw(victim)
    world.end(run)
    world.published(run)
    if cell.fault is Fault.FREEZE:
        thaw(victim)
        awake(world, victim)


def fired(world: World, run: str, victim: subprocess.Popen[bytes], fault: Fault) -> bool:
    """Return whether the fault has happened; approve meanwhile what waits for it."""
    world.approve(run)
    if fault in (Fault.KILL_BEFORE, Fault.KILL_AFTER):
        ended = victim.poll()
        assert ended in (None, -signal.SIGKILL)
        return ended is not None
    return is_frozen(victim)


def watched(cell: Cell) -> tuple[str, ...]:
    """Return the words that make a process do it to itself."""
    point = cell.point
    side = "after" if cell.fault is Fault.KILL_AFTER else "before"
    kills = cell.fault in (Fault.KILL_BEFORE, Fault.KILL_AFTER)
    return (
        point.kind,
        point.name,
        side,
        "SIGKILL" if kills else "SIGSTOP",
        str(point.nth),
    )


def awake(world: World, victim: subprocess.Popen[bytes]) -> None:
    """Return once the thawed victim has spoken to the database again: it is awake."""
    query = "SELECT max(seen_at) FROM worker WHERE id LIKE %s"

    def seen() -> object:
        with world.line.database.read() as tx:
            return tx.exec_driver_sql(query, (f"victim-{victim.pid}-%",)).scalar_one()

    before = seen()
    wait_for(lambda: seen() != before, FIRES_WITHIN_S, "the victim's next heartbeat", every=0.05)


def test_a_slice_holds_every_point_and_all_parts_together_everything() -> None:
    points = undisturbed("notice").points
    every = [Cell("notice", point, fault) for point in points for fault in Fault]
    once = choose(every, None, frozenset())
    assert [cell.point for cell in once] == points
    assert len({cell.fault for cell in once}) == len(Fault)
    failed = next(cell for cell in every if cell not in once)
    assert failed in choose(every, None, frozenset({str(failed)}))
    parts = [cell for part in range(1, 4) for cell in choose(every, f"{part}/3", frozenset())]
    assert sorted(map(str, parts)) == sorted(map(str, every))
