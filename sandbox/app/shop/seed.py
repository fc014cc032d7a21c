"""Fill an empty DATA_DIR from the fixtures: python -m shop.seed"""

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

from shop import HOME
from shop.database import connect, create_tables

FIXTURES = HOME / "fixtures"


def read_fixture(name: str) -> Any:
    return json.loads((FIXTURES / f"{name}.json").read_text(encoding="utf-8"))


def fill(connection: sqlite3.Connection, first_turn: int) -> None:
    """Create the tables and load every fixture. `first_turn` is where the depots' turns start."""
    create_tables(connection)
    with connection:
        connection.executemany(
            "INSERT INTO ware (slug, name, about, price) VALUES (:slug, :name, :about, :price)",
            read_fixture("wares"),
        )
        connection.executemany(
            "INSERT INTO shopper (name, password_hash, street, city, post_code, phone)"
            " VALUES (:name, :password_hash, :street, :city, :post_code, :phone)",
            read_fixture("shoppers"),
        )
        connection.executemany(
            "INSERT INTO depot_day (depot, ware, days) VALUES (?, ?, ?)",
            [
                (depot, ware, days)
                for depot, known in read_fixture("depots").items()
                for ware, days in known.items()
            ],
        )
        connection.execute("INSERT INTO depot_turn (taken) VALUES (?)", (first_turn,))


def next_first_turn(instance: Path) -> int:
    """Count the seedings of this checkout, so that fresh databases do not all begin with north.

    The count is the size of a file that gets one byte a seeding.
    """
    instance.mkdir(exist_ok=True)
    with (instance / "seedings").open("ab") as seedings:
        earlier = seedings.tell()
        seedings.write(b".")
    return earlier


def main() -> None:
    connection = connect(Path(os.environ["DATA_DIR"]))
    fill(connection, next_first_turn(Path.cwd() / "instance"))
    connection.close()


if __name__ == "__main__":
    main()
