CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE closures (day TEXT PRIMARY KEY, reason TEXT NOT NULL);

CREATE TABLE tools (
    id INTEGER PRIMARY KEY,
    slug TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    shelf TEXT NOT NULL,
    description TEXT NOT NULL,
    accessories TEXT NOT NULL DEFAULT '',
    copies INTEGER NOT NULL,
    in_repair INTEGER NOT NULL DEFAULT 0,
    loan_days INTEGER NOT NULL,
    daily_fee INTEGER NOT NULL,
    value INTEGER NOT NULL,
    bought_on TEXT NOT NULL,
    needs_induction INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE members (
    id INTEGER PRIMARY KEY,
    card TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    tier TEXT NOT NULL CHECK (tier IN ('full', 'reduced', 'trial')),
    pin_hash TEXT NOT NULL,
    paid_until TEXT NOT NULL,
    inductions TEXT NOT NULL DEFAULT '',
    at_desk INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE loans (
    id INTEGER PRIMARY KEY,
    tool_id INTEGER NOT NULL REFERENCES tools,
    member_id INTEGER NOT NULL REFERENCES members,
    taken_on TEXT NOT NULL,
    due_on TEXT NOT NULL,
    accessories INTEGER NOT NULL DEFAULT 0,
    renewals INTEGER NOT NULL DEFAULT 0,
    returned_on TEXT,
    condition TEXT
);

CREATE TABLE reservations (
    id INTEGER PRIMARY KEY,
    tool_id INTEGER NOT NULL REFERENCES tools,
    member_id INTEGER NOT NULL REFERENCES members,
    asked_on TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'ready', 'fetched', 'cancelled', 'lapsed')),
    held_until TEXT
);

CREATE TABLE fees (
    id INTEGER PRIMARY KEY,
    member_id INTEGER NOT NULL REFERENCES members,
    loan_id INTEGER REFERENCES loans,
    reason TEXT NOT NULL,
    cents INTEGER NOT NULL,
    paid INTEGER NOT NULL DEFAULT 0,
    charged_on TEXT NOT NULL
);

CREATE VIEW stock AS
SELECT tools.*, lent, held, waiting, copies - lent - held - in_repair AS free
FROM tools JOIN (
    SELECT id AS tool,
        (SELECT count(*) FROM loans WHERE tool_id = tools.id AND returned_on IS NULL) AS lent,
        (SELECT count(*) FROM reservations WHERE tool_id = tools.id AND state = 'ready') AS held,
        (SELECT count(*) FROM reservations WHERE tool_id = tools.id AND state = 'waiting') AS waiting
    FROM tools
) ON tool = tools.id;
