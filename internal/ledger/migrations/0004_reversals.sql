-- +goose Up

-- What became of the money after it was paid, as the provider proved it last, and what a person has decided about it.
-- Every new column has a constant default or none, so a process of the version before goes on writing rows without it.
ALTER TABLE orders
    ADD COLUMN refunded          bigint NOT NULL DEFAULT 0, -- by refunds that succeeded, minor units
    ADD COLUMN captured          bigint NOT NULL DEFAULT 0, -- what the buyer paid, where the provider said it with them
    ADD COLUMN refund_pending    bigint NOT NULL DEFAULT 0,
    ADD COLUMN dispute           text   NOT NULL DEFAULT '',
    ADD COLUMN reversal_due_at   timestamptz, -- there may be something new about the money: the provider is to be asked
    ADD COLUMN reversal_read_at  timestamptz, -- when it was asked last
    ADD COLUMN reversal_since    timestamptz, -- when the look began whose answer is on record
    ADD COLUMN refund_unclear_at timestamptz, -- a partial refund names no item, and no person has decided yet
    ADD COLUMN verdict           text   NOT NULL DEFAULT '', -- a person's: revoked or restored
    ADD COLUMN verdict_refunded  bigint NOT NULL DEFAULT 0,  -- what was known of the money then
    ADD COLUMN verdict_dispute   text   NOT NULL DEFAULT '';
CREATE INDEX orders_reversal_due ON orders (reversal_due_at) WHERE reversal_due_at IS NOT NULL;
CREATE INDEX orders_money_open ON orders (reversal_read_at) WHERE dispute = 'open' OR refund_pending > 0; -- has an end to come
CREATE INDEX orders_refund_unclear ON orders (refund_unclear_at) WHERE refund_unclear_at IS NOT NULL;

ALTER TABLE order_items ADD COLUMN amount bigint NOT NULL DEFAULT 0; -- of the whole line, minor units

-- How access has to be: granted, held or revoked, and from which unit on it is revoked in any case. What is owed but
-- not wanted rests: nobody works on it, and it is neither done nor stopped.
ALTER TABLE obligations
    ADD COLUMN wanted text   NOT NULL DEFAULT 'granted',
    ADD COLUMN keep   bigint NOT NULL DEFAULT 0; -- units that stay; 0 for all
CREATE INDEX webhook_events_unmatched ON webhook_events (received_at) WHERE dispatched_at IS NULL AND session IS NULL;
