"""The web application: its settings, its pages, and what an error looks like."""

import os
import secrets
import sqlite3
from pathlib import Path
from typing import Any

from flask import Flask, jsonify, render_template, session

from shop.basket import load_basket
from shop.money import show_money
from shop.pages import account_pages, basket_pages, ware_pages
from shop.paging import NoSuchPage
from shop.visit import close_database, database
from shop.wares import NoSuchWare


def create_application(data_dir: Path) -> Flask:
    app = Flask("shop")
    app.config.update(
        DATA_DIR=data_dir,
        SECRET_KEY=secrets.token_bytes(32),
        SESSION_COOKIE_NAME="larder",
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_HTTPONLY=True,
    )
    app.jinja_env.filters["money"] = show_money
    for pages in (ware_pages.pages, basket_pages.pages, account_pages.pages):
        app.register_blueprint(pages)
    app.add_url_rule("/ready", view_func=ready)
    for missing in (NoSuchPage, NoSuchWare, 404):
        app.register_error_handler(missing, show_not_found)
    app.register_error_handler(500, show_trouble)
    app.context_processor(shared_values)
    app.teardown_appcontext(close_database)
    return app


def ready() -> Any:
    """Say which start this is, once the database answers with something to sell."""
    try:
        wares = database().execute("SELECT count(*) AS wares FROM ware").fetchone()["wares"]
    except sqlite3.Error as error:
        return jsonify(problem=str(error)), 503
    if not wares:
        return jsonify(problem="no wares: run shop.seed first"), 503
    return jsonify(
        nonce=os.environ.get("OUTLAST_NONCE", ""),
        revision=os.environ.get("OUTLAST_REVISION", ""),
        wares=wares,
    )


def shared_values() -> dict[str, Any]:
    """Return the values that every page's frame needs."""
    held = load_basket(database(), session["basket"]) if "basket" in session else None
    return {
        "shopper": session.get("shopper"),
        "pieces": sum(line.quantity for line in held.lines) if held else 0,
    }


def show_not_found(_error: Exception) -> tuple[str, int]:
    return render_template("not_found.html"), 404


def show_trouble(_error: Exception) -> tuple[str, int]:
    return "<h1>Something broke on our side.</h1>", 500
