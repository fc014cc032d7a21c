-- A step leaves the hands of its attempt. Guard: this worker owns exactly this generation; zero rows
-- mean that the attempt was superseded.
DELETE FROM claim
WHERE workflow_id = :workflow_id AND step = :step
  AND owner = :worker AND generation = :generation
RETURNING generation
