-- Outbox pending -> taken, or taken again when its taker was lost. Guard: due by the database's
-- clock; rows that another publisher is taking are skipped. Published at least once (R28).
UPDATE outbox
SET status = 'taken', attempts = attempts + 1,
    due_at = (SELECT outlast_now()) + make_interval(secs => :hold_s)
WHERE id IN (
    SELECT id FROM outbox
    WHERE status <> 'published' AND due_at <= (SELECT outlast_now())
    ORDER BY id
    LIMIT :batch
    FOR UPDATE SKIP LOCKED)
RETURNING id, workflow_id, message_id, topic, payload, attempts
