-- +goose Up
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION row_summed() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public SET timezone = 'UTC' SET bytea_output = 'hex' SET extra_float_digits = 1 AS $$
DECLARE
    columns jsonb := to_jsonb(NEW);
    decides jsonb := (SELECT jsonb_object_agg(c, columns -> c) FROM unnest(TG_ARGV) c);
BEGIN
    NEW.row_sum := sha256(convert_to(decides::text, 'UTF8'));
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE OR REPLACE TRIGGER row_updated AFTER UPDATE ON session FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('id');

-- +goose Down
