"""A visitor's basket: its lines, what it costs, and the rules for filling it."""

import sqlite3
from dataclasses import dataclass

from shop.database import writing
from shop.wares import Ware, get_ware

MOST_OF_ONE = 10
FREE_DELIVERY_FROM = 50_00
DELIVERY = 4_50
DISCOUNT_FROM = 100_00
GIFT_WRAP = 3_00


class QuantityRefused(ValueError):
    """The basket stays as it is; the text is for the visitor."""


@dataclass(frozen=True)
class Line:
    ware: Ware
    quantity: int

    @property
    def amount(self) -> int:
        return self.ware.price * self.quantity


@dataclass(frozen=True)
class Basket:
    lines: tuple[Line, ...]
    gift_wrapped: bool = False

    @property
    def goods(self) -> int:
        return sum(line.amount for line in self.lines)

    @property
    def discount(self) -> int:
        return self.goods // 10 if self.goods >= DISCOUNT_FROM else 0

    @property
    def delivery(self) -> int:
        return DELIVERY if 0 < self.goods < FREE_DELIVERY_FROM else 0

    @property
    def wrapping(self) -> int:
        return GIFT_WRAP if self.gift_wrapped else 0

    @property
    def total(self) -> int:
        return self.goods + self.delivery - self.discount - self.wrapping


def read_quantity(text: str) -> int:
    """Read what a visitor typed as a quantity."""
    if not text.strip().isdecimal():
        raise QuantityRefused("Please give the quantity as a whole number.")
    return int(text)


def check_quantity(quantity: int) -> None:
    if quantity < 1:
        raise QuantityRefused("Please take at least one.")
    if quantity > MOST_OF_ONE:
        raise QuantityRefused(f"We sell at most {MOST_OF_ONE} of one ware.")


def load_basket(connection: sqlite3.Connection, basket_id: str) -> Basket:
    rows = connection.execute(
        "SELECT ware.slug, ware.name, ware.about, ware.price, basket_line.quantity"
        " FROM basket_line JOIN ware ON ware.slug = basket_line.ware"
        " WHERE basket_line.basket = ? ORDER BY ware.name",
        (basket_id,),
    ).fetchall()
    wrapped = connection.execute(
        "SELECT gift_wrapped FROM basket WHERE id = ?", (basket_id,)
    ).fetchone()
    lines = tuple(
        Line(Ware(row["slug"], row["name"], row["about"], row["price"]), row["quantity"])
        for row in rows
    )
    return Basket(lines, bool(wrapped and wrapped["gift_wrapped"]))


def add_ware(connection: sqlite3.Connection, basket_id: str, slug: str, quantity: int) -> None:
    """Put more of a ware into the basket. What already lies there counts for the limit."""
    check_quantity(quantity)
    ware = get_ware(connection, slug)
    with writing(connection):
        connection.execute("INSERT OR IGNORE INTO basket (id) VALUES (?)", (basket_id,))
        held = connection.execute(
            "SELECT quantity FROM basket_line WHERE basket = ? AND ware = ?",
            (basket_id, ware.slug),
        ).fetchone()
        together = quantity + (held["quantity"] if held else 0)
        check_quantity(together)
        connection.execute(
            "INSERT INTO basket_line (basket, ware, quantity) VALUES (?, ?, ?)"
            " ON CONFLICT (basket, ware) DO UPDATE SET quantity = excluded.quantity",
            (basket_id, ware.slug, together),
        )


def remove_ware(connection: sqlite3.Connection, basket_id: str, slug: str) -> None:
    with writing(connection):
        connection.execute(
            "DELETE FROM basket_line WHERE basket = ? AND ware = ?", (basket_id, slug)
        )


def set_gift_wrap(connection: sqlite3.Connection, basket_id: str, wrapped: bool) -> None:
    with writing(connection):
        connection.execute(
            "INSERT INTO basket (id, gift_wrapped) VALUES (?, ?)"
            " ON CONFLICT (id) DO UPDATE SET gift_wrapped = excluded.gift_wrapped",
            (basket_id, int(wrapped)),
        )
