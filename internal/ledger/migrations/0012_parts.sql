-- +goose Up
-- What a part of the money that went back may have been for, beside the items; how much a dispute is about, 0 for all of it;
-- and the currency of refunds and disputes, which may be another than the sale's.
ALTER TABLE orders
    ADD COLUMN parts bigint[] NOT NULL DEFAULT '{}',
    ADD COLUMN disputed bigint NOT NULL DEFAULT 0,
    ADD COLUMN reversal_currency text NOT NULL DEFAULT '';
