-- +goose Up
-- Proof that the buyer has it: the first time of each kind, and nothing else.
CREATE TABLE reach (
    environment text        NOT NULL,
    session     text        NOT NULL,
    kind        text        NOT NULL CHECK (kind IN ('opened', 'downloaded')),
    at          timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (environment, session, kind),
    FOREIGN KEY (environment, session) REFERENCES orders
);
