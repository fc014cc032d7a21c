"""What every other test relies on: fresh databases from a template, and a clock that is moved."""

from __future__ import annotations

import datetime

from sqlalchemy import create_engine, text

from tests.support.database import Clock


def read_now(url: str) -> datetime.datetime:
    """Return the database's own idea of now."""
    engine = create_engine(url)
    with engine.connect() as connection:
        now = connection.execute(text("SELECT outlast_now()")).scalar_one()
    engine.dispose()
    assert isinstance(now, datetime.datetime)
    return now


def test_a_test_moves_the_one_clock_that_statements_read(database_url: str, clock: Clock) -> None:
    before = read_now(database_url)
    clock.advance(3600)
    moved = read_now(database_url) - before
    assert datetime.timedelta(hours=1) <= moved < datetime.timedelta(hours=2)


def test_a_fresh_database_has_an_unmoved_clock_and_the_schema(database_url: str) -> None:
    engine = create_engine(database_url)
    with engine.connect() as connection:
        moved = connection.execute(text("SELECT moved_by FROM test_clock")).scalar_one()
        runs = connection.execute(text("SELECT count(*) FROM workflow")).scalar_one()
        connection.execute(text("SELECT count(*) FROM alembic_version")).scalar_one()
    engine.dispose()
    assert (moved, runs) == (datetime.timedelta(0), 0)
