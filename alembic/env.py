"""Runs schema revisions on the database that settings or the caller name."""

import os

from alembic import context
from sqlalchemy import create_engine, pool

from orchestrator.store.tables import metadata

config = context.config


def dsn() -> str:
    """Return the caller's DSN, else OUTLAST_DSN."""
    given = config.attributes.get("dsn") or os.environ.get("OUTLAST_DSN")
    if not given:
        raise SystemExit("no database: set OUTLAST_DSN, or run `outlast db upgrade --dsn ...`")
    return str(given)


def run_online() -> None:
    """Apply revisions, each in its own transaction, giving up on a lock after 10 s."""
    engine = create_engine(dsn(), poolclass=pool.NullPool)
    with engine.connect() as connection:
        connection.exec_driver_sql("SET lock_timeout = '10s'")
        connection.commit()
        context.configure(
            connection=connection, target_metadata=metadata, transaction_per_migration=True
        )
        with context.begin_transaction():
            context.run_migrations()


run_online()
