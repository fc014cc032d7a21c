"""The first tables: runs, history, steps, leases, operations, approvals and what goes with them."""

from alembic import op

revision = "0001"
down_revision = None

CLOCK = """
-- Replaced only in databases made for tests; a constant here, so that nothing can move time.
CREATE FUNCTION outlast_offset() RETURNS interval
    LANGUAGE sql STABLE AS $$ SELECT interval '0' $$;
CREATE FUNCTION outlast_now() RETURNS timestamptz
    LANGUAGE sql VOLATILE AS $$ SELECT clock_timestamp() + outlast_offset() $$;
"""

RUNS = """
CREATE TABLE installation (
    only_row boolean PRIMARY KEY DEFAULT true CONSTRAINT installation_is_one CHECK (only_row),
    id text NOT NULL
);
INSERT INTO installation (id) VALUES (substr(replace(gen_random_uuid()::text, '-', ''), 1, 8));
CREATE SEQUENCE workflow_number START 1;
CREATE TABLE workflow (
    id text PRIMARY KEY,
    definition text NOT NULL,
    definition_version integer NOT NULL,
    status text NOT NULL CONSTRAINT workflow_status
        CHECK (status IN ('running', 'waiting', 'cancelling', 'ended', 'set-aside')),
    phase text NOT NULL,
    outcome text,
    reason text,
    cleanup text NOT NULL DEFAULT 'none' CONSTRAINT workflow_cleanup
        CHECK (cleanup IN ('none', 'running', 'clean', 'incomplete')),
    cancel_stage text NOT NULL DEFAULT 'none' CONSTRAINT workflow_cancel_stage
        CHECK (cancel_stage IN
               ('none', 'requested', 'stopping', 'preserving', 'cleaning', 'done')),
    cancel_by text,
    state jsonb NOT NULL,
    state_version integer NOT NULL,
    position bigint NOT NULL DEFAULT 0,
    generation integer NOT NULL DEFAULT 1,
    submitter text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    ended_at timestamptz,
    CONSTRAINT workflow_ended_has_outcome CHECK ((status = 'ended') = (outcome IS NOT NULL))
);
CREATE INDEX workflow_live ON workflow (updated_at) WHERE status <> 'ended';
CREATE TABLE event (
    workflow_id text NOT NULL REFERENCES workflow (id),
    position bigint NOT NULL,
    kind text NOT NULL,
    payload jsonb NOT NULL,
    cause text NOT NULL,
    code_version text NOT NULL,
    recorded_at timestamptz NOT NULL,
    PRIMARY KEY (workflow_id, position)
);
CREATE TABLE submission (
    principal text NOT NULL,
    idempotency_key text NOT NULL,
    fingerprint text NOT NULL,
    workflow_id text NOT NULL REFERENCES workflow (id),
    PRIMARY KEY (principal, idempotency_key)
);
CREATE INDEX submission_workflow ON submission (workflow_id);
"""

STEPS = """
CREATE TABLE step (
    workflow_id text NOT NULL REFERENCES workflow (id),
    number integer NOT NULL,
    name text NOT NULL,
    ordinal integer NOT NULL,
    activity text NOT NULL,
    queue text NOT NULL,
    operation_id text,
    input jsonb NOT NULL,
    input_fingerprint text NOT NULL,
    limits jsonb NOT NULL,
    spent jsonb NOT NULL DEFAULT '{}',
    status text NOT NULL CONSTRAINT step_status
        CHECK (status IN ('due', 'leased', 'unsettled', 'succeeded', 'failed', 'cancelled')),
    generation integer NOT NULL DEFAULT 0,
    run_generation integer NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    result jsonb,
    failure jsonb,
    substate jsonb,
    created_at timestamptz NOT NULL,
    ended_at timestamptz,
    PRIMARY KEY (workflow_id, number),
    CONSTRAINT step_name_once UNIQUE (workflow_id, name, ordinal)
);
CREATE TABLE attempt (
    workflow_id text NOT NULL,
    step integer NOT NULL,
    number integer NOT NULL,
    generation integer NOT NULL,
    run_generation integer NOT NULL,
    worker text NOT NULL,
    code_version text NOT NULL,
    outcome text NOT NULL CONSTRAINT attempt_outcome CHECK (outcome IN
        ('running', 'succeeded', 'failed', 'ambiguous', 'lost', 'cancelled')),
    failure jsonb,
    late jsonb,
    started_at timestamptz NOT NULL,
    ended_at timestamptz,
    PRIMARY KEY (workflow_id, step, number),
    FOREIGN KEY (workflow_id, step) REFERENCES step (workflow_id, number)
);
CREATE TABLE claim (
    workflow_id text NOT NULL,
    step integer NOT NULL,
    queue text NOT NULL,
    activity text NOT NULL,
    due_at timestamptz NOT NULL,
    owner text,
    generation integer NOT NULL DEFAULT 0,
    expires_at timestamptz,
    PRIMARY KEY (workflow_id, step)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX claim_due ON claim (due_at) WHERE owner IS NULL;
CREATE INDEX claim_held ON claim (owner) WHERE owner IS NOT NULL;
CREATE TABLE timer (
    workflow_id text NOT NULL REFERENCES workflow (id),
    name text NOT NULL,
    fires_at timestamptz NOT NULL,
    PRIMARY KEY (workflow_id, name)
);
CREATE INDEX timer_due ON timer (fires_at);
CREATE TABLE worker (
    id text PRIMARY KEY,
    queues text[] NOT NULL,
    code_version text NOT NULL,
    started_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL
);
"""

