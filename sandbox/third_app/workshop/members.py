"""Members: their cards, what their membership allows, and signing in."""

import re
import sqlite3
from dataclasses import dataclass
from datetime import date

from werkzeug.security import check_password_hash

LOANS_AT_ONCE = {"full": 4, "reduced": 3, "trial": 1}
CARD = re.compile(r"W?[\s-]*(\d{3})", re.IGNORECASE)


class Refused(Exception):
    """The desk does not do what was asked; the text tells the member why."""


@dataclass(frozen=True)
class Member:
    id: int
    card: str
    name: str
    tier: str
    paid_until: date
    inductions: frozenset[str]
    at_desk: bool

    @property
    def loans_at_once(self) -> int:
        return LOANS_AT_ONCE[self.tier]

    @property
    def initials(self) -> str:
        """Return how the member is named where others read it."""
        return " ".join(f"{part[0]}." for part in self.name.split())

    def is_current(self, day: date) -> bool:
        return self.paid_until >= day

    def may_use(self, tool: sqlite3.Row) -> bool:
        return not tool["needs_induction"] or tool["kind"] in self.inductions


def read_card(text: str) -> str | None:
    """Return the card number in the form that is printed on cards, or None."""
    match = CARD.fullmatch(text.strip())
    return f"W-{match[1]}" if match else None


def by_id(db: sqlite3.Connection, member_id: int) -> Member | None:
    row = db.execute("SELECT * FROM members WHERE id = ?", (member_id,)).fetchone()
    return _member(row) if row else None


def by_card(db: sqlite3.Connection, text: str) -> Member:
    """Return the member who holds the card. Raises Refused."""
    card = read_card(text)
    row = db.execute("SELECT * FROM members WHERE card = ?", (card,)).fetchone()
    if row is None:
        raise Refused("No member has a card of that number.")
    return _member(row)


def sign_in(db: sqlite3.Connection, card: str, pin: str) -> Member:
    """Return the member of the card and PIN. Raises Refused."""
    row = db.execute("SELECT * FROM members WHERE card = ?", (read_card(card),)).fetchone()
    if row is None or not check_password_hash(row["pin_hash"], pin):
        raise Refused("Card number and PIN do not belong together.")
    return _member(row)


def _member(row: sqlite3.Row) -> Member:
    return Member(
        id=row["id"],
        card=row["card"],
        name=row["name"],
        tier=row["tier"],
        paid_until=date.fromisoformat(row["paid_until"]),
        inductions=frozenset(row["inductions"].split()),
        at_desk=bool(row["at_desk"]),
    )
