-- A lease ends without a word from its worker. Guard: still this generation and still expired by the
-- database's clock, so a renewal or a completion in between wins.
DELETE FROM claim
WHERE workflow_id = :workflow_id AND step = :step
  AND generation = :generation AND owner IS NOT NULL
  AND expires_at <= (SELECT outlast_now())
RETURNING owner
