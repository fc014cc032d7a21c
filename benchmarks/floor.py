"""The floor: psycopg and nothing else, one transaction a step, no leases, no history, no fencing.

Each transaction records a step's result, the new state and the next due step.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import psycopg

from orchestrator.clock import monotonic

CONNECTIONS = 16
SCHEMA = """
CREATE TABLE IF NOT EXISTS floor_run (id int PRIMARY KEY, state jsonb NOT NULL);
CREATE TABLE IF NOT EXISTS floor_step (
    run int NOT NULL, number int NOT NULL, input jsonb NOT NULL, result jsonb,
    PRIMARY KEY (run, number));
TRUNCATE floor_run, floor_step
"""
STEP = """
WITH done AS (UPDATE floor_step SET result = %(payload)s WHERE run = %(run)s AND number = %(n)s),
     state AS (UPDATE floor_run SET state = %(state)s WHERE id = %(run)s)
INSERT INTO floor_step (run, number, input) VALUES (%(run)s, %(n)s + 1, %(payload)s)
"""


def steps_a_second(dsn: str, runs: int, steps: int, payload: str) -> float:
    """Return how many steps a second sixteen connections of one process commit."""
    value = json.dumps({"payload": payload})
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(SCHEMA)
        for run in range(runs):
            connection.execute("INSERT INTO floor_run VALUES (%s, '{}')", (run,))
            connection.execute("INSERT INTO floor_step VALUES (%s, 1, %s)", (run, value))
    began = monotonic()
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        shares = [range(start, runs, CONNECTIONS) for start in range(CONNECTIONS)]
        list(pool.map(lambda share: _work(dsn, share, steps, value), shares))
    return runs * steps / (monotonic() - began)


def _work(dsn: str, runs: range, steps: int, value: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        for number in range(1, steps + 1):
            for run in runs:
                given = {"run": run, "n": number, "payload": value, "state": value}
                connection.execute(STEP, given)
