"""What one request has at hand: its database connection and the visitor's basket id."""

import secrets
import sqlite3

from flask import current_app, g, session

from shop.database import connect


def database() -> sqlite3.Connection:
    """Return this request's connection; it is closed when the request ends."""
    if "database" not in g:
        g.database = connect(current_app.config["DATA_DIR"])
    connection: sqlite3.Connection = g.database
    return connection


def close_database(_error: BaseException | None = None) -> None:
    connection = g.pop("database", None)
    if connection is not None:
        connection.close()


def basket_id() -> str:
    """Return the visitor's basket id, given out at the first need."""
    if "basket" not in session:
        session["basket"] = secrets.token_urlsafe(12)
    held: str = session["basket"]
    return held
