"""The points of the matrix: found by running, never written down."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

# Commits of a process that are no run's: it announces itself and beats; a claim may find nothing.
OF_PROCESSES = frozenset({"announce-worker", "heartbeat"})


class Fault(StrEnum):
    """What happens at a point."""

    KILL_BEFORE = "kill-before"
    KILL_AFTER = "kill-after"
    FREEZE = "freeze"
    RESTART = "restart-postgres"


@dataclass(frozen=True)
class Point:
    """The nth crossing of one name, in the order of a run that nobody disturbs."""

    kind: str
    name: str
    nth: int

    def __str__(self) -> str:
        return f"{self.kind}-{self.name}-{self.nth}"


@dataclass(frozen=True)
class Cell:
    """One fault at one point of one definition."""

    definition: str
    point: Point
    fault: Fault

    def __str__(self) -> str:
        return f"{self.definition}/{self.point}/{self.fault}"


def read_points(recorded: str) -> list[Point]:
    """Return the points of a recording: `kind name` lines, each name counted."""
    seen: Counter[tuple[str, str]] = Counter()
    points = []
    for line in recorded.splitlines():
        kind, name = line.split(" ", 1)
        if kind == "commit" and name in OF_PROCESSES:
            continue
        seen[kind, name] += 1
        points.append(Point(kind, name, seen[kind, name]))
    return points


def choose(cells: list[Cell], selection: str | None, ever_failed: frozenset[str]) -> list[Cell]:
    """Return the cells to run. None: every point once, its fault in turn, and what ever failed.

    `all` is every point with every fault, `k/n` its kth part of n.
    """
    if selection == "all":
        return cells
    if selection:
        part, parts = (int(word) for word in selection.split("/"))
        return cells[part - 1 :: parts]
    faults = list(Fault)
    points = list(dict.fromkeys((cell.definition, cell.point) for cell in cells))
    turn = {place: faults[number % len(faults)] for number, place in enumerate(points)}
    return [
        cell
        for cell in cells
        if turn[cell.definition, cell.point] is cell.fault or str(cell) in ever_failed
    ]
