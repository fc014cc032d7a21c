"""Reservations: the hold shelf for tools that wait for someone, and the waiting list."""

import sqlite3
from datetime import date

from .days import OpeningDays, show_day
from .members import Member, Refused

HOLD_DAYS = 3
RESERVATIONS_AT_ONCE = 2
ACTIVE = "state IN ('waiting', 'ready')"


def reserve(db: sqlite3.Connection, member: Member, tool: sqlite3.Row, day: date) -> str:
    """Hold a free tool for the member, or put the member on its list; return what was done."""
    _check(db, member, tool, day)
    state, held_until = "waiting", None
    if tool["free"] > 0:
        state, held_until = "ready", OpeningDays.load(db).after(day, HOLD_DAYS)
    db.execute(
        "INSERT INTO reservations (tool_id, member_id, asked_on, state, held_until)"
        " VALUES (?, ?, ?, ?, ?)",
        (tool["id"], member.id, day.isoformat(), state, held_until and held_until.isoformat()),
    )
    if held_until:
        return f"{tool['name']} is held for you until {show_day(held_until)}."
    return f"You are number {tool['waiting'] + 1} on the waiting list for {tool['name']}."


def _check(db: sqlite3.Connection, member: Member, tool: sqlite3.Row, day: date) -> None:
    if not member.is_current(day):
        raise Refused("Your membership has run out; please renew it at the desk.")
    if active_of(db, member.id, tool["id"]):
        raise Refused("You have already reserved this tool.")
    if db.execute(
        "SELECT 1 FROM loans WHERE tool_id = ? AND member_id = ? AND returned_on IS NULL",
        (tool["id"], member.id),
    ).fetchone():
        raise Refused("You have this tool at home.")
    if len(of_member(db, member.id)) >= RESERVATIONS_AT_ONCE:
        raise Refused(f"Nobody reserves more than {RESERVATIONS_AT_ONCE} tools at once.")


def active_of(db: sqlite3.Connection, member_id: int, tool_id: int) -> sqlite3.Row | None:
    """Return the member's reservation of this tool, if there is one."""
    return db.execute(
        f"SELECT * FROM reservations WHERE member_id = ? AND tool_id = ? AND {ACTIVE}",
        (member_id, tool_id),
    ).fetchone()


def of_member(db: sqlite3.Connection, member_id: int) -> list[sqlite3.Row]:
    """Return the member's reservations, each with its place on the waiting list."""
    return db.execute(
        "SELECT reservations.*, tools.name AS tool, tools.slug,"
        " (SELECT count(*) FROM reservations AS other WHERE other.tool_id = reservations.tool_id"
        "   AND other.state = 'waiting' AND other.id <= reservations.id) AS place"
        " FROM reservations JOIN tools ON tools.id = tool_id"
        f" WHERE member_id = ? AND {ACTIVE} ORDER BY reservations.id",
        (member_id,),
    ).fetchall()


def waiting_list(db: sqlite3.Connection, tool_id: int) -> list[sqlite3.Row]:
    return db.execute(
        "SELECT * FROM reservations WHERE tool_id = ? AND state = 'waiting' ORDER BY id",
        (tool_id,),
    ).fetchall()


def hold_shelf(db: sqlite3.Connection) -> list[sqlite3.Row]:
    """Return what is held for whom, the soonest to end first."""
    return db.execute(
        "SELECT reservations.*, tools.name AS tool, members.name AS member FROM reservations"
        " JOIN tools ON tools.id = tool_id JOIN members ON members.id = member_id"
        " WHERE state = 'ready' ORDER BY held_until, reservations.id"
    ).fetchall()


def cancel(db: sqlite3.Connection, member: Member, reservation_id: int, day: date) -> str:
    """End a reservation of the member and return the tool's name. Raises Refused."""
    for reservation in of_member(db, member.id):
        if reservation["id"] == reservation_id:
            _end(db, reservation, "cancelled", day)
            return reservation["tool"]
    raise Refused("You have no such reservation.")


def clear_shelf(db: sqlite3.Connection, day: date) -> int:
    """End holds that nobody fetched in time; return how many there were."""
    over = [held for held in hold_shelf(db) if held["held_until"] < day.isoformat()]
    for reservation in over:
        _end(db, reservation, "lapsed", day)
    return len(over)


def hand_on(db: sqlite3.Connection, tool_id: int, day: date) -> sqlite3.Row | None:
    """Hold a tool that became free for the first who waits; return that reservation."""
    waiting = waiting_list(db, tool_id)
    if not waiting:
        return None
    held_until = OpeningDays.load(db).after(day, HOLD_DAYS)
    db.execute(
        "UPDATE reservations SET state = 'ready', held_until = ? WHERE id = ?",
        (held_until.isoformat(), waiting[0]["id"]),
    )
    return waiting[0]


def _end(db: sqlite3.Connection, reservation: sqlite3.Row, state: str, day: date) -> None:
    db.execute("UPDATE reservations SET state = ? WHERE id = ?", (state, reservation["id"]))
    if reservation["state"] == "ready":
        hand_on(db, reservation["tool_id"], day)
