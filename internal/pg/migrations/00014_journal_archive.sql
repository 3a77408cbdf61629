-- +goose Up
CREATE TABLE journal_archive (
    manifest    uuid        PRIMARY KEY,
    day         date        NOT NULL,
    sha256      bytea       NOT NULL CHECK (octet_length(sha256) = 32),
    batches     bigint      NOT NULL,
    entries     bigint      NOT NULL,
    bytes       bigint      NOT NULL,
    root        bytea       NOT NULL CHECK (octet_length(root) = 32),
    archived_at timestamptz NOT NULL
);
CREATE INDEX journal_archive_day ON journal_archive (day, archived_at);
COMMENT ON TABLE journal_archive IS 'Days of the journal that were written to files, read back and checked. Only the owner adds to it; nobody changes it.';
COMMENT ON COLUMN journal_archive.manifest IS 'The key of the manifest in the archive, which lists the files of the day.';
COMMENT ON COLUMN journal_archive.sha256 IS 'Of the manifest, which has those of the files.';
COMMENT ON COLUMN journal_archive.bytes IS 'Of all files together, the manifest included.';
COMMENT ON COLUMN journal_archive.root IS 'Merkle root (RFC 6962) over the roots of the batches, in the order of the archive.';

CREATE TABLE journal_epoch_skip (
    id         uuid        PRIMARY KEY,
    at         timestamptz NOT NULL,
    last_epoch bigint      NOT NULL,
    next_epoch bigint      NOT NULL,
    reason     text        NOT NULL
);
COMMENT ON TABLE journal_epoch_skip IS 'When and why the counter of epochs was moved ahead: after the database was set back to an earlier moment, so that no epoch is used twice.';

-- Called by the owner. The serving role can neither call it nor write what it
-- asks for: whoever takes the service over can take nothing out of the journal.
-- +goose StatementBegin
CREATE FUNCTION journal_drop_day(the_day date) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
DECLARE
    suffix  text := to_char(the_day, 'YYYYMMDD');
    kept    public.journal_archive;
    batches bigint;
    entries bigint;
BEGIN
    SELECT * INTO kept FROM public.journal_archive a WHERE a.day = the_day ORDER BY a.archived_at DESC LIMIT 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the journal of % was never archived', the_day;
    END IF;
    IF EXISTS (SELECT FROM pg_inherits WHERE inhrelid IN (to_regclass('public.journal_entry_' || suffix), to_regclass('public.journal_batch_' || suffix))) THEN
        RAISE EXCEPTION 'the partitions of % are not detached yet', the_day;
    END IF;
    IF to_regclass('public.journal_batch_' || suffix) IS NOT NULL THEN
        -- Whatever was written after the archive was made came with a batch.
        EXECUTE format('SELECT count(*), coalesce(sum(count), 0) FROM public.%I', 'journal_batch_' || suffix) INTO batches, entries;
        IF batches <> kept.batches OR entries <> kept.entries THEN
            RAISE EXCEPTION 'the journal of % has % batches with % entries, and % with % are archived', the_day, batches, entries, kept.batches, kept.entries;
        END IF;
    END IF;
    EXECUTE format('DROP TABLE IF EXISTS public.%I, public.%I', 'journal_entry_' || suffix, 'journal_batch_' || suffix);
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION journal_drop_day IS 'Drops the detached partitions of a day, if the archive of that day holds everything that is in them.';
REVOKE EXECUTE ON FUNCTION journal_drop_day FROM PUBLIC;

GRANT SELECT ON journal_archive, journal_epoch_skip TO lineproof_serve, lineproof_read;

-- +goose Down
DROP FUNCTION journal_drop_day;
DROP TABLE journal_epoch_skip;
DROP TABLE journal_archive;
