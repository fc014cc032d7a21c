"""Loans: taking a tool home, keeping it longer, bringing it back."""

import sqlite3
from dataclasses import dataclass
from datetime import date

from . import fees, reservations
from .days import OpeningDays
from .members import Member, Refused

RENEWALS = 2
CONDITIONS = ("fine", "dirty", "damaged")
SELECT = (
    "SELECT loans.*, tools.name AS tool, tools.slug, tools.loan_days, tools.daily_fee,"
    " tools.value, tools.accessories AS parts, members.name AS member, members.card, members.tier"
    " FROM loans JOIN tools ON tools.id = tool_id JOIN members ON members.id = member_id"
)


@dataclass(frozen=True)
class Standing:
    """An open loan as it stands today."""

    loan: sqlite3.Row
    days_late: int
    fee_so_far: int


def borrow(
    db: sqlite3.Connection, member: Member, tool: sqlite3.Row, days: int, parts: bool, day: date
) -> date:
    """Lend the tool and return when it is due. Raises Refused."""
    _check(db, member, tool, days, day)
    held = reservations.active_of(db, member.id, tool["id"])
    if tool["free"] < 1 and not (held and held["state"] == "ready"):
        raise Refused("No copy is here at the moment; you can join the waiting list.")
    due = OpeningDays.load(db).due_day(day, days, member.paid_until)
    db.execute(
        "INSERT INTO loans (tool_id, member_id, taken_on, due_on, accessories)"
        " VALUES (?, ?, ?, ?, ?)",
        (tool["id"], member.id, day.isoformat(), due.isoformat(), parts),
    )
    if held:
        db.execute("UPDATE reservations SET state = 'fetched' WHERE id = ?", (held["id"],))
    return due


def _check(db: sqlite3.Connection, member: Member, tool: sqlite3.Row, days: int, day: date) -> None:
    if not 1 <= days <= tool["loan_days"]:
        raise Refused(f"This tool is lent for 1 to {tool['loan_days']} days.")
    if not member.is_current(day):
        raise Refused("Your membership has run out; please renew it at the desk.")
    if not member.may_use(tool):
        raise Refused("You need an induction before you borrow this tool.")
    owed = fees.debt(db, member.id)
    if owed > fees.DEBT_LIMIT:
        raise Refused(f"You owe {fees.show_money(owed)}; please pay at the desk first.")
    open_loans = of_member(db, member.id)
    if any(loan["tool_id"] == tool["id"] for loan in open_loans):
        raise Refused("You have this tool at home.")
    if len(open_loans) >= member.loans_at_once:
        raise Refused(f"Your membership allows {member.loans_at_once} loans at once.")


def renew(db: sqlite3.Connection, member: Member, loan_id: int, day: date) -> date:
    """Move the due day of the member's loan and return it. Raises Refused."""
    loan = by_id(db, loan_id)
    if loan is None or loan["member_id"] != member.id or loan["returned_on"]:
        raise Refused("You have no such loan.")
    due = date.fromisoformat(loan["due_on"])
    if due < day:
        raise Refused("The tool is late; please bring it back.")
    if loan["renewals"] >= RENEWALS:
        raise Refused(f"A loan is renewed {RENEWALS} times at most.")
    if reservations.waiting_list(db, loan["tool_id"]):
        raise Refused("Somebody is waiting for this tool.")
    later = OpeningDays.load(db).due_day(due, loan["loan_days"], member.paid_until)
    if later == due:
        raise Refused("Your membership ends before that.")
    db.execute(
        "UPDATE loans SET due_on = ?, renewals = renewals + 1 WHERE id = ?",
        (later.isoformat(), loan_id),
    )
    return later


def take_back(
    db: sqlite3.Connection, loan_id: int, condition: str, parts_back: bool, day: date
) -> None:
    """End a loan, charge what it costs and hand the tool on. Raises Refused."""
    loan = by_id(db, loan_id)
    if loan is None:
        raise Refused("There is no loan of that number.")
    if loan["returned_on"]:
        raise Refused("That loan has ended already.")
    if condition not in CONDITIONS:
        raise Refused("Please say in what condition the tool is.")
    db.execute(
        "UPDATE loans SET returned_on = ?, condition = ? WHERE id = ?",
        (day.isoformat(), condition, loan_id),
    )
    late = standing(db, loan, day).fee_so_far
    broken = fees.condition_fee(condition, loan["value"])
    missing = fees.MISSING_PARTS_FEE if loan["accessories"] and not parts_back else 0
    for reason, cents in (("Late", late), (condition.title(), broken), ("Parts", missing)):
        fees.charge(db, loan["member_id"], loan_id, reason, cents, day)
    if condition == "damaged":
        db.execute("UPDATE tools SET in_repair = in_repair + 1 WHERE id = ?", (loan["tool_id"],))
    else:
        reservations.hand_on(db, loan["tool_id"], day)


def mend(db: sqlite3.Connection, tool: sqlite3.Row, day: date) -> None:
    """Put a copy that was in repair back into use. Raises Refused."""
    if tool["in_repair"] < 1:
        raise Refused("No copy of that tool is in repair.")
    db.execute("UPDATE tools SET in_repair = in_repair - 1 WHERE id = ?", (tool["id"],))
    reservations.hand_on(db, tool["id"], day)


def by_id(db: sqlite3.Connection, loan_id: int) -> sqlite3.Row | None:
    return db.execute(f"{SELECT} WHERE loans.id = ?", (loan_id,)).fetchone()


def of_member(db: sqlite3.Connection, member_id: int) -> list[sqlite3.Row]:
    """Return the member's open loans, the next due first."""
    return db.execute(
        f"{SELECT} WHERE member_id = ? AND returned_on IS NULL ORDER BY due_on, loans.id",
        (member_id,),
    ).fetchall()


def out(db: sqlite3.Connection) -> list[sqlite3.Row]:
    """Return all that is lent, the next due first."""
    return db.execute(f"{SELECT} WHERE returned_on IS NULL ORDER BY due_on, loans.id").fetchall()


def standing(db: sqlite3.Connection, loan: sqlite3.Row, day: date) -> Standing:
    """Return how late the loan is, and what it costs if it comes back today."""
    late = OpeningDays.load(db).days_late(date.fromisoformat(loan["due_on"]), day)
    fee = fees.late_fee(loan["daily_fee"], loan["value"], late, loan["tier"])
    return Standing(loan, late, fee)


def back_soonest(db: sqlite3.Connection, tool_id: int) -> str | None:
    """Return the day on which the next copy of the tool is due."""
    return db.execute(
        "SELECT min(due_on) FROM loans WHERE tool_id = ? AND returned_on IS NULL", (tool_id,)
    ).fetchone()[0]


def history(db: sqlite3.Connection, tool_id: int) -> tuple[int, int]:
    """Return how often the tool was lent, and on how many loans it was damaged."""
    row = db.execute(
        "SELECT count(*), count(*) FILTER (WHERE condition = 'damaged') FROM loans"
        " WHERE tool_id = ?",
        (tool_id,),
    ).fetchone()
    return row[0], row[1]
