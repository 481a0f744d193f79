-- +goose Up
-- When work that has failed, or may not be done yet, is tried again: the stated reason for an obligation to be old. On an
-- order it is about the payment, its refunds and its disputes.
ALTER TABLE orders ADD COLUMN next_attempt_at timestamptz;
ALTER TABLE obligations ADD COLUMN next_attempt_at timestamptz;
-- The step of an order that makes no progress is none of those that stop.
ALTER TABLE attention DROP CONSTRAINT attention_step_check;
ALTER TABLE attention ADD CONSTRAINT attention_step_check
    CHECK (step IN ('payment', 'reversal', 'access', 'access_change', 'email', 'progress')) NOT VALID;
-- A view keeps the columns that its table had when it was made.
CREATE OR REPLACE VIEW open_obligations AS
SELECT * FROM obligations
WHERE finished_at IS NULL AND stopped_at IS NULL AND (wanted = 'granted' OR kind = 'access_change');
