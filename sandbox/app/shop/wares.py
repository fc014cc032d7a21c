"""What the shop sells."""

import sqlite3
from dataclasses import dataclass


class NoSuchWare(LookupError):
    """Nothing is sold under that address."""


@dataclass(frozen=True)
class Ware:
    slug: str
    name: str
    about: str
    price: int


def list_wares(connection: sqlite3.Connection, wanted: str = "") -> list[Ware]:
    """Return the wares whose name or description has the wanted words in it, by name."""
    rows = connection.execute("SELECT slug, name, about, price FROM ware ORDER BY name")
    wares = [Ware(**row) for row in rows]
    words = wanted.lower().split()
    return [ware for ware in wares if all(word in _searched(ware) for word in words)]


def get_ware(connection: sqlite3.Connection, slug: str) -> Ware:
    row = connection.execute(
        "SELECT slug, name, about, price FROM ware WHERE slug = ?", (slug,)
    ).fetchone()
    if row is None:
        raise NoSuchWare(slug)
    return Ware(**row)


def _searched(ware: Ware) -> str:
    return f"{ware.name} {ware.about}".lower()
