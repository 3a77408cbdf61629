-- +goose Up
-- What the tables that decide access have in common: their rows are signed, and nodes are told when one changes.

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

-- PostgreSQL lets every login send notifications, on any channel. So the name of the
-- channel is a secret, and a login that may only read cannot tell the nodes anything.
CREATE TABLE access_channel (
    name text PRIMARY KEY
);
COMMENT ON TABLE access_channel IS 'One row: the secret name of the channel on which nodes are notified of changed credentials.';
INSERT INTO access_channel VALUES ('lineproof_' || replace(gen_random_uuid()::text, '-', ''));

-- Nodes cache credentials. The triggers of this function notify every node at commit of a
-- change that ends or alters one, whichever program made the change.
-- +goose StatementBegin
CREATE FUNCTION access_changed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
BEGIN
    PERFORM pg_notify(name, TG_ARGV[0] || ':' || (to_jsonb(NEW) ->> TG_ARGV[1])) FROM access_channel;
    RETURN NULL;
END $$;
-- +goose StatementEnd
COMMENT ON FUNCTION access_changed IS 'Notifies the nodes that a credential, or what it depends on, has changed. Arguments: the kind, and the column that has the id.';

GRANT SELECT ON access_channel TO lineproof_serve;

-- +goose Down
DROP FUNCTION access_changed;
DROP TABLE access_channel;
DROP FUNCTION row_changed;
DROP FUNCTION row_summed;
