-- Step leased -> any other status. Guard: this attempt and generation hold the step and the run's
-- generation has not moved since it was scheduled.
UPDATE step
SET status = :status, result = CAST(:result AS jsonb), failure = CAST(:failure AS jsonb),
    spent = coalesce(CAST(:spent AS jsonb), step.spent),
    ended_at = CASE WHEN :status IN ('due', 'unsettled') THEN NULL ELSE (SELECT outlast_now()) END
FROM workflow
WHERE step.workflow_id = :workflow_id AND step.number = :step
  AND step.status = 'leased' AND step.generation = :generation
  AND workflow.id = step.workflow_id AND workflow.generation = step.run_generation
RETURNING step.number
