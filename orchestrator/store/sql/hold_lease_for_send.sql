-- Step leased -> leased with at least the mutation's own time limit left (R10). Guard: this worker
-- owns exactly this generation. A lease never moves backward.
UPDATE claim
SET expires_at = greatest(expires_at, (SELECT outlast_now()) + make_interval(secs => :needs_s))
WHERE workflow_id = :workflow_id AND step = :step
  AND owner = :worker AND generation = :generation
RETURNING generation
