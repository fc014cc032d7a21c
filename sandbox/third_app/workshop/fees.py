"""What things cost, and the ledger of what members owe and have paid."""

import re
import sqlite3
from datetime import date

FREE_LATE_DAYS = 1
LATE_CAP_PERCENT = 40
REDUCED_PERCENT = 50
DEBT_LIMIT = 1500
CLEANING_FEE = 400
MISSING_PARTS_FEE = 800
REPAIR_PERCENT = 15
REPAIR_LEAST = 500
MONEY = re.compile(r"(\d{1,4})(?:[.,](\d{1,2}))?")


def late_fee(daily_fee: int, value: int, days_late: int, tier: str) -> int:
    """Return the fee for so many late days."""
    charged_days = max(0, days_late - FREE_LATE_DAYS)
    fee = min(charged_days * daily_fee, value * LATE_CAP_PERCENT // 100)
    if tier == "reduced":
        fee = fee * REDUCED_PERCENT // 100
    return fee


def condition_fee(condition: str, value: int) -> int:
    """Return the fee for the state in which a tool came back."""
    if condition == "dirty":
        return CLEANING_FEE
    if condition == "damaged":
        return max(REPAIR_LEAST, value * REPAIR_PERCENT // 100)
    return 0


def charge(
    db: sqlite3.Connection, member_id: int, loan_id: int, reason: str, cents: int, day: date
) -> None:
    """Write a fee into the ledger; nothing is written for nothing."""
    if cents > 0:
        db.execute(
            "INSERT INTO fees (member_id, loan_id, reason, cents, charged_on)"
            " VALUES (?, ?, ?, ?, ?)",
            (member_id, loan_id, reason, cents, day.isoformat()),
        )


def open_fees(db: sqlite3.Connection, member_id: int) -> list[sqlite3.Row]:
    """Return the fees that are not wholly paid, the oldest first."""
    return db.execute(
        "SELECT fees.*, cents - paid AS owed, tools.name AS tool FROM fees"
        " LEFT JOIN loans ON loans.id = fees.loan_id LEFT JOIN tools ON tools.id = loans.tool_id"
        " WHERE fees.member_id = ? AND paid < cents"
        " ORDER BY charged_on, fees.id",
        (member_id,),
    ).fetchall()


def debt(db: sqlite3.Connection, member_id: int) -> int:
    return sum(fee["owed"] for fee in open_fees(db, member_id))


def pay(db: sqlite3.Connection, member_id: int, cents: int) -> int:
    """Spread a payment over the open fees, the oldest first; return what is left over."""
    for fee in open_fees(db, member_id):
        part = min(cents, fee["owed"])
        db.execute("UPDATE fees SET paid = paid + ? WHERE id = ?", (part, fee["id"]))
        cents -= part
    return cents


def read_money(text: str) -> int | None:
    """Return an amount such as `4`, `4.5` or `4,50` in cents; None when it is no amount."""
    match = MONEY.fullmatch(text.strip())
    if match is None:
        return None
    whole, part = match.groups()
    return int(whole) * 100 + int((part or "").ljust(2, "0"))


def show_money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"
