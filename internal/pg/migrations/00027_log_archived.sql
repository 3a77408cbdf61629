-- +goose Up
-- The archive of a day has the index in the public log of each of its batches, so that the entries about them need not
-- stay in the database.
ALTER TABLE journal_archive ADD COLUMN logged bigint NOT NULL DEFAULT 0 CHECK (logged BETWEEN 0 AND batches);
COMMENT ON COLUMN journal_archive.logged IS 'How many of its batches have their index in the public log in the archive.';

-- Only the owner calls it, as journal_drop_day. The lock keeps additions to the log out for a moment, and no answer waits
-- for it.
-- +goose StatementBegin
CREATE FUNCTION log_drop_day(the_day date) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, public SET lock_timeout = '2s' AS $$
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

-- +goose Down
DROP FUNCTION log_drop_day;
ALTER TABLE journal_archive DROP COLUMN logged;
