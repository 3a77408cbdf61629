-- +goose Up
CREATE SEQUENCE journal_epoch;
COMMENT ON SEQUENCE journal_epoch IS 'One number for each start of a node: no two processes ever share an epoch, whatever they are called.';

CREATE TABLE journal_batch (
    node  text        NOT NULL,
    epoch bigint      NOT NULL,
    n     bigint      NOT NULL,
    at    timestamptz NOT NULL,
    count integer     NOT NULL CHECK (count > 0),
    root  bytea       NOT NULL CHECK (octet_length(root) = 32),
    xact  xid8        NOT NULL DEFAULT pg_current_xact_id(),
    PRIMARY KEY (node, epoch, n, at)
) PARTITION BY RANGE (at);
COMMENT ON TABLE journal_batch IS 'One flush of the journal: how many entries, their Merkle root, and the transaction that wrote them. Append-only.';
COMMENT ON COLUMN journal_batch.at IS 'The time of the batch''s first entry. It is fixed before the batch is written, so that a second try would meet the same key.';

CREATE TABLE journal_entry (
    request_id     uuid        NOT NULL,
    at             timestamptz NOT NULL,
    epoch          bigint      NOT NULL,
    n              bigint      NOT NULL,
    idx            integer     NOT NULL,
    entity_id      uuid        NOT NULL,
    key_id         uuid        NOT NULL,
    mode           text        NOT NULL,
    purpose        text        NOT NULL,
    correlator     text        NOT NULL,
    number         bigint      NOT NULL,
    phone_number   text        NOT NULL,
    options        text        NOT NULL,
    status         text        NOT NULL,
    mobile_network text        NOT NULL,
    line_version   bigint      NOT NULL,
    policy_version integer     NOT NULL,
    plan_version   integer     NOT NULL,
    nonce          bytea       NOT NULL CHECK (octet_length(nonce) = 16),
    hash           bytea       NOT NULL CHECK (octet_length(hash) = 32)
) PARTITION BY RANGE (at);
CREATE INDEX journal_entry_at ON journal_entry USING brin (at) WITH (pages_per_range = 32);
COMMENT ON TABLE journal_entry IS 'Every answer that was given, committed before it was given. Append-only; joins nothing.';
COMMENT ON COLUMN journal_entry.at IS 'The reading of the clock that is also the verificationTimestamp and the time inside request_id.';
COMMENT ON COLUMN journal_entry.hash IS 'SHA-256 over the canonical encoding in docs/reference/journal-record.md.';

-- Partitions are made by the owner on behalf of the serving role, which has no
-- right to create tables. A partition is built apart and then attached: that
-- takes a lock which writers do not feel.
-- +goose StatementBegin
CREATE FUNCTION journal_make_partitions(days integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
DECLARE
    today  date := (now() AT TIME ZONE 'UTC')::date;
    parent text;
    child  text;
    made   integer := 0;
BEGIN
    IF days IS NULL OR days < 0 OR days > 366 THEN
        RAISE EXCEPTION 'days must be between 0 and 366';
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('lineproof journal partitions', 0));
    FOREACH parent IN ARRAY ARRAY['journal_batch', 'journal_entry'] LOOP
        FOR day IN -1 .. days LOOP
            child := parent || '_' || to_char(today + day, 'YYYYMMDD');
            IF to_regclass('public.' || child) IS NULL THEN
                EXECUTE format('CREATE TABLE public.%I (LIKE public.%I INCLUDING ALL)', child, parent);
                EXECUTE format('ALTER TABLE public.%I ATTACH PARTITION public.%I FOR VALUES FROM (%L) TO (%L)', parent, child,
                    to_char(today + day, 'YYYY-MM-DD') || ' 00:00:00+00', to_char(today + day + 1, 'YYYY-MM-DD') || ' 00:00:00+00');
                made := made + 1;
            END IF;
        END LOOP;
    END LOOP;
    RETURN made;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION journal_make_partitions IS 'Makes the journal''s daily partitions from yesterday to so many days ahead; returns how many were missing.';
REVOKE EXECUTE ON FUNCTION journal_make_partitions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION journal_make_partitions TO lineproof_serve;

GRANT USAGE ON SEQUENCE journal_epoch TO lineproof_serve;
GRANT SELECT, INSERT ON journal_batch, journal_entry TO lineproof_serve;
GRANT SELECT ON journal_batch, journal_entry TO lineproof_read;

-- +goose Down
DROP FUNCTION journal_make_partitions;
DROP TABLE journal_entry;
DROP TABLE journal_batch;
DROP SEQUENCE journal_epoch;
