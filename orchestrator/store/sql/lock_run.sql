-- Any transition of a run: take its row, so that one transaction at a time decides (R15).
-- Guard: none; the caller compares status, position and generation. Waits for another holder.
SELECT id, definition, definition_version, status, phase, outcome, cleanup, cancel_stage, cancel_by,
       cancel_because, state, state_version, position, generation, submitter, (SELECT outlast_now()) AS now
FROM workflow
WHERE id = :workflow_id
FOR NO KEY UPDATE
