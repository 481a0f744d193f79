-- +goose Up
-- Which installation this is, and the task queue on which its orders run.
CREATE TABLE installation (
    one        boolean PRIMARY KEY DEFAULT true CHECK (one),
    id         uuid NOT NULL DEFAULT gen_random_uuid(),
    task_queue text NOT NULL DEFAULT '' -- empty until a process says it
);
INSERT INTO installation DEFAULT VALUES;
