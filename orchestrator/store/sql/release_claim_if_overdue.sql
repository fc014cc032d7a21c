-- Step due -> failed, unstarted: nobody took it within its queue limit, or its attempts together
-- have used up its time. Guard: still unowned and still overdue, so that a worker's claim wins.
DELETE FROM claim
WHERE workflow_id = :workflow_id AND step = :step AND owner IS NULL
  AND gives_up_at <= (SELECT outlast_now())
RETURNING CASE WHEN total_until <= (SELECT outlast_now()) THEN 'total' ELSE 'queue' END AS reached
