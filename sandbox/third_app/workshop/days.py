"""Open and closed days: when tools fall due, and how late they are."""

import sqlite3
from collections.abc import Collection
from datetime import date, timedelta

CLOSED_WEEKDAYS = (0, 6)
ONE_DAY = timedelta(days=1)


class OpeningDays:
    """The days on which the desk is open."""

    def __init__(self, closures: Collection[date] = ()) -> None:
        self.closures = frozenset(closures)

    @classmethod
    def load(cls, db: sqlite3.Connection) -> "OpeningDays":
        rows = db.execute("SELECT day FROM closures")
        return cls([date.fromisoformat(row["day"]) for row in rows])

    def is_open(self, day: date) -> bool:
        return day.weekday() not in CLOSED_WEEKDAYS and day not in self.closures

    def on_or_after(self, day: date) -> date:
        while not self.is_open(day):
            day += ONE_DAY
        return day

    def on_or_before(self, day: date) -> date:
        while not self.is_open(day):
            day -= ONE_DAY
        return day

    def after(self, day: date, count: int) -> date:
        """Return the open day that is `count` open days after this one."""
        for _ in range(count):
            day = self.on_or_after(day + ONE_DAY)
        return day

    def days_late(self, due: date, returned: date) -> int:
        """Count the open days after the due day, the day of return included."""
        late = 0
        day = due + ONE_DAY
        while day <= returned:
            if self.is_open(day):
                late += 1
            day += ONE_DAY
        return late

    def due_day(self, start: date, days: int, paid_until: date) -> date:
        """Return when a loan ends: on an open day, and within the membership."""
        due = self.on_or_after(start + timedelta(days=days))
        if due > paid_until:
            due = self.on_or_before(paid_until)
        return max(due, start)


def upcoming_closures(db: sqlite3.Connection, day: date, count: int = 3) -> list[sqlite3.Row]:
    """Return the next days on which the workshop is closed out of turn."""
    return db.execute(
        "SELECT day, reason FROM closures WHERE day >= ? ORDER BY day LIMIT ?",
        (day.isoformat(), count),
    ).fetchall()


def show_day(day: date | str) -> str:
    """Return the day as people write it."""
    if isinstance(day, str):
        day = date.fromisoformat(day)
    return f"{day:%a} {day.day} {day:%b %Y}"
