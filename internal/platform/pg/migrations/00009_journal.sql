-- +goose Up
CREATE SEQUENCE journal_epoch;
COMMENT ON SEQUENCE journal_epoch IS 'The epochs of the journal. Each belongs to one process, so that no two write the same key, whatever their node names.';

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
-- A day is read in slices of time. A BRIN index costs a writer almost nothing.
CREATE INDEX journal_batch_at ON journal_batch USING brin (at) WITH (pages_per_range = 8);
-- The public log finds with it the batches that were committed since it last looked.
CREATE INDEX journal_batch_xact ON journal_batch (xact);
COMMENT ON TABLE journal_batch IS 'One flush of the journal: the number of its entries, their Merkle root, and the transaction that wrote them. Append-only.';
COMMENT ON COLUMN journal_batch.at IS 'The time of all its entries. It is fixed before the batch is written, so that a retry conflicts with the same key.';

-- A stolen service login must not be able to date a record back. The condition of the trigger is
-- all that a batch of the service costs; the function is called only for other times. The time of a
-- transaction would not do: it could have begun long ago.
-- +goose StatementBegin
CREATE FUNCTION journal_batch_refuse_time() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF pg_has_role(current_user, 'lineproof_owner', 'MEMBER') THEN
        RETURN NEW;
    END IF;
    -- A late retry of a batch that is there conflicts with its key and writes nothing.
    IF EXISTS (SELECT FROM journal_batch b WHERE b.node = NEW.node AND b.epoch = NEW.epoch AND b.n = NEW.n AND b.at = NEW.at) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'the time of the batch is more than a minute from the clock of the database'
        USING ERRCODE = 'check_violation', CONSTRAINT = 'journal_batch_time', HINT = 'Only the owner can write records of another time.';
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION journal_batch_refuse_time IS 'Refuses a batch of another time to everybody but the owner, unless it is there already.';
CREATE TRIGGER journal_batch_time BEFORE INSERT ON journal_batch FOR EACH ROW
    WHEN (NEW.at NOT BETWEEN clock_timestamp() - interval '1 minute' AND clock_timestamp() + interval '1 minute')
    EXECUTE FUNCTION journal_batch_refuse_time();

-- Columns of fixed length are first: between texts they would need padding.
CREATE TABLE journal_entry (
    at             timestamptz NOT NULL,
    epoch          bigint      NOT NULL,
    n              bigint      NOT NULL,
    number         bigint      NOT NULL,
    line_version   bigint      NOT NULL,
    idx            integer     NOT NULL,
    policy_version integer     NOT NULL,
    plan_version   integer     NOT NULL,
    rules          integer     NOT NULL,
    request_id     uuid        NOT NULL,
    entity_id      uuid        NOT NULL,
    key_id         uuid        NOT NULL,
    type           text        NOT NULL,
    mode           text        NOT NULL,
    purpose        text        NOT NULL,
    purpose_text   text        NOT NULL,
    status         text        NOT NULL,
    reason         text        NOT NULL,
    mobile_network text        NOT NULL,
    coverage       bytea       NOT NULL CHECK (octet_length(coverage) = 39),
    phone_number   text        NOT NULL,
    correlator     text        NOT NULL,
    external_id    text        NOT NULL,
    on_behalf_of   text        NOT NULL,
    options        text        NOT NULL,
    extra          text        NOT NULL,
    nonce          bytea       NOT NULL CHECK (octet_length(nonce) IN (16, 32)),
    hash           bytea       NOT NULL CHECK (octet_length(hash) = 32)
) PARTITION BY RANGE (at);
CREATE INDEX journal_entry_at ON journal_entry USING brin (at) WITH (pages_per_range = 32);
-- A Bloom filter of the numbers for every 32 pages. It is small, and journal_summarize
-- makes the filters after the records were written. The time is in it, too, because the
-- planner trusts a BRIN index only where the order of a column is that of the rows.
CREATE INDEX journal_entry_number ON journal_entry USING brin (number int8_bloom_ops (n_distinct_per_range = 1000), at) WITH (pages_per_range = 32);
COMMENT ON TABLE journal_entry IS 'Every answer of the service, committed before it was sent. Append-only; joins nothing.';
COMMENT ON COLUMN journal_entry.at IS 'The verificationTimestamp of the answer, which is also the time inside request_id.';
COMMENT ON COLUMN journal_entry.coverage IS 'The coverage of the supply that decided the answer, by topic.';
COMMENT ON COLUMN journal_entry.nonce IS '16 random bytes. An erased record, whose personal columns are empty, has the hash of the personal part and the nonce here, 32 bytes.';
COMMENT ON COLUMN journal_entry.hash IS 'SHA-256 of the public part and of the hash of the personal part, as docs/reference/journal-record.md describes.';
COMMENT ON INDEX journal_entry_number IS 'Finds the answers about a few numbers, for the impact of a correction.';
COMMENT ON COLUMN journal_entry.extra IS 'The members of the answer besides its five fields, byte for byte as sent; empty if the request included nothing more.';

CREATE TABLE journal_fence (
    node text        PRIMARY KEY,
    at   timestamptz NOT NULL
);
COMMENT ON TABLE journal_fence IS 'One row for each node that had a batch of unknown outcome and found it written. The node then updates its row: that commit is later in the log, so when it is confirmed, the batch is durable, too.';

