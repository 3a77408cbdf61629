-- +goose Up
-- What decides an answer besides the answers themselves is in the public log, too. Each source says in the view
-- log_source which entries the log must have about it; a trigger puts the body of an entry into log_pending in the
-- transaction of the thing itself, and the next addition to the log takes it from there.
CREATE TABLE log_pending (
    id   bigint   PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    kind smallint NOT NULL CHECK (kind BETWEEN 2 AND 255),
    body bytea    NOT NULL,
    xact xid8     NOT NULL DEFAULT pg_current_xact_id()
);
COMMENT ON TABLE log_pending IS 'Entries that the public log does not have yet, other than those about batches. Only triggers write it; a row is deleted in the transaction that adds the entry.';
COMMENT ON COLUMN log_pending.body IS 'The bytes of the entry after its time, as docs/reference/public-log.md describes. The time is that of the addition.';

CREATE TABLE log_key (
    id    bigint      PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    role  text        NOT NULL CHECK (role IN ('log', 'next', 'post-quantum', 'promise', 'witnesses')),
    value text        NOT NULL CHECK (octet_length(value) BETWEEN 1 AND 4096),
    at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE log_key IS 'The public keys with which the log signs, and the hashes of its policies of witnesses, each from its time on until the next one of its role. Append-only.';
COMMENT ON COLUMN log_key.value IS 'Of a key, its verifier: name, id and public key. Of a policy of witnesses, SHA-256 of the file in hexadecimal digits.';

-- +goose StatementBegin
CREATE FUNCTION log_time(t timestamptz) RETURNS bytea LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
RETURN int8send(floor(extract(epoch FROM t) * 1000)::bigint);
-- +goose StatementEnd
COMMENT ON FUNCTION log_time IS 'A time in an entry of the public log: milliseconds since 1970, 8 bytes.';

-- +goose StatementBegin
CREATE FUNCTION log_field(b bytea) RETURNS bytea LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
RETURN int4send(octet_length(b)) || b;
-- +goose StatementEnd
COMMENT ON FUNCTION log_field IS 'A field of an entry of the public log: its length in 4 bytes, and the field.';

-- +goose StatementBegin
CREATE FUNCTION log_supply(i supply_import) RETURNS bytea LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp
RETURN 'lineproof supply 1'::bytea || '\x0a'::bytea || log_field(i.log_nonce) || log_field(uuid_send(i.uid)) || log_field(int8send(i.supplier))
    || log_field(convert_to(i.supplier_name, 'UTF8')) || log_field(convert_to(i.kind, 'UTF8'))
    || log_field(log_time(coalesce(i.as_of, 'epoch'))) || log_field(int8send(i.rows)) || log_field(int8send(i.refused)) || log_field(i.file_digest);
-- +goose StatementEnd
COMMENT ON FUNCTION log_supply IS 'What the entry of the public log about a file commits to, and what the receipt of its supplier has; null before the file is applied.';

-- +goose StatementBegin
CREATE FUNCTION log_lines(of jsonb) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC'
RETURN (SELECT string_agg(key || '=' || value::text || E'\n', '' ORDER BY key COLLATE "C") FROM jsonb_each(of));
-- +goose StatementEnd
COMMENT ON FUNCTION log_lines IS 'An object as lines of text: name, equals sign and value in JSON, sorted by name.';

-- +goose StatementBegin
CREATE FUNCTION log_policy_text(p policy) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp SET timezone = 'UTC'
RETURN log_lines(to_jsonb(p));
-- +goose StatementEnd
COMMENT ON FUNCTION log_policy_text IS 'The text of a version of the policy, whose SHA-256 is in the public log.';

-- +goose StatementBegin
CREATE FUNCTION log_plan_text(p numbering_plan) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp SET timezone = 'UTC'
RETURN log_lines(to_jsonb(p))
    || coalesce((SELECT string_agg('network=' || jsonb_build_array(n.network, n.name)::text || E'\n', '' ORDER BY n.network)
        FROM numbering_network n WHERE n.version = p.version), '')
    || coalesce((SELECT string_agg('range=' || jsonb_build_array(r.prefix, r.network, r.allocated, r.withdrawn)::text || E'\n', '' ORDER BY r.prefix COLLATE "C", r.allocated)
        FROM numbering_range r WHERE r.version = p.version), '');
-- +goose StatementEnd
COMMENT ON FUNCTION log_plan_text IS 'The text of a version of the numbering plan, whose SHA-256 is in the public log.';

CREATE VIEW log_source (kind, key, body) AS
    SELECT 2::smallint, 'import ' || i.id, sha256(log_supply(i))
    FROM supply_import i WHERE i.state IN ('applied', 'voiding', 'voided') AND NOT i.dry_run
UNION ALL
    SELECT 3::smallint, 'policy ' || p.version, log_field('policy') || int4send(p.version) || sha256(convert_to(log_policy_text(p), 'UTF8')) FROM policy p
UNION ALL
    SELECT 3::smallint, 'plan ' || p.version, log_field('plan') || int4send(p.version) || sha256(convert_to(log_plan_text(p), 'UTF8')) FROM numbering_plan p
UNION ALL
    SELECT 4::smallint, 'audit ' || (to_jsonb(h.hour) #>> '{}'), log_time(h.hour) || int8send(h.entries) || h.hash FROM audit_hour h
UNION ALL
    SELECT 5::smallint, 'key ' || k.id, log_field(convert_to(k.role, 'UTF8')) || log_field(convert_to(k.value, 'UTF8')) FROM log_key k
UNION ALL
    SELECT 6::smallint, 'archive ' || a.manifest, log_time(a.day::timestamp AT TIME ZONE 'UTC') || int8send(a.entries) || a.root || a.sha256 FROM journal_archive a
UNION ALL
    -- Every month of the log that has been over for a day, also one in which nothing was erased.
    SELECT 8::smallint, 'month ' || to_char(m, 'YYYY-MM'), log_time(m AT TIME ZONE 'UTC') || int8send(r.records) || int8send(d.days)
        || sha256('lineproof erasures 1'::bytea || '\x0a'::bytea || r.hashes || d.list)
    FROM log_head h
    CROSS JOIN LATERAL generate_series(date_trunc('month', h.began AT TIME ZONE 'UTC'), (now() AT TIME ZONE 'UTC') - interval '1 month 1 day', interval '1 month') m
    CROSS JOIN LATERAL (SELECT count(*) AS records, coalesce(string_agg(j.hash, ''::bytea ORDER BY j.hash), ''::bytea) AS hashes
        FROM erasure e JOIN journal_erased j ON j.erasure = e.id
        WHERE e.marked_at >= m AT TIME ZONE 'UTC' AND e.marked_at < (m + interval '1 month') AT TIME ZONE 'UTC') r
    CROSS JOIN LATERAL (SELECT count(*) AS days, coalesce(string_agg(log_time(j.day::timestamp AT TIME ZONE 'UTC'), ''::bytea ORDER BY j.day), ''::bytea) AS list
        FROM erasure e JOIN journal_erased_day j ON j.erasure = e.id
        WHERE e.marked_at >= m AT TIME ZONE 'UTC' AND e.marked_at < (m + interval '1 month') AT TIME ZONE 'UTC') d;
COMMENT ON VIEW log_source IS 'The entries, other than those about batches, that the public log must have about what is in the database. Kind 2 is an import, 3 a version of the policy or the plan, 4 an hour of the audit trail, 5 a key of the log, 6 an archived day, 8 the erasures of a month.';

-- The serving role can't write log_pending itself: what a trigger puts there, it can't invent.
-- +goose StatementBegin
CREATE FUNCTION log_note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO log_pending (kind, body)
    SELECT s.kind, s.body FROM log_source s, log_head WHERE s.kind = TG_ARGV[0]::smallint AND s.key = TG_ARGV[1] || ' ' || (to_jsonb(NEW) ->> TG_ARGV[2]);
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION log_note IS 'Adds the entry of log_source about a new row to log_pending, if the public log is on.';
REVOKE EXECUTE ON FUNCTION log_note FROM PUBLIC;

-- +goose StatementBegin
CREATE FUNCTION log_note_all() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO log_pending (kind, body) SELECT s.kind, s.body FROM log_source s ORDER BY s.kind, s.body;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION log_note_all IS 'Adds all entries of log_source to log_pending, when the public log is turned on.';
REVOKE EXECUTE ON FUNCTION log_note_all FROM PUBLIC;

-- +goose StatementBegin
CREATE FUNCTION log_note_months() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
BEGIN ATOMIC
    WITH added AS (
        INSERT INTO log_pending (kind, body)
        SELECT s.kind, s.body FROM log_source s WHERE s.kind = 8
            AND NOT EXISTS (SELECT FROM log_entry l WHERE l.kind = 8 AND substring(l.entry FROM 32 FOR 8) = substring(s.body FOR 8))
            AND NOT EXISTS (SELECT FROM log_pending p WHERE p.kind = 8 AND substring(p.body FOR 8) = substring(s.body FOR 8))
        ORDER BY s.key RETURNING 1)
    SELECT count(*) FROM added;
END;
-- +goose StatementEnd
COMMENT ON FUNCTION log_note_months IS 'Adds the erasures of the months that are over to log_pending, unless the public log has an entry about the month. Called with log_head locked.';
REVOKE EXECUTE ON FUNCTION log_note_months FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log_note_months TO lineproof_serve;

CREATE TRIGGER log_note_import AFTER UPDATE OF state ON supply_import FOR EACH ROW
    WHEN (NEW.state = 'applied' AND OLD.state <> 'applied') EXECUTE FUNCTION log_note('2', 'import', 'id');
CREATE TRIGGER log_note_policy AFTER INSERT ON policy FOR EACH ROW EXECUTE FUNCTION log_note('3', 'policy', 'version');
-- Its networks and ranges are written after it, in the same transaction.
CREATE CONSTRAINT TRIGGER log_note_plan AFTER INSERT ON numbering_plan DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION log_note('3', 'plan', 'version');
CREATE TRIGGER log_note_audit AFTER INSERT ON audit_hour FOR EACH ROW EXECUTE FUNCTION log_note('4', 'audit', 'hour');
CREATE TRIGGER log_note_key AFTER INSERT ON log_key FOR EACH ROW EXECUTE FUNCTION log_note('5', 'key', 'id');
CREATE TRIGGER log_note_archive AFTER INSERT ON journal_archive FOR EACH ROW EXECUTE FUNCTION log_note('6', 'archive', 'manifest');
CREATE TRIGGER log_note_begin AFTER INSERT ON log_head FOR EACH ROW EXECUTE FUNCTION log_note_all();

GRANT SELECT, DELETE ON log_pending TO lineproof_serve;
GRANT SELECT, INSERT ON log_key TO lineproof_serve;
GRANT SELECT ON log_source TO lineproof_serve;
GRANT SELECT ON log_pending, log_key, log_source TO lineproof_read;

-- +goose Down
DROP TRIGGER log_note_begin ON log_head;
DROP TRIGGER log_note_archive ON journal_archive;
DROP TRIGGER log_note_audit ON audit_hour;
DROP TRIGGER log_note_plan ON numbering_plan;
DROP TRIGGER log_note_policy ON policy;
DROP TRIGGER log_note_import ON supply_import;
DROP FUNCTION log_note_months;
DROP FUNCTION log_note_all;
DROP VIEW log_source;
DROP FUNCTION log_plan_text;
DROP FUNCTION log_policy_text;
DROP FUNCTION log_lines;
DROP FUNCTION log_supply;
DROP FUNCTION log_field;
DROP FUNCTION log_time;
DROP TABLE log_key;
DROP FUNCTION log_note;
DROP TABLE log_pending;
