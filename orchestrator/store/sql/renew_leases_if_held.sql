-- Step leased -> leased with a later expiry, for all of a worker's steps at once. Guard: the owner
-- that claimed it still owns exactly this generation. A lease never moves backward, and never further
-- than a grace past the limit that it has reached. `cancelled` tells the activity that its run has
-- moved on to another generation, `reached` that a time limit is over: stop.
WITH mine AS (
    SELECT * FROM unnest(CAST(:workflow_ids AS text[]), CAST(:steps AS integer[]),
                         CAST(:generations AS integer[]), CAST(:owners AS text[]))
        AS held (workflow_id, step, generation, owner)
),
renewed AS (
    UPDATE claim
    SET expires_at = greatest(
        claim.expires_at,
        least((SELECT outlast_now()) + make_interval(secs => :lease_s),
              least(claim.attempt_until, claim.progress_until, claim.total_until)
                  + make_interval(secs => :grace_s)))
    FROM mine
    WHERE claim.workflow_id = mine.workflow_id AND claim.step = mine.step
      AND claim.generation = mine.generation AND claim.owner = mine.owner
    RETURNING claim.workflow_id, claim.step, claim.generation,
              CASE WHEN claim.total_until <= (SELECT outlast_now()) THEN 'total'
                   WHEN claim.attempt_until <= (SELECT outlast_now()) THEN 'attempt'
                   WHEN claim.progress_until <= (SELECT outlast_now()) THEN 'progress' END AS reached
)
SELECT renewed.workflow_id, renewed.step, renewed.generation, renewed.reached,
       step.run_generation <> workflow.generation AS cancelled
FROM renewed
JOIN workflow ON workflow.id = renewed.workflow_id
JOIN step ON step.workflow_id = renewed.workflow_id AND step.number = renewed.step
