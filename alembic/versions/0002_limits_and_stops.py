"""Time limits, deadlines, pauses, breakers, and the lock that shows a worker's end."""

from alembic import op

revision = "0002"
down_revision = "0001"

RUNS = """
ALTER TABLE workflow
    ADD COLUMN deadline timestamptz,
    ADD COLUMN cancel_because text CONSTRAINT workflow_cancel_because
        CHECK (cancel_because IN ('person', 'deadline')),
    ADD COLUMN paused_by text,
    DROP CONSTRAINT workflow_status,
    ADD CONSTRAINT workflow_status CHECK (status IN
        ('running', 'waiting', 'paused', 'cancelling', 'ended', 'set-aside')),
    ADD CONSTRAINT workflow_paused_by_somebody
        CHECK ((status = 'paused') = (paused_by IS NOT NULL));
CREATE INDEX workflow_deadline ON workflow (deadline)
    WHERE deadline IS NOT NULL AND status IN ('running', 'waiting', 'paused');
"""

CLAIMS = """
ALTER TABLE claim
    ADD COLUMN gives_up_at timestamptz NOT NULL DEFAULT 'infinity',
    ADD COLUMN total_until timestamptz NOT NULL DEFAULT 'infinity',
    ADD COLUMN attempt_until timestamptz,
    ADD COLUMN progress_until timestamptz;
CREATE INDEX claim_gives_up ON claim (gives_up_at) WHERE owner IS NULL;
ALTER TABLE attempt
    DROP CONSTRAINT attempt_outcome,
    ADD CONSTRAINT attempt_outcome CHECK (outcome IN
        ('running', 'succeeded', 'failed', 'ambiguous', 'lost', 'overdue', 'cancelled'));
"""

WORKERS = """
-- The key of the lock that a worker's own session holds from before its first claim to its end.
CREATE FUNCTION outlast_session_key(worker text) RETURNS bigint
    LANGUAGE sql IMMUTABLE AS $$ SELECT hashtextextended(worker, 7203) $$;
ALTER TABLE worker
    ADD COLUMN holds_session boolean NOT NULL DEFAULT false,
    ADD COLUMN server_started_at timestamptz;
CREATE TABLE breaker (
    receiver text PRIMARY KEY,
    failures integer NOT NULL,
    open_until timestamptz NOT NULL,
    reason text NOT NULL
);
"""


APPROVALS = """
CREATE INDEX approval_expiring ON approval (expires_at) WHERE status = 'pending';
"""


def upgrade() -> None:
    """Add what the limits need; every default leaves a run of the earlier revision as it was."""
    for part in (RUNS, CLAIMS, WORKERS, APPROVALS):
        op.execute(part)
