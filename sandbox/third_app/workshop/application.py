"""The web application: its settings, its pages, and how errors look."""

import os
import secrets
from pathlib import Path
from typing import Any

from flask import Flask, Response, jsonify, render_template

from . import desk, pages
from .catalogue import NoSuchPage, NoSuchTool
from .database import close_db
from .days import show_day
from .fees import show_money
from .members import Refused


def create_app(data_dir: Path) -> Flask:
    app = Flask("workshop")
    app.config.update(
        DATA_DIR=data_dir,
        SECRET_KEY=secrets.token_bytes(32),
        SESSION_COOKIE_NAME="spindle",
        SESSION_COOKIE_SAMESITE="Lax",
    )
    app.jinja_env.filters.update(money=show_money, day=show_day)
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.register_blueprint(pages.bp)
    app.register_blueprint(desk.bp)
    app.add_url_rule("/ready", view_func=ready)
    for missing in (404, NoSuchPage, NoSuchTool):
        app.register_error_handler(missing, not_found)
    app.register_error_handler(Refused, refused)
    app.before_request(pages.load_member)
    app.context_processor(pages.shared_values)
    app.teardown_appcontext(close_db)
    return app


def ready() -> Response:
    return jsonify(
        nonce=os.environ.get("OUTLAST_NONCE", ""),
        revision=os.environ.get("OUTLAST_REVISION", ""),
    )


def not_found(_fault: Any) -> tuple[str, int]:
    return render_template("not_found.html"), 404


def refused(refusal: Refused) -> tuple[str, int]:
    return render_template("refused.html", error=str(refusal)), 422
