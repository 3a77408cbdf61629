-- +goose Up
-- The entry of the public log about a file commits to what the supplier's receipt says in words: who supplied which file,
-- of which kind, how many rows it had and how many were refused. Before, it committed to the number of the supplier alone.
ALTER TABLE supply_import ADD COLUMN supplier_name text CHECK (octet_length(supplier_name) BETWEEN 1 AND 255);
COMMENT ON COLUMN supply_import.supplier_name IS 'The code of the network when the file was applied, to which the entry of the public log commits; null before that, and for files that were applied by a version before receipts of files.';

-- +goose StatementBegin
CREATE FUNCTION log_supply(i supply_import) RETURNS bytea LANGUAGE sql STABLE SET search_path = pg_catalog, public
RETURN 'lineproof supply 2'::bytea || '\x0a'::bytea || log_field(i.log_nonce) || log_field(uuid_send(i.uid)) || log_field(int8send(i.supplier))
    || log_field(convert_to(i.supplier_name, 'UTF8')) || log_field(convert_to(i.kind, 'UTF8')) || log_field(log_time(coalesce(i.as_of, 'epoch'))) || log_field(int8send(i.rows)) || log_field(int8send(i.refused)) || log_field(i.file_digest);
-- +goose StatementEnd
COMMENT ON FUNCTION log_supply IS 'What the entry of the public log about a file commits to, and what the receipt of its supplier has; null if the file has no receipt.';

CREATE OR REPLACE VIEW log_source (kind, key, body) AS
    SELECT 2::smallint, 'import ' || i.id,
        sha256(coalesce(log_supply(i), 'lineproof supply 1'::bytea || '\x0a'::bytea || i.log_nonce || uuid_send(i.uid) || int4send(i.supplier) || int8send(i.rows) || log_field(i.file_digest)))
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

-- Finds the entry of a receipt.
CREATE INDEX log_entry_supply ON log_entry (substring(entry FROM 32)) WHERE kind = 2;

-- +goose Down
DROP INDEX log_entry_supply;
CREATE OR REPLACE VIEW log_source (kind, key, body) AS
    SELECT 2::smallint, 'import ' || i.id,
        sha256('lineproof supply 1'::bytea || '\x0a'::bytea || i.log_nonce || uuid_send(i.uid) || int4send(i.supplier) || int8send(i.rows) || log_field(i.file_digest))
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
DROP FUNCTION log_supply;
ALTER TABLE supply_import DROP COLUMN supplier_name;
