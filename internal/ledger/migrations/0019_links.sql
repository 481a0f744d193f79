-- +goose Up
-- Which secret made a link, so that all links of one that leaked can be replaced; and under which address the link of a
-- message stands, which is as frozen as the rest of it.
ALTER TABLE links ADD COLUMN secret text NOT NULL DEFAULT '';
UPDATE links l SET secret = coalesce((
    SELECT b.link_secret FROM obligations b
    WHERE b.environment = l.environment AND b.session = l.session AND b.kind = 'email' AND b.link_secret IS NOT NULL
    ORDER BY b.created_at DESC LIMIT 1), '');
CREATE INDEX links_secret ON links (secret);
ALTER TABLE obligations ADD COLUMN link_base text;
CREATE OR REPLACE VIEW open_obligations AS
SELECT * FROM obligations
WHERE finished_at IS NULL AND stopped_at IS NULL AND (wanted = 'granted' OR kind = 'access_change');
-- What an operator asks for with a new link.
ALTER TABLE requests
    ADD COLUMN no_send  boolean NOT NULL DEFAULT false,
    ADD COLUMN new_keys boolean NOT NULL DEFAULT false;
