-- +goose Up

-- When the last attempt at a piece of work began: what a provider made later than that was not made by it. Attempts of
-- the version before leave it null.
ALTER TABLE obligations ADD COLUMN last_attempt_at timestamptz;
-- Emails that ended without the provider's word for them. Everything in this index's condition keeps an update from being
-- cheap already, so the straight path pays nothing for it.
CREATE INDEX obligations_unproved ON obligations (created_at) WHERE kind = 'email' AND stopped_at IS NOT NULL AND provider_id IS NULL;