CREATE TABLE journal_epoch_start (
    epoch      bigint      PRIMARY KEY,
    node       text        NOT NULL,
    flushes    integer     NOT NULL CHECK (flushes BETWEEN 1 AND 64),
    started_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE journal_epoch_start IS 'The epochs under which processes write batches, numbered from 1 without a gap. A process uses one for at most an hour. Append-only.';
COMMENT ON COLUMN journal_epoch_start.flushes IS 'How many batches the process writes at the same time, and so how many numbers can remain unused when it is killed.';

CREATE TABLE journal_epoch_end (
    epoch     bigint      NOT NULL,
    by_writer boolean     NOT NULL,
    last      bigint      NOT NULL,
    unused    bigint[]    NOT NULL,
    unknown   bigint[]    NOT NULL,
    at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (epoch, by_writer)
);
COMMENT ON TABLE journal_epoch_end IS 'The ends of epochs. A number up to the last that is not listed has a batch; if it has none, the batch was removed. Append-only.';
COMMENT ON COLUMN journal_epoch_end.unknown IS 'Numbers of which the process does not know whether they have a batch. Another process then adds an end, by what it found.';
COMMENT ON COLUMN journal_epoch_end.by_writer IS 'Whether the process of the epoch wrote this, which knows it for certain, or another one, by the batches that it found.';

CREATE TABLE journal_epoch_skip (
    id         uuid        PRIMARY KEY,
    at         timestamptz NOT NULL,
    last_epoch bigint      NOT NULL,
    next_epoch bigint      NOT NULL,
    reason     text        NOT NULL
);
COMMENT ON TABLE journal_epoch_skip IS 'When and why the counter of epochs was moved ahead: after a restore to an earlier moment, so that no epoch is used twice.';

-- A partition is created apart and then attached, because the lock that this takes does
-- not block writers. The public log and the feeds have the same days; later migrations make
-- their tables.
-- +goose StatementBegin
CREATE FUNCTION journal_make_day(the_day date) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
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
REVOKE EXECUTE ON FUNCTION journal_make_day FROM PUBLIC;

-- The owner creates the partitions on behalf of the serving role, which may not
-- create tables.
-- +goose StatementBegin
CREATE FUNCTION journal_make_partitions(days integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    today date := (now() AT TIME ZONE 'UTC')::date;
    made  integer := 0;
BEGIN
    IF days IS NULL OR days < 0 OR days > 366 THEN
        RAISE EXCEPTION 'days must be between 0 and 366';
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('lineproof journal partitions', 0));
    FOR day IN -1 .. days LOOP
        made := made + journal_make_day(today + day);
    END LOOP;
    RETURN made;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION journal_make_partitions IS 'Creates the journal''s daily partitions from yesterday to this many days ahead; returns how many were missing.';
REVOKE EXECUTE ON FUNCTION journal_make_partitions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION journal_make_partitions TO lineproof_serve;

-- A BRIN index has no summary of the pages that were filled since its last update,
-- and a search by time must read all of them. Vacuum adds the summaries when a fifth
-- of the table is new, which is too late for today's partition. The short lock
-- timeout is enough: a vacuum that holds the lock does the same work.
-- +goose StatementBegin
CREATE FUNCTION journal_summarize() RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET lock_timeout = '100ms' AS $$
DECLARE
    today timestamp := now() AT TIME ZONE 'UTC';
    part  oid;
    made  integer := 0;
BEGIN
    FOR part IN
        SELECT i.indexrelid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
        WHERE a.amname = 'brin' AND i.indrelid IN (
            to_regclass('public.journal_entry_' || to_char(today, 'YYYYMMDD')), to_regclass('public.journal_entry_' || to_char(today - interval '1 hour', 'YYYYMMDD')),
            to_regclass('public.journal_batch_' || to_char(today, 'YYYYMMDD')), to_regclass('public.journal_batch_' || to_char(today - interval '1 hour', 'YYYYMMDD')))
    LOOP
        made := made + brin_summarize_new_values(part);
    END LOOP;
    RETURN made;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION journal_summarize IS 'Updates the BRIN indexes of today''s journal, and in the first hour of a day also yesterday''s; returns how many page ranges were new.';
REVOKE EXECUTE ON FUNCTION journal_summarize FROM PUBLIC;
GRANT EXECUTE ON FUNCTION journal_summarize TO lineproof_serve;

GRANT USAGE ON SEQUENCE journal_epoch TO lineproof_serve;
GRANT SELECT, INSERT ON journal_batch, journal_entry, journal_epoch_start, journal_epoch_end TO lineproof_serve;
GRANT SELECT, INSERT, UPDATE ON journal_fence TO lineproof_serve;
GRANT SELECT ON journal_epoch_skip TO lineproof_serve;
GRANT SELECT ON journal_batch, journal_entry, journal_fence, journal_epoch_start, journal_epoch_end, journal_epoch_skip TO lineproof_read;

-- +goose Down
DROP FUNCTION journal_summarize;
DROP FUNCTION journal_make_partitions;
DROP FUNCTION journal_make_day;
DROP TABLE journal_epoch_skip;
DROP TABLE journal_epoch_end;
DROP TABLE journal_epoch_start;
DROP TABLE journal_fence;
DROP TABLE journal_entry;
DROP TABLE journal_batch;
DROP FUNCTION journal_batch_refuse_time;
DROP SEQUENCE journal_epoch;
