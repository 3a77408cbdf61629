-- +goose Up

-- A row that decides access has two more columns. row_sum is the SHA-256 of the columns that
-- decide; a trigger sets it, whoever writes. row_mac is the HMAC of it under a key from the
-- settings, which is not in the database; package pg sets it at the end of each transaction
-- that changes such a row.
-- +goose StatementBegin
CREATE FUNCTION row_summed() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public SET timezone = 'UTC' SET bytea_output = 'hex' SET extra_float_digits = 1 AS $$
DECLARE columns jsonb := to_jsonb(NEW);
BEGIN
    NEW.row_sum := sha256(convert_to((SELECT jsonb_object_agg(c, columns -> c) FROM unnest(TG_ARGV) c)::text, 'UTF8'));
    RETURN NEW;
END $$;
-- +goose StatementEnd
COMMENT ON FUNCTION row_summed IS 'Sets row_sum to the SHA-256 of the columns that are its arguments, the primary key first. The settings keep it the same in every session.';

-- +goose StatementBegin
CREATE FUNCTION row_changed() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public SET bytea_output = 'hex' AS $$
BEGIN
    RAISE NOTICE USING MESSAGE = 'lineproof: row changed', DETAIL = concat_ws(' ', TG_TABLE_NAME, to_jsonb(NEW) ->> TG_ARGV[0], encode(NEW.row_sum, 'hex'),
        CASE WHEN TG_OP = 'UPDATE' THEN 'after ' || encode(OLD.row_sum, 'hex') || ' ' || coalesce(encode(OLD.row_mac, 'hex'), '') END);
    RETURN NULL;
END $$;
-- +goose StatementEnd
COMMENT ON FUNCTION row_changed IS 'Tells the session that it has to sign the row: table, id and sum, and the sum and HMAC that the row had before. The argument is the primary key.';

ALTER TABLE account ADD has_factor boolean NOT NULL DEFAULT false, ADD row_sum bytea, ADD row_mac bytea;
COMMENT ON COLUMN account.has_factor IS 'Whether two-factor authentication is enabled. A trigger keeps it, so that a second factor cannot be deleted without changing the row that is signed.';
COMMENT ON COLUMN account.row_sum IS 'The SHA-256 of the columns that decide access. A trigger sets it.';
COMMENT ON COLUMN account.row_mac IS 'The HMAC of row_sum under a key that is not in the database, after the version of the key. A row whose HMAC is wrong gives no access.';
UPDATE account a SET has_factor = true WHERE EXISTS (SELECT FROM second_factor f WHERE f.account_id = a.id AND f.confirmed_at IS NOT NULL);
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON account FOR EACH ROW EXECUTE FUNCTION row_summed(
    'id', 'kind', 'entity_id', 'role', 'makes_keys', 'email', 'email_key', 'phone', 'password_hash', 'verified_at', 'verified_by', 'disabled_at', 'created_at', 'has_factor');
UPDATE account SET row_sum = NULL;
CREATE TRIGGER row_inserted AFTER INSERT ON account FOR EACH ROW EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER row_updated AFTER UPDATE ON account FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('id');

-- +goose StatementBegin
CREATE FUNCTION factor_changed() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
DECLARE changed uuid := coalesce(NEW.account_id, OLD.account_id);
BEGIN
    UPDATE account a SET has_factor = NOT a.has_factor
    WHERE a.id = changed AND a.has_factor <> EXISTS (SELECT FROM second_factor f WHERE f.account_id = changed AND f.confirmed_at IS NOT NULL);
    RETURN NULL;
END $$;
-- +goose StatementEnd
COMMENT ON FUNCTION factor_changed IS 'Keeps account.has_factor.';
CREATE TRIGGER factor_changed AFTER INSERT OR DELETE OR UPDATE OF account_id, confirmed_at ON second_factor FOR EACH ROW EXECUTE FUNCTION factor_changed();

ALTER TABLE session ADD row_sum bytea, ADD row_mac bytea;
COMMENT ON COLUMN session.row_sum IS 'As in account.';
COMMENT ON COLUMN session.row_mac IS 'As in account.';
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON session FOR EACH ROW EXECUTE FUNCTION row_summed(
    'id', 'account_id', 'mac', 'limited', 'proved_at', 'expires_at', 'revoked_at', 'created_at');
UPDATE session SET row_sum = NULL;
CREATE TRIGGER row_inserted AFTER INSERT ON session FOR EACH ROW EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER row_updated AFTER UPDATE ON session FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('id');

-- +goose Down
DROP TRIGGER row_updated ON session;
DROP TRIGGER row_inserted ON session;
DROP TRIGGER row_summed ON session;
ALTER TABLE session DROP row_mac, DROP row_sum;
DROP TRIGGER factor_changed ON second_factor;
DROP FUNCTION factor_changed;
DROP TRIGGER row_updated ON account;
DROP TRIGGER row_inserted ON account;
DROP TRIGGER row_summed ON account;
ALTER TABLE account DROP row_mac, DROP row_sum, DROP has_factor;
DROP FUNCTION row_changed;
DROP FUNCTION row_summed;
