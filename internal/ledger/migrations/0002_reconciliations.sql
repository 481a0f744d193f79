-- +goose Up

-- When the ledger was last gone through for work that nobody is doing. One row: a schedule can stop silently, and its age
-- is what tells.
CREATE TABLE reconciliations (
    one         boolean     PRIMARY KEY DEFAULT true CHECK (one),
    finished_at timestamptz NOT NULL,
    checked     bigint      NOT NULL,
    repaired    bigint      NOT NULL,
    remaining   bigint      NOT NULL
);
