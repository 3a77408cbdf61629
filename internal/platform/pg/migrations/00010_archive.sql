-- +goose Up
CREATE TABLE journal_archive (
    manifest    uuid        PRIMARY KEY,
    day         date        NOT NULL,
    sha256      bytea       NOT NULL CHECK (octet_length(sha256) = 32),
    batches     bigint      NOT NULL,
    entries     bigint      NOT NULL,
    logged      bigint      NOT NULL DEFAULT 0 CHECK (logged BETWEEN 0 AND batches),
    bytes       bigint      NOT NULL,
    root        bytea       NOT NULL CHECK (octet_length(root) = 32),
    archived_at timestamptz NOT NULL
);
CREATE INDEX journal_archive_day ON journal_archive (day, archived_at);
COMMENT ON TABLE journal_archive IS 'Days of the journal that were written to files, read back and checked. Only the owner adds rows, and no row changes.';
COMMENT ON COLUMN journal_archive.manifest IS 'The key of the manifest in the archive, which lists the files of the day.';
COMMENT ON COLUMN journal_archive.sha256 IS 'SHA-256 of the manifest, which has those of the files.';
COMMENT ON COLUMN journal_archive.logged IS 'How many of its batches have their index in the public log in the archive.';
COMMENT ON COLUMN journal_archive.bytes IS 'The size of all files, including the manifest.';
COMMENT ON COLUMN journal_archive.root IS 'Merkle root (RFC 6962) over the roots of the batches, in the order of the archive.';

CREATE TABLE journal_archive_run (
    day      date        NOT NULL,
    node     text        NOT NULL,
    epoch    bigint      NOT NULL,
    first    bigint      NOT NULL,
    last     bigint      NOT NULL,
    first_at timestamptz NOT NULL,
    last_at  timestamptz NOT NULL,
    PRIMARY KEY (day, node, epoch, first)
);
COMMENT ON TABLE journal_archive_run IS 'The numbers of the batches of archived days, as runs without a gap. Only the owner adds rows.';
CREATE INDEX journal_archive_run_epoch ON journal_archive_run (epoch);

-- Only the owner calls it. The serving role can neither call it nor write the row
-- in journal_archive that it requires, so a stolen service login cannot remove
-- anything from the journal.
-- +goose StatementBegin
CREATE FUNCTION journal_drop_day(the_day date) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
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
        -- Entries that were written after archiving have a batch of their own.
        EXECUTE format('SELECT count(*), coalesce(sum(count), 0) FROM public.%I', 'journal_batch_' || suffix) INTO batches, entries;
        IF batches <> kept.batches OR entries <> kept.entries THEN
            RAISE EXCEPTION 'the journal of % has % batches with % entries, and % with % are archived', the_day, batches, entries, kept.batches, kept.entries;
        END IF;
    END IF;
    EXECUTE format('DROP TABLE IF EXISTS public.%I, public.%I', 'journal_entry_' || suffix, 'journal_batch_' || suffix);
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION journal_drop_day IS 'Drops the detached partitions of a day, if the archive of that day has everything that is in them.';
REVOKE EXECUTE ON FUNCTION journal_drop_day FROM PUBLIC;

CREATE TABLE journal_checked (
    day        date        PRIMARY KEY,
    checked_at timestamptz NOT NULL,
    batches    bigint      NOT NULL,
    entries    bigint      NOT NULL,
    erased     bigint      NOT NULL,
    root       bytea       NOT NULL CHECK (octet_length(root) = 32),
    findings   bigint      NOT NULL
);
COMMENT ON TABLE journal_checked IS 'The last check of each day that has ended, so that lineproof journal check --new can skip it. A convenience and no evidence: whoever can change the journal can change this, too.';
COMMENT ON COLUMN journal_checked.erased IS 'How many records had no personal part any more.';
COMMENT ON COLUMN journal_checked.root IS 'Merkle root (RFC 6962) over the roots of the batches by time, epoch, number and node, as an archive of the day has it.';

-- A record that a restore has lost can come back by its receipt. The other records of its batch may stay lost, so that it
-- can't be in journal_entry, where batches are whole.
CREATE TABLE journal_returned (
    request_id    uuid        PRIMARY KEY,
    at            timestamptz NOT NULL,
    epoch         bigint      NOT NULL,
    n             bigint      NOT NULL,
    idx           bigint      NOT NULL CHECK (idx >= 0 AND idx < count),
    count         integer     NOT NULL CHECK (count > 0),
    root          bytea       NOT NULL CHECK (octet_length(root) = 32),
    path          bytea       NOT NULL CHECK (octet_length(path) % 32 = 0),
    public        bytea       NOT NULL,
    personal      bytea,
    personal_hash bytea       CHECK (octet_length(personal_hash) = 32),
    reason        text        NOT NULL,
    accepted_at   timestamptz NOT NULL,
    CHECK ((personal IS NULL) <> (personal_hash IS NULL))
);
CREATE INDEX journal_returned_at ON journal_returned (at);
COMMENT ON TABLE journal_returned IS 'Records that a restore of the database had lost, and that came back by their receipts. Only the owner adds rows, and changes them only by an erasure.';
COMMENT ON COLUMN journal_returned.epoch IS 'With n, the key of the batch of the record, which is lost.';
COMMENT ON COLUMN journal_returned.path IS 'The hashes that lead from the record, at idx of count, to the root of its batch, 32 bytes each.';
COMMENT ON COLUMN journal_returned.public IS 'The public part of the record in its canonical encoding, as docs/reference/journal-record.md describes.';
COMMENT ON COLUMN journal_returned.personal IS 'The personal part with the nonce behind it. Of an erased record only personal_hash is left.';

GRANT SELECT, INSERT, UPDATE ON journal_checked TO lineproof_serve;
GRANT SELECT ON journal_archive, journal_archive_run, journal_returned TO lineproof_serve;
GRANT SELECT ON journal_archive, journal_archive_run, journal_checked, journal_returned TO lineproof_read;

-- +goose Down
DROP TABLE journal_returned;
DROP TABLE journal_checked;
DROP FUNCTION journal_drop_day;
DROP TABLE journal_archive_run;
DROP TABLE journal_archive;
