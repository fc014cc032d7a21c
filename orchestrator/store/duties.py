"""One look at what there is to do: an idle process asks this and nothing else. Never commits."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, text

# The earliest of each kind is the end of an index. EXISTS with a comparison would be planned
# as a scan, because the planner takes a third of all rows to be due.
LOOK = text("""
SELECT EXISTS (SELECT 1 FROM inbox WHERE answer IS NULL) AS messages,
       EXISTS (SELECT 1 FROM claim WHERE owner IS NOT NULL) AS held,
       coalesce((SELECT min(fires_at) FROM timer) <= now.at, false) AS timers,
       coalesce((SELECT min(expires_at) FROM approval WHERE status = 'pending')
                <= now.at, false) AS approvals,
       coalesce((SELECT min(deadline) FROM workflow
                 WHERE deadline IS NOT NULL AND status IN ('running', 'waiting', 'paused'))
                <= now.at, false) AS deadlines,
       coalesce((SELECT min(due_at) FROM outbox WHERE status <> 'published')
                <= now.at, false) AS outbox
FROM (SELECT outlast_now() AS at) AS now
""")


@dataclass(frozen=True)
class Waiting:
    """Which duties have something to do; `held` says that steps are leased by anybody."""

    messages: bool
    timers: bool
    approvals: bool
    deadlines: bool
    outbox: bool
    held: bool


def look(connection: Connection) -> Waiting:
    """Look once; each answer comes from an index that holds only what may be due."""
    return Waiting(**connection.execute(LOOK).mappings().one())
