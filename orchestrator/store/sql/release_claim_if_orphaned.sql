-- A lease ends early, because its worker's own session is gone. Guard: still this generation; the
-- worker held its session lock from before its first claim and holds it no more; that session was one
-- of this very server, neither started again nor promoted since, when all sessions are gone; and
-- nothing was sent that its receiver cannot tell apart (R11).
DELETE FROM claim
USING worker
WHERE claim.workflow_id = :workflow_id AND claim.step = :step
  AND claim.generation = :generation AND claim.owner = worker.id
  AND worker.holds_session
  AND worker.server_started_at = pg_postmaster_start_time()
  AND NOT EXISTS (
        SELECT 1 FROM operation
        WHERE operation.workflow_id = claim.workflow_id AND operation.step = claim.step
          AND operation.status = 'sent' AND operation.guarantee = 'none')
  AND pg_try_advisory_xact_lock_shared(outlast_session_key(worker.id))
RETURNING claim.owner
