-- +goose Up
-- Up to when every refund and dispute of an environment is known, beside its sales.
ALTER TABLE sales_lists ADD COLUMN reversals_until timestamptz NOT NULL DEFAULT now();
UPDATE sales_lists SET reversals_until = covered_from;
