-- +goose Up
-- The buyer has finished checkout with a voucher or a transfer, and has not paid it yet.
ALTER TABLE orders ADD COLUMN to_pay boolean NOT NULL DEFAULT false;