OUTSIDE = """
CREATE TABLE operation (
    id text PRIMARY KEY,
    workflow_id text NOT NULL,
    step integer NOT NULL,
    activity text NOT NULL,
    request jsonb NOT NULL,
    fingerprint text NOT NULL,
    guarantee text CONSTRAINT operation_guarantee CHECK (guarantee IN
        ('idempotency-key', 'unique-key', 'conditional-write', 'natural', 'none')),
    approval integer,
    makes jsonb,
    cleans jsonb,
    status text NOT NULL CONSTRAINT operation_status CHECK (status IN
        ('intended', 'sent', 'confirmed', 'refused', 'ambiguous', 'abandoned')),
    version integer NOT NULL DEFAULT 1,
    sent_attempt integer,
    sent_at timestamptz,
    reference text,
    facts jsonb,
    observations jsonb NOT NULL DEFAULT '[]',
    observe_at timestamptz,
    settled_by text,
    settled_at timestamptz,
    FOREIGN KEY (workflow_id, step) REFERENCES step (workflow_id, number),
    CONSTRAINT operation_sent_has_guarantee
        CHECK (status IN ('intended', 'abandoned', 'refused') OR guarantee IS NOT NULL)
);
CREATE INDEX operation_run ON operation (workflow_id, step);
CREATE INDEX operation_open ON operation (observe_at) WHERE status = 'ambiguous';
CREATE TABLE approval (
    workflow_id text NOT NULL REFERENCES workflow (id),
    ordinal integer NOT NULL,
    status text NOT NULL CONSTRAINT approval_status CHECK (status IN
        ('pending', 'approved', 'rejected', 'expired', 'superseded', 'used')),
    scope jsonb NOT NULL,
    requested_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    decided_by text,
    decided_at timestamptz,
    comment text,
    PRIMARY KEY (workflow_id, ordinal)
);
CREATE INDEX approval_pending ON approval (requested_at) WHERE status = 'pending';
CREATE TABLE artifact (
    workflow_id text NOT NULL REFERENCES workflow (id),
    sha256 text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    size bigint NOT NULL,
    step integer NOT NULL,
    attempt integer NOT NULL,
    revision text,
    procedure_sha256 text,
    environment_sha256 text,
    recorded_at timestamptz NOT NULL,
    PRIMARY KEY (workflow_id, sha256, name)
);
CREATE TABLE resource (
    workflow_id text NOT NULL REFERENCES workflow (id),
    kind text NOT NULL CONSTRAINT resource_kind CHECK (kind IN ('environment', 'branch')),
    tag text NOT NULL,
    status text NOT NULL CONSTRAINT resource_status CHECK (status IN
        ('registered', 'live', 'cleaning', 'gone', 'kept', 'remains')),
    generation integer NOT NULL,
    reference text,
    note text,
    registered_at timestamptz NOT NULL,
    changed_at timestamptz NOT NULL,
    PRIMARY KEY (workflow_id, kind, tag)
);
CREATE INDEX resource_open ON resource (changed_at) WHERE status NOT IN ('gone', 'kept');
"""

MESSAGES = """
CREATE TABLE inbox (
    workflow_id text NOT NULL REFERENCES workflow (id),
    subject text NOT NULL,
    principal text NOT NULL,
    message_id text NOT NULL,
    serial bigint GENERATED ALWAYS AS IDENTITY,
    kind text NOT NULL,
    fingerprint text NOT NULL,
    payload jsonb NOT NULL,
    received_at timestamptz NOT NULL,
    answer jsonb,
    decided_at timestamptz,
    PRIMARY KEY (workflow_id, subject, principal, message_id)
);
CREATE INDEX inbox_undecided ON inbox (serial) WHERE answer IS NULL;
CREATE TABLE outbox (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    workflow_id text NOT NULL REFERENCES workflow (id),
    message_id text NOT NULL UNIQUE,
    topic text NOT NULL,
    payload jsonb NOT NULL,
    status text NOT NULL DEFAULT 'pending' CONSTRAINT outbox_status
        CHECK (status IN ('pending', 'taken', 'published')),
    due_at timestamptz NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    published_at timestamptz
);
CREATE INDEX outbox_workflow ON outbox (workflow_id);
CREATE INDEX outbox_due ON outbox (due_at) WHERE status <> 'published';
CREATE TABLE principal (
    name text PRIMARY KEY,
    roles text[] NOT NULL CONSTRAINT principal_roles
        CHECK (roles <@ ARRAY['submitter', 'reviewer', 'operator']),
    token_sha256 text NOT NULL UNIQUE,
    disabled_at timestamptz
);
"""


def upgrade() -> None:
    """Create every table, index and the one clock."""
    for part in (CLOCK, RUNS, STEPS, OUTSIDE, MESSAGES):
        op.execute(part)
