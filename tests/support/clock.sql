-- Only for databases made by tests: lets a test move the one clock that all statements read.
CREATE TABLE test_clock (
    only_row boolean PRIMARY KEY DEFAULT true CONSTRAINT test_clock_is_one CHECK (only_row),
    moved_by interval NOT NULL
);
INSERT INTO test_clock (moved_by) VALUES (interval '0');
CREATE OR REPLACE FUNCTION outlast_offset() RETURNS interval
    LANGUAGE sql STABLE AS $$ SELECT moved_by FROM test_clock $$;
