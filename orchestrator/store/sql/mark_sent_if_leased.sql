-- Operation intended -> sent, committed before the first byte leaves (R1). Guard: this attempt holds
-- the step's current generation, the run's generation has not moved, and a needed approval lives:
-- approved, not expired, given by a principal who may still review (R2).
UPDATE operation
SET status = 'sent', guarantee = :guarantee, sent_attempt = :attempt,
    sent_at = (SELECT outlast_now()), version = operation.version + 1
FROM step, workflow
WHERE operation.id = :operation_id AND operation.status = 'intended'
  AND step.workflow_id = operation.workflow_id AND step.number = operation.step
  AND step.status = 'leased' AND step.generation = :generation AND step.attempts = :attempt
  AND workflow.id = operation.workflow_id AND workflow.generation = step.run_generation
  AND (operation.approval IS NULL OR EXISTS (
        SELECT 1
        FROM approval
        JOIN principal ON principal.name = approval.decided_by
        WHERE approval.workflow_id = operation.workflow_id
          AND approval.ordinal = operation.approval
          AND approval.status = 'approved'
          AND approval.expires_at > (SELECT outlast_now())
          AND principal.disabled_at IS NULL AND 'reviewer' = ANY (principal.roles)))
RETURNING operation.version
