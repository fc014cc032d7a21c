"""Bring a database to this release's schema revision."""

from __future__ import annotations

import logging
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

FOLDER = Path(__file__).parents[1] / "alembic"


def upgrade(dsn: str) -> str:
    """Apply every revision that the database lacks; return where it stands. Repeat it safely."""
    logging.getLogger("alembic").setLevel(logging.WARNING)
    config = Config()
    config.set_main_option("script_location", str(FOLDER))
    config.attributes["dsn"] = dsn
    command.upgrade(config, "head")
    return str(ScriptDirectory.from_config(config).get_current_head())
