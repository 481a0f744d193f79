-- +goose Up

-- From when on every paid session of an environment is to be known, and until when it is: the provider's list was gone
-- through to its end, from a time that was covered before. What was sold before covered_from was somebody else's to deliver.
CREATE TABLE sales_lists (
    environment    text        PRIMARY KEY,
    covered_from   timestamptz NOT NULL DEFAULT now(),
    complete_until timestamptz NOT NULL DEFAULT now()
);
