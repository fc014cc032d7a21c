"""Shoppers: who may sign in, and where their parcels go."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from werkzeug.security import check_password_hash

from shop.database import writing


@dataclass(frozen=True)
class Address:
    street: str
    city: str
    post_code: str
    phone: str


def may_sign_in(connection: sqlite3.Connection, name: str, password: str) -> bool:
    row = connection.execute("SELECT password_hash FROM shopper WHERE name = ?", (name,)).fetchone()
    return row is not None and check_password_hash(row["password_hash"], password)


def read_address(form: Mapping[str, str]) -> Address:
    """Take the address out of a sent form; a field that was not sent is empty."""
    return Address(
        street=form.get("street", "").strip(),
        city=form.get("city", "").strip(),
        post_code=form.get("postcode", "").strip(),
        phone=form.get("phone", "").strip(),
    )


def load_address(connection: sqlite3.Connection, name: str) -> Address:
    row = connection.execute(
        "SELECT street, city, post_code, phone FROM shopper WHERE name = ?", (name,)
    ).fetchone()
    return Address(**row)


def save_address(connection: sqlite3.Connection, name: str, address: Address) -> None:
    with writing(connection):
        connection.execute(
            "UPDATE shopper SET street = ?, city = ?, post_code = ?, phone = ? WHERE name = ?",
            (address.street, address.city, address.post_code, address.phone, name),
        )
