-- +goose Up
-- The last message to the owner about each reason: it paces them, and says whether they arrive.
CREATE TABLE alert_messages (
    reason     text        PRIMARY KEY,
    claimed_at timestamptz NOT NULL DEFAULT now(),
    outcome    text -- told, or failed; null while it is being told, and for ever when the worker died meanwhile
);
