-- A lease ends without a word from its worker. Guard: still this generation and still expired by the
-- database's clock, so a renewal or a completion in between wins. `reached` names what stopped moving.
DELETE FROM claim
WHERE workflow_id = :workflow_id AND step = :step
  AND generation = :generation AND owner IS NOT NULL
  AND expires_at <= (SELECT outlast_now())
RETURNING owner,
          CASE WHEN total_until <= (SELECT outlast_now()) THEN 'total'
               WHEN attempt_until <= (SELECT outlast_now()) THEN 'attempt'
               WHEN progress_until <= (SELECT outlast_now()) THEN 'progress'
               ELSE 'heartbeat' END AS reached
