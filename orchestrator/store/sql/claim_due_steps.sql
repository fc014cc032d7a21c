-- Step due -> leased, in a batch. Guard: due by the database's clock, held by nobody, and its
-- receiver's breaker is closed; rows that another worker is taking are skipped. The step's
-- generation, the fencing token, goes up by one and never resets (R9); the attempt is recorded in the
-- same statement. `on_trial` says that the receiver has failed since it last answered.
WITH picked AS MATERIALIZED (
    SELECT workflow_id, step
    FROM claim
    WHERE owner IS NULL
      AND due_at <= (SELECT outlast_now())
      AND activity = ANY (:activities)
      AND NOT EXISTS (SELECT 1 FROM breaker
                      WHERE breaker.receiver = claim.queue
                        AND breaker.open_until > (SELECT outlast_now()))
    ORDER BY due_at
    LIMIT :batch
    FOR UPDATE SKIP LOCKED
),
held AS (
    UPDATE claim
    SET owner = :worker,
        generation = claim.generation + 1,
        expires_at = (SELECT outlast_now()) + make_interval(secs => :lease_s),
        attempt_until = (SELECT outlast_now())
            + make_interval(secs => CAST(step.limits ->> 'attempt_s' AS float8)),
        progress_until = (SELECT outlast_now())
            + make_interval(secs => CAST(step.limits ->> 'progress_s' AS float8))
    FROM picked
    JOIN step ON step.workflow_id = picked.workflow_id AND step.number = picked.step
    WHERE claim.workflow_id = picked.workflow_id AND claim.step = picked.step
    RETURNING claim.workflow_id, claim.step, claim.generation
),
leased AS (
    UPDATE step
    SET status = 'leased', generation = held.generation, attempts = step.attempts + 1
    FROM held
    WHERE step.workflow_id = held.workflow_id AND step.number = held.step AND step.status = 'due'
    RETURNING step.*
),
recorded AS (
    INSERT INTO attempt (workflow_id, step, number, generation, run_generation, worker,
                         code_version, outcome, started_at)
    SELECT workflow_id, number, attempts, generation, run_generation, :worker,
           :code_version, 'running', (SELECT outlast_now())
    FROM leased
)
SELECT workflow_id, number, name, ordinal, activity, queue, operation_id, input, limits,
       generation, run_generation, attempts, substate,
       EXISTS (SELECT 1 FROM breaker WHERE breaker.receiver = leased.queue) AS on_trial
FROM leased
ORDER BY workflow_id, number
