-- Operation sent or ambiguous -> another status. Guard: the version that the verdict was made from,
-- so that a verdict never overwrites a later word, a person's included (R18).
UPDATE operation
SET status = :status, reference = coalesce(:reference, reference),
    facts = coalesce(CAST(:facts AS jsonb), facts), version = version + 1,
    settled_by = :settled_by, observe_at = CAST(:observe_at AS timestamptz),
    settled_at = CASE WHEN :status IN ('confirmed', 'refused', 'abandoned')
                      THEN (SELECT outlast_now()) END
WHERE id = :operation_id AND version = :version AND status IN ('sent', 'ambiguous')
RETURNING version
