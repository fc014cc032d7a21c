-- Operation intended -> sent, first half: hold the run still while the guards are read (R1, R2).
-- Guard: none; a cancellation waits until this transaction has committed, and the reverse.
SELECT status, generation FROM workflow WHERE id = :workflow_id FOR SHARE
