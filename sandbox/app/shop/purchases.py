"""Purchases: a basket that was ordered by a shopper."""

import sqlite3
from dataclasses import dataclass

from shop.basket import Basket
from shop.database import writing


class NothingToOrder(ValueError):
    """The basket is empty."""


@dataclass(frozen=True)
class Purchase:
    number: int
    total: int
    contents: str


def place_order(
    connection: sqlite3.Connection, shopper: str, basket_id: str, basket: Basket
) -> int:
    """Turn the basket into a purchase and empty it. Returns the purchase's number."""
    if not basket.lines:
        raise NothingToOrder("Your basket is empty.")
    contents = ", ".join(f"{line.quantity} × {line.ware.name}" for line in basket.lines)
    with writing(connection):
        cursor = connection.execute(
            "INSERT INTO purchase (shopper, total, contents) VALUES (?, ?, ?)",
            (shopper, basket.total, contents),
        )
        connection.execute("DELETE FROM basket WHERE id = ?", (basket_id,))
    number = cursor.lastrowid
    assert number is not None
    return number


def list_purchases(connection: sqlite3.Connection, shopper: str) -> list[Purchase]:
    rows = connection.execute(
        "SELECT number, total, contents FROM purchase WHERE shopper = ? ORDER BY number DESC",
        (shopper,),
    )
    return [Purchase(**row) for row in rows]
