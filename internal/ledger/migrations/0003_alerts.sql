-- +goose Up

-- What the owner was told, or could not be: at most once a day for an order and a reason, and for a fault in the settings
-- once a day for all orders (environment and session are empty then).
CREATE TABLE alerts (
    environment text        NOT NULL,
    session     text        NOT NULL,
    reason      text        NOT NULL,
    day         date        NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')::date,
    claimed_at  timestamptz NOT NULL DEFAULT now(),
    outcome     text, -- told, or failed; null while it is being told, and for ever when the worker died meanwhile
    PRIMARY KEY (environment, session, reason, day)
);
