-- +goose Up
-- The short public name of an order. Emails, pages and alerts show it instead of the session id, because the session id
-- opens the order page. Eight of the random bytes of a UUID, five bits each: a collision is refused by the index, and
-- whoever reported the order reports it again.
-- +goose StatementBegin
CREATE FUNCTION handover_reference() RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT 'HO-' || string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + (get_byte(random.bytes, i) & 31), 1), '')
    FROM (SELECT uuid_send(gen_random_uuid()) AS bytes) random, unnest(ARRAY[0, 1, 2, 3, 4, 5, 9, 10]) AS i
$$;
-- +goose StatementEnd
ALTER TABLE orders ADD COLUMN reference text NOT NULL DEFAULT handover_reference();
CREATE UNIQUE INDEX orders_reference ON orders (reference);
