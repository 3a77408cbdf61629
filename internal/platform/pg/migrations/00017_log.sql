-- +goose Up
-- The public log. Its order is in these tables and nowhere else; what is published is derived from them.
CREATE TABLE log_entry (
    idx   bigint      NOT NULL CHECK (idx >= 0),
    at    timestamptz NOT NULL,
    kind  smallint    NOT NULL CHECK (kind BETWEEN 1 AND 255),
    epoch bigint,
    n     bigint,
    entry bytea       NOT NULL,
    lost  boolean     NOT NULL DEFAULT false,
    PRIMARY KEY (idx, at),
    UNIQUE (epoch, n, at),
    CHECK ((kind = 1) = (epoch IS NOT NULL AND n IS NOT NULL))
) PARTITION BY RANGE (at);
CREATE INDEX log_entry_other ON log_entry (kind) WHERE kind <> 1;
-- Finds the entry of the receipt of a file.
CREATE INDEX log_entry_supply ON log_entry (substring(entry FROM 32)) WHERE kind = 2;
COMMENT ON TABLE log_entry IS 'The entries of the public log, each with its index for ever. Append-only.';
COMMENT ON COLUMN log_entry.at IS 'The time in the entry. For a batch of the journal it is the time of the batch.';
COMMENT ON COLUMN log_entry.epoch IS 'With n, the key of the batch in the journal that the entry is about.';
COMMENT ON COLUMN log_entry.entry IS 'The bytes that are published, as docs/reference/public-log.md describes.';
COMMENT ON COLUMN log_entry.lost IS 'The database was restored to a moment before it: the entry was read back from what is published, and what it is about is gone.';

CREATE TABLE log_head (
    one    boolean     PRIMARY KEY DEFAULT true CHECK (one),
    origin text        NOT NULL,
    began  timestamptz NOT NULL,
    size   bigint      NOT NULL CHECK (size >= 0),
    edge   bytea       NOT NULL,
    root   bytea       NOT NULL CHECK (octet_length(root) = 32),
    seen   pg_snapshot NOT NULL,
    since  timestamptz NOT NULL,
    system bigint      NOT NULL
);
COMMENT ON TABLE log_head IS 'The end of the public log, in one row. Who adds entries locks it.';
COMMENT ON COLUMN log_head.began IS 'When the log was turned on. Batches from before are not in it.';
COMMENT ON COLUMN log_head.edge IS 'The roots of the complete subtrees, from left to right: what is needed to add the next entry.';
COMMENT ON COLUMN log_head.seen IS 'The snapshot in which batches were last read. The next are those that it does not see.';
COMMENT ON COLUMN log_head.since IS 'When batches were last added.';
COMMENT ON COLUMN log_head.system IS 'The system identifier of the database cluster to whose transactions seen belongs.';

CREATE TABLE log_checkpoint (
    size bigint      PRIMARY KEY CHECK (size > 0),
    root bytea       NOT NULL CHECK (octet_length(root) = 32),
    at   timestamptz NOT NULL
);
COMMENT ON TABLE log_checkpoint IS 'The sizes of the public log with their roots. Only these may be signed.';

CREATE TABLE log_published (
    one       boolean     PRIMARY KEY DEFAULT true CHECK (one),
    written   bigint      NOT NULL CHECK (written >= published),
    published bigint      NOT NULL CHECK (published >= 0),
    note      text        NOT NULL,
    at        timestamptz NOT NULL
);
COMMENT ON TABLE log_published IS 'How much of the public log is published, in one row.';
COMMENT ON COLUMN log_published.written IS 'Up to which size the tiles are durable.';
COMMENT ON COLUMN log_published.published IS 'The size of the newest signed checkpoint. No smaller one is signed any more.';
COMMENT ON COLUMN log_published.note IS 'That checkpoint, with its signatures.';

-- The archive of a day has the index in the public log of each of its batches, so that the entries about them need not
-- stay in the database. Only the owner calls it, as journal_drop_day. The lock keeps additions to the log out for a
-- moment, and no answer waits for it.
-- +goose StatementBegin
CREATE FUNCTION log_drop_day(the_day date) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
    child  text := 'log_entry_' || to_char(the_day, 'YYYYMMDD');
    old    text := child || '_old';
    kept   public.journal_archive;
    there  bigint;
    newest bigint;
BEGIN
    SELECT * INTO kept FROM public.journal_archive a WHERE a.day = the_day ORDER BY a.archived_at DESC LIMIT 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the journal of % was never archived', the_day;
    END IF;
    IF EXISTS (SELECT FROM public.journal_batch b WHERE b.at >= the_day::timestamp AT TIME ZONE 'UTC' AND b.at < (the_day + 1)::timestamp AT TIME ZONE 'UTC') THEN
        RAISE EXCEPTION 'the journal of % is still in the database', the_day;
    END IF;
    EXECUTE format('SELECT count(*), max(idx) FROM public.%I WHERE kind = 1 AND NOT lost', child) INTO there, newest;
    IF there = 0 THEN
        RETURN 0;
    END IF;
    IF there <> kept.logged THEN
        RAISE EXCEPTION 'the public log has % batches of %, and the archive has the indexes of %', there, the_day, kept.logged;
    END IF;
    IF NOT EXISTS (SELECT FROM public.log_published p WHERE p.published > newest) THEN
        RETURN 0;
    END IF;
    EXECUTE format('ALTER TABLE public.log_entry DETACH PARTITION public.%I', child);
    EXECUTE format('ALTER TABLE public.%I RENAME TO %I', child, old);
    EXECUTE format('CREATE TABLE public.%I (LIKE public.log_entry INCLUDING ALL)', child);
    EXECUTE format('INSERT INTO public.%I SELECT * FROM public.%I WHERE kind <> 1 OR lost', child, old);
    EXECUTE format('ALTER TABLE public.log_entry ATTACH PARTITION public.%I FOR VALUES FROM (%L) TO (%L)', child,
        to_char(the_day, 'YYYY-MM-DD') || ' 00:00:00+00', to_char(the_day + 1, 'YYYY-MM-DD') || ' 00:00:00+00');
    EXECUTE format('DROP TABLE public.%I', old);
    RETURN there;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION log_drop_day IS 'Drops the entries about the batches of a day from the database, if its archive has their indexes and they are published; returns how many. Entries about other things, and about batches that were lost, stay.';
REVOKE EXECUTE ON FUNCTION log_drop_day FROM PUBLIC;

GRANT SELECT, INSERT ON log_published TO lineproof_serve;
GRANT UPDATE (written, published, note, at) ON log_published TO lineproof_serve;
GRANT SELECT, INSERT ON log_entry, log_checkpoint TO lineproof_serve;
GRANT SELECT, INSERT ON log_head TO lineproof_serve;
GRANT UPDATE (size, edge, root, seen, since, system) ON log_head TO lineproof_serve;
GRANT SELECT ON log_entry, log_head, log_checkpoint, log_published TO lineproof_read;

-- +goose Down
DROP FUNCTION log_drop_day;
DROP TABLE log_published;
DROP TABLE log_checkpoint;
DROP TABLE log_head;
DROP TABLE log_entry;
