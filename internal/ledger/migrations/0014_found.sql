-- +goose Up
-- How an order whose webhook was missed came to be known: page, or reconcile; empty when the webhook came.
ALTER TABLE orders ADD COLUMN found text NOT NULL DEFAULT '';
