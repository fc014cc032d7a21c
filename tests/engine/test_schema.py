"""The tables in code and the schema revisions say the same; time has one source."""

from __future__ import annotations

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, text
from sqlalchemy.exc import ProgrammingError

from orchestrator.store import statements
from orchestrator.store.tables import metadata
from tests.support.database import Clock, Databases, apply_schema, render

pytestmark = pytest.mark.engine


def test_the_revisions_make_exactly_the_columns_that_the_code_knows(database_url: str) -> None:
    engine = create_engine(database_url)
    with engine.connect() as connection:
        found = compare_metadata(MigrationContext.configure(connection), metadata)
    engine.dispose()
    columns = [
        difference
        for difference in found
        if isinstance(difference, tuple)
        and difference[0] in ("add_table", "add_column", "remove_column")
    ]
    assert columns == []


def test_the_clock_moves_only_in_databases_made_for_tests(database_url: str, clock: Clock) -> None:
    clock.advance(3600)
    engine = create_engine(database_url)
    with engine.connect() as connection:
        moved = connection.execute(text("SELECT outlast_now() - clock_timestamp()")).scalar_one()
    engine.dispose()
    assert 3599 < moved.total_seconds() < 3601


def test_a_plain_database_has_nothing_to_move_its_clock_with(databases: Databases) -> None:
    with databases.lend("plain") as url:
        apply_schema(url)
        engine = create_engine(render(url), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text("DROP TABLE test_clock"))
            with pytest.raises(ProgrammingError, match="test_clock"):
                connection.execute(text("UPDATE test_clock SET moved_by = interval '1 day'"))
        engine.dispose()


def test_every_locking_statement_reads_time_from_the_one_function() -> None:
    for name in statements.names():
        words = str(statements.statement(name))
        for banned in ("now()", "clock_timestamp", "current_timestamp"):
            assert banned not in words.lower().replace("outlast_now()", ""), name
