-- +goose Up
CREATE TABLE feed_head (
    entity_id uuid    NOT NULL REFERENCES entity,
    mode      text    NOT NULL CHECK (mode IN ('live', 'test')),
    epoch     integer NOT NULL DEFAULT 1 CHECK (epoch > 0),
    seq       bigint  NOT NULL DEFAULT 0 CHECK (seq >= 0),
    hash      bytea   NOT NULL DEFAULT decode(repeat('00', 32), 'hex') CHECK (octet_length(hash) = 32),
    PRIMARY KEY (entity_id, mode)
) WITH (fillfactor = 50);
COMMENT ON TABLE feed_head IS 'The end of each feed: what an entity is told, in one order. Who adds entries locks the row.';
COMMENT ON COLUMN feed_head.epoch IS 'Raised after a restore from a backup, so that no id is given twice.';
COMMENT ON COLUMN feed_head.seq IS 'Of the last entry; 0 before the first.';
COMMENT ON COLUMN feed_head.hash IS 'Of the last entry; zeros before the first.';

CREATE TABLE feed_entry (
    entity_id uuid        NOT NULL,
    mode      text        NOT NULL,
    seq       bigint      NOT NULL CHECK (seq > 0),
    at        timestamptz NOT NULL,
    number    bigint,
    epoch     integer     NOT NULL,
    type      text        NOT NULL,
    body      bytea,
    digest    bytea       CHECK (octet_length(digest) = 32),
    hash      bytea       NOT NULL CHECK (octet_length(hash) = 32),
    PRIMARY KEY (entity_id, mode, seq, at),
    CHECK ((body IS NULL) = (digest IS NOT NULL))
) PARTITION BY RANGE (at);
COMMENT ON TABLE feed_entry IS 'The entries of the feeds, without gaps. Append-only for the service; only the owner erases a body.';
COMMENT ON COLUMN feed_entry.number IS 'The number that the entry is about, so that it can be erased; null if it is about none.';
COMMENT ON COLUMN feed_entry.type IS 'The type of the event, without org.lineproof.';
COMMENT ON COLUMN feed_entry.body IS 'The event as canonical JSON (RFC 8785), without the member lpchain. Null if it was erased.';
COMMENT ON COLUMN feed_entry.digest IS 'SHA-256 of an erased body, so that the chain can still be checked. The body had a salt: the digest does not betray it.';
COMMENT ON COLUMN feed_entry.hash IS 'SHA-256(hash of the entry before || SHA-256(body)).';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION journal_make_day(the_day date) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
DECLARE
    parent text;
    child  text;
    made   integer := 0;
BEGIN
    FOREACH parent IN ARRAY ARRAY['journal_batch', 'journal_entry', 'log_entry', 'feed_entry'] LOOP
        child := parent || '_' || to_char(the_day, 'YYYYMMDD');
        IF to_regclass('public.' || child) IS NULL THEN
            EXECUTE format('CREATE TABLE public.%I (LIKE public.%I INCLUDING ALL)', child, parent);
            -- The planner's statistics would have samples of what may have to be erased.
            IF parent = 'journal_entry' THEN
                EXECUTE format('ALTER TABLE public.%I ALTER number SET STATISTICS 0, ALTER phone_number SET STATISTICS 0, ALTER correlator SET STATISTICS 0,'
                    || ' ALTER external_id SET STATISTICS 0, ALTER on_behalf_of SET STATISTICS 0, ALTER options SET STATISTICS 0, ALTER extra SET STATISTICS 0', child);
            ELSIF parent = 'feed_entry' THEN
                EXECUTE format('ALTER TABLE public.%I ALTER number SET STATISTICS 0, ALTER body SET STATISTICS 0', child);
            END IF;
            EXECUTE format('ALTER TABLE public.%I ATTACH PARTITION public.%I FOR VALUES FROM (%L) TO (%L)', parent, child,
                to_char(the_day, 'YYYY-MM-DD') || ' 00:00:00+00', to_char(the_day + 1, 'YYYY-MM-DD') || ' 00:00:00+00');
            made := made + 1;
        END IF;
    END LOOP;
    RETURN made;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION journal_make_day IS 'Creates the partitions of a day, of the journal, of the public log and of the feeds; returns how many were missing.';

GRANT SELECT, INSERT ON feed_head, feed_entry TO lineproof_serve;
GRANT UPDATE (seq, hash) ON feed_head TO lineproof_serve;

-- +goose Down
DROP TABLE feed_entry;
DROP TABLE feed_head;
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION journal_make_day(the_day date) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
DECLARE
    parent text;
    child  text;
    made   integer := 0;
BEGIN
    FOREACH parent IN ARRAY ARRAY['journal_batch', 'journal_entry', 'log_entry'] LOOP
        child := parent || '_' || to_char(the_day, 'YYYYMMDD');
        IF to_regclass('public.' || child) IS NULL THEN
            EXECUTE format('CREATE TABLE public.%I (LIKE public.%I INCLUDING ALL)', child, parent);
            IF parent = 'journal_entry' THEN
                -- The planner's statistics would have samples of what may have to be erased.
                EXECUTE format('ALTER TABLE public.%I ALTER number SET STATISTICS 0, ALTER phone_number SET STATISTICS 0, ALTER correlator SET STATISTICS 0,'
                    || ' ALTER external_id SET STATISTICS 0, ALTER on_behalf_of SET STATISTICS 0, ALTER options SET STATISTICS 0, ALTER extra SET STATISTICS 0', child);
            END IF;
            EXECUTE format('ALTER TABLE public.%I ATTACH PARTITION public.%I FOR VALUES FROM (%L) TO (%L)', parent, child,
                to_char(the_day, 'YYYY-MM-DD') || ' 00:00:00+00', to_char(the_day + 1, 'YYYY-MM-DD') || ' 00:00:00+00');
            made := made + 1;
        END IF;
    END LOOP;
    RETURN made;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION journal_make_day IS 'Creates the partitions of a day, of the journal and of the public log; returns how many were missing.';
