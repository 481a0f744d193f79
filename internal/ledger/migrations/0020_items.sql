-- +goose Up
-- Which of a product's access entries a piece of access is: its id in the catalogue, or its place there. It stays when the
-- file is renamed.
ALTER TABLE obligations ADD COLUMN item text NOT NULL DEFAULT '';
ALTER TABLE grants ADD COLUMN item text NOT NULL DEFAULT '';
CREATE OR REPLACE VIEW open_obligations AS
SELECT * FROM obligations
WHERE finished_at IS NULL AND stopped_at IS NULL AND (wanted = 'granted' OR kind = 'access_change');
CREATE INDEX order_items_product ON order_items (product) WHERE product IS NOT NULL;

-- The audit is only added to. What people wrote in it can be erased.
-- +goose StatementBegin
CREATE FUNCTION audit_is_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.why = '' AND (NEW.id, NEW.at, NEW.environment, NEW.session, NEW.who, NEW.what)
        = (OLD.id, OLD.at, OLD.environment, OLD.session, OLD.who, OLD.what) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'the audit is only added to';
END $$;
-- +goose StatementEnd
CREATE TRIGGER audit_is_kept BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION audit_is_kept();
