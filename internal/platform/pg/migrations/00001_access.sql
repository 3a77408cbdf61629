-- +goose Up
-- What the tables that decide access have in common: their rows are signed, and nodes are told when one changes.

-- A row that decides access has two more columns. row_sum is the SHA-256 of the columns that
-- decide; a trigger sets it, whoever writes. row_mac is the HMAC of it under a key from the
-- settings, which is not in the database; package pg sets it at the end of each transaction
-- that changes such a row.
-- +goose StatementBegin
CREATE FUNCTION row_summed() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp SET timezone = 'UTC' SET bytea_output = 'hex' SET extra_float_digits = 1 AS $$
DECLARE columns jsonb := to_jsonb(NEW);
BEGIN
    NEW.row_sum := sha256(convert_to((SELECT jsonb_object_agg(c, columns -> c) FROM unnest(TG_ARGV) c)::text, 'UTF8'));
    RETURN NEW;
END $$;
-- +goose StatementEnd
COMMENT ON FUNCTION row_summed IS 'Sets row_sum to the SHA-256 of the columns that are its arguments, the primary key first. The settings keep it the same in every session.';

-- A whole row can be written back as it once was, with the HMAC that it had then. So whoever
-- signs a row that has changed records what it signed, in the same transaction. A row without
-- a record has never changed. The HMAC covers the table, the id, the number and the sum, so
-- that no old record passes for the newest.
CREATE TABLE row_signed (
    table_name text        NOT NULL,
    id         uuid        NOT NULL,
    n          bigint      NOT NULL CHECK (n > 0),
    sum        bytea       NOT NULL,
    mac        bytea       NOT NULL,
    at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (table_name, id, n)
);
COMMENT ON TABLE row_signed IS 'What was signed of the rows that decide access after they had changed: the newest sum of a row is that of its highest number. Append-only for the service; the owner removes what is superseded.';
COMMENT ON COLUMN row_signed.n IS 'One more than that of the record before.';
COMMENT ON COLUMN row_signed.mac IS 'The version of the key and the HMAC of table, id, n and sum.';

-- Nobody takes a number in advance, and the time is the database's.
-- +goose StatementBegin
CREATE FUNCTION row_signed_next() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.n > 1 + coalesce((SELECT max(n) FROM row_signed s WHERE s.table_name = NEW.table_name AND s.id = NEW.id), 0) THEN
        RAISE EXCEPTION 'the number of the record is not the next one' USING ERRCODE = 'check_violation', CONSTRAINT = 'row_signed_next';
    END IF;
    NEW.at := clock_timestamp();
    RETURN NEW;
END $$;
-- +goose StatementEnd
COMMENT ON FUNCTION row_signed_next IS 'Refuses a record whose number leaves a gap, and sets its time.';
CREATE TRIGGER row_signed_next BEFORE INSERT ON row_signed FOR EACH ROW EXECUTE FUNCTION row_signed_next();

-- +goose StatementBegin
CREATE FUNCTION row_changed() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp SET bytea_output = 'hex' AS $$
DECLARE
    key uuid := to_jsonb(NEW) ->> TG_ARGV[0];
    before_sum bytea;
    before_mac bytea;
    newest row_signed;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        before_sum := OLD.row_sum;
        before_mac := OLD.row_mac;
    END IF;
    SELECT * INTO newest FROM row_signed s WHERE s.table_name = TG_TABLE_NAME AND s.id = key ORDER BY n DESC LIMIT 1;
    RAISE NOTICE USING MESSAGE = 'lineproof: row changed', DETAIL = format('%s %s %s %s %s %s %s %s %s', TG_TABLE_NAME, key, encode(NEW.row_sum, 'hex'),
        TG_OP, encode(before_sum, 'hex'), encode(before_mac, 'hex'), coalesce(newest.n, 0), encode(newest.sum, 'hex'), encode(newest.mac, 'hex'));
    RETURN NULL;
END $$;
-- +goose StatementEnd
COMMENT ON FUNCTION row_changed IS 'Tells the session that it has to sign the row: table, id and sum, the sum and HMAC that the row had before, and the newest record of it. The argument is the primary key.';

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
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM pg_notify(name, TG_ARGV[0] || ':' || (to_jsonb(NEW) ->> TG_ARGV[1])) FROM access_channel;
    RETURN NULL;
END $$;
-- +goose StatementEnd
COMMENT ON FUNCTION access_changed IS 'Notifies the nodes that a credential, or what it depends on, has changed. Arguments: the kind, and the column that has the id.';

GRANT SELECT ON access_channel TO lineproof_serve;
GRANT SELECT, INSERT ON row_signed TO lineproof_serve;

-- +goose Down
DROP FUNCTION access_changed;
DROP TABLE access_channel;
DROP FUNCTION row_changed;
DROP TABLE row_signed;
DROP FUNCTION row_signed_next;
DROP FUNCTION row_summed;
