-- Step leased -> leased with a later expiry, for all of a worker's steps at once. Guard: this worker
-- still owns exactly this generation. A lease never moves backward. `cancelled` tells the activity
-- that its run has moved on to another generation: stop.
WITH mine AS (
    SELECT * FROM unnest(CAST(:workflow_ids AS text[]), CAST(:steps AS integer[]),
                         CAST(:generations AS integer[])) AS held (workflow_id, step, generation)
),
renewed AS (
    UPDATE claim
    SET expires_at = greatest(claim.expires_at,
                              (SELECT outlast_now()) + make_interval(secs => :lease_s))
    FROM mine
    WHERE claim.workflow_id = mine.workflow_id AND claim.step = mine.step
      AND claim.generation = mine.generation AND claim.owner = :worker
    RETURNING claim.workflow_id, claim.step, claim.generation
)
SELECT renewed.workflow_id, renewed.step, renewed.generation,
       step.run_generation <> workflow.generation AS cancelled
FROM renewed
JOIN workflow ON workflow.id = renewed.workflow_id
JOIN step ON step.workflow_id = renewed.workflow_id AND step.number = renewed.step
