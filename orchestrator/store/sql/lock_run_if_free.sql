-- Any transition of a run, for duties that have other runs to turn to: a busy run is skipped (R16).
-- Guard: none; the caller compares status, position and generation.
SELECT id, definition, definition_version, status, phase, outcome, cleanup, cancel_stage, cancel_by,
       cancel_because, state, state_version, position, generation, submitter, (SELECT outlast_now()) AS now
FROM workflow
WHERE id = :workflow_id
FOR NO KEY UPDATE SKIP LOCKED
