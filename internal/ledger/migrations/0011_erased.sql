-- +goose Up
-- An erased order keeps nothing of its buyer, whatever is reported later.
ALTER TABLE orders ADD COLUMN erased_at timestamptz;
UPDATE orders o SET erased_at = a.at
FROM (SELECT environment, session, max(at) AS at FROM audit WHERE what = 'buyer erased' GROUP BY 1, 2) a
WHERE o.environment = a.environment AND o.session = a.session;
