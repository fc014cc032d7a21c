-- Step due -> claimable after so many seconds. Guard: a person does not hold its run; what is held
-- back is published when the run is resumed. The step's generation goes on and never resets (R9).
INSERT INTO claim (workflow_id, step, queue, activity, generation, due_at, total_until, gives_up_at)
SELECT step.workflow_id, step.number, step.queue, step.activity, step.generation, due.at, ends.at,
       least(coalesce(due.at + make_interval(secs => CAST(step.limits ->> 'queue_s' AS float8)),
                      'infinity'), ends.at)
FROM step
JOIN workflow ON workflow.id = step.workflow_id
CROSS JOIN LATERAL (
    SELECT (SELECT outlast_now()) + make_interval(secs => :after_s) AS at) AS due
CROSS JOIN LATERAL (
    SELECT coalesce(step.created_at
                    + make_interval(secs => CAST(step.limits ->> 'total_s' AS float8)),
                    'infinity') AS at) AS ends
WHERE step.workflow_id = :workflow_id AND step.number = :step AND step.status = 'due'
  AND workflow.status <> 'paused'
ON CONFLICT DO NOTHING
RETURNING step
