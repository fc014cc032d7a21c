"""Delivery times. Two depots know them, and they are asked in turn, to share the load."""

import sqlite3

from shop.database import writing

DEPOTS = ("north", "south")


def take_turn(connection: sqlite3.Connection) -> str:
    """Return the depot whose turn it is."""
    with writing(connection):
        taken: int = connection.execute("SELECT taken FROM depot_turn").fetchone()["taken"]
        connection.execute("UPDATE depot_turn SET taken = taken + 1")
    return DEPOTS[taken % len(DEPOTS)]


def ask_days(connection: sqlite3.Connection, slug: str) -> int | None:
    """Return in how many days the ware can arrive; None if the depot in turn cannot say."""
    depot = take_turn(connection)
    row = connection.execute(
        "SELECT days FROM depot_day WHERE depot = ? AND ware = ?", (depot, slug)
    ).fetchone()
    return row["days"] if row else None
