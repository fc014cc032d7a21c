-- The host's own store. Uniqueness is enforced here, in the transaction that creates.

CREATE TABLE IF NOT EXISTS repositories (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    default_branch TEXT NOT NULL,
    strict INTEGER NOT NULL CHECK (strict IN (0, 1)),
    created_at TEXT NOT NULL,
    last_number INTEGER NOT NULL DEFAULT 0,
    UNIQUE (owner, name)
);

CREATE TABLE IF NOT EXISTS collaborators (
    repository_id INTEGER NOT NULL REFERENCES repositories (id),
    login TEXT NOT NULL,
    permission TEXT NOT NULL CHECK (permission IN ('pull', 'push', 'admin')),
    PRIMARY KEY (repository_id, login)
);

CREATE TABLE IF NOT EXISTS issues (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    repository_id INTEGER NOT NULL REFERENCES repositories (id),
    number INTEGER NOT NULL,
    title TEXT NOT NULL,
    body TEXT,
    state TEXT NOT NULL CHECK (state IN ('open', 'closed')),
    state_reason TEXT,
    login TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    closed_at TEXT,
    closed_by TEXT,
    born INTEGER NOT NULL, -- ordinal of the journal entry that created it
    UNIQUE (repository_id, number)
);

CREATE TABLE IF NOT EXISTS pulls (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    issue_id INTEGER NOT NULL UNIQUE REFERENCES issues (id),
    repository_id INTEGER NOT NULL REFERENCES repositories (id),
    head_ref TEXT NOT NULL,
    base_ref TEXT NOT NULL,
    head_sha TEXT NOT NULL,
    base_sha TEXT NOT NULL,
    is_open INTEGER NOT NULL CHECK (is_open IN (0, 1)),
    draft INTEGER NOT NULL CHECK (draft IN (0, 1)),
    merged_at TEXT,
    merged_by TEXT,
    merge_commit_sha TEXT
);
CREATE UNIQUE INDEX IF NOT EXISTS one_open_pull_for_head_and_base
    ON pulls (repository_id, head_ref, base_ref) WHERE is_open = 1;

CREATE TABLE IF NOT EXISTS comments (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    issue_id INTEGER NOT NULL REFERENCES issues (id),
    body TEXT NOT NULL,
    login TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    born INTEGER NOT NULL
);

CREATE TABLE IF NOT EXISTS requested_reviewers (
    pull_id INTEGER NOT NULL REFERENCES pulls (id),
    login TEXT NOT NULL,
    PRIMARY KEY (pull_id, login)
);

CREATE TABLE IF NOT EXISTS reviews (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    pull_id INTEGER NOT NULL REFERENCES pulls (id),
    login TEXT NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('APPROVED', 'CHANGES_REQUESTED', 'COMMENTED')),
    commit_sha TEXT NOT NULL,
    submitted_at TEXT NOT NULL,
    born INTEGER NOT NULL
);

-- A key outlives the resource it made: nothing deletes from this table.
CREATE TABLE IF NOT EXISTS idempotency_keys (
    login TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    status INTEGER NOT NULL,
    answer TEXT NOT NULL,
    PRIMARY KEY (login, key)
);

-- What is about to happen to a ref, committed before git is told; settled at the next start.
CREATE TABLE IF NOT EXISTS ref_intents (
    ordinal INTEGER PRIMARY KEY,
    repository_id INTEGER NOT NULL REFERENCES repositories (id),
    ref TEXT NOT NULL,
    old TEXT NOT NULL,
    new TEXT NOT NULL,
    effect TEXT NOT NULL
);

CREATE TABLE IF NOT EXISTS journal (
    ordinal INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    login TEXT,
    idempotency_key TEXT,
    marker TEXT,
    body_sha256 TEXT
);
CREATE TABLE IF NOT EXISTS journal_notes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    ordinal INTEGER NOT NULL REFERENCES journal (ordinal),
    name TEXT NOT NULL CHECK (name IN ('applied', 'status', 'delivered', 'fault', 'ref')),
    content TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS notes_of_an_entry ON journal_notes (ordinal);

CREATE TRIGGER IF NOT EXISTS journal_is_never_changed BEFORE UPDATE ON journal
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER IF NOT EXISTS journal_is_never_cut BEFORE DELETE ON journal
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER IF NOT EXISTS notes_are_never_changed BEFORE UPDATE ON journal_notes
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER IF NOT EXISTS notes_are_never_cut BEFORE DELETE ON journal_notes
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
