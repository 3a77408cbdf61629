-- +goose Up
-- No foreign keys: what counts the journal must be able to go where it goes.
-- The current minute is counted again and again, so pages keep room for that.
CREATE TABLE journal_minute (
    entity_id uuid        NOT NULL,
    minute    timestamptz NOT NULL,
    mode      text        NOT NULL,
    status    text        NOT NULL,
    n         integer     NOT NULL CHECK (n > 0),
    seconds   bigint      NOT NULL,
    PRIMARY KEY (entity_id, minute, mode, status)
) WITH (fillfactor = 70);
CREATE INDEX journal_minute_minute ON journal_minute (minute);
COMMENT ON TABLE journal_minute IS 'How many answers of each status an entity got in each minute, counted from the journal by a job, for the last 35 days. It leads to the records of an entity without an index on the journal.';
COMMENT ON COLUMN journal_minute.seconds IS 'In which seconds of the minute they lie: bit 0 is the first.';

CREATE TABLE journal_day (
    entity_id uuid   NOT NULL,
    day       date   NOT NULL,
    mode      text   NOT NULL,
    status    text   NOT NULL,
    n         bigint NOT NULL CHECK (n > 0),
    PRIMARY KEY (entity_id, day, mode, status)
) WITH (fillfactor = 70);
CREATE INDEX journal_day_day ON journal_day (day);
COMMENT ON TABLE journal_day IS 'How many answers of each status an entity got on each day (UTC), counted from the journal by a job. It is kept when the day is archived.';

CREATE TABLE tally_mark (
    only_one   boolean     PRIMARY KEY DEFAULT true CHECK (only_one),
    settled    timestamptz NOT NULL,
    seen       timestamptz NOT NULL,
    fence_at   timestamptz NOT NULL,
    fence_xact xid8        NOT NULL
);
COMMENT ON TABLE tally_mark IS 'How far the journal is counted. One row, which is locked while somebody counts.';
COMMENT ON COLUMN tally_mark.settled IS 'Minutes before this are counted for good: nobody can write to them any more.';
COMMENT ON COLUMN tally_mark.seen IS 'What was committed by this moment is counted, and may be counted again.';
COMMENT ON COLUMN tally_mark.fence_xact IS 'The first transaction that had not begun to write at fence_at. Once all before it are over, whatever was to be written about the time before the fence is there.';

CREATE TABLE usage_pace (
    entity_id uuid     NOT NULL REFERENCES entity,
    day       date     NOT NULL,
    mode      text     NOT NULL,
    node      text     NOT NULL,
    asked     bigint   NOT NULL CHECK (asked >= 0),
    refused   bigint   NOT NULL CHECK (refused >= 0),
    failed    bigint   NOT NULL CHECK (failed >= 0),
    times     bigint[] NOT NULL,
    PRIMARY KEY (entity_id, day, mode, node)
);
COMMENT ON TABLE usage_pace IS 'How requests of each entity to verify ended and how long they took, by day (UTC) and node. A node adds what it has counted every few seconds; the sum over the nodes is what counts.';
COMMENT ON COLUMN usage_pace.refused IS 'Answered with 4xx.';
COMMENT ON COLUMN usage_pace.failed IS 'Answered with 5xx.';
COMMENT ON COLUMN usage_pace.times IS 'How many answers to a single question took how long: a histogram whose bounds package tally has.';

-- A BRIN index knows nothing of pages that were filled since it was last brought
-- up to date, and whoever looks for a moment has to read all of them. Vacuum
-- does it when a fifth of the table is new, which is too late for the table of
-- today. It waits for nobody: a vacuum that runs does the same.
-- +goose StatementBegin
CREATE FUNCTION journal_summarize() RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public SET lock_timeout = '100ms' AS $$
DECLARE
    today timestamp := now() AT TIME ZONE 'UTC';
    part  oid;
    made  integer := 0;
BEGIN
    FOR part IN
        SELECT i.indexrelid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
        WHERE a.amname = 'brin' AND i.indrelid IN (
            to_regclass('public.journal_entry_' || to_char(today, 'YYYYMMDD')), to_regclass('public.journal_entry_' || to_char(today - interval '1 hour', 'YYYYMMDD')))
    LOOP
        made := made + brin_summarize_new_values(part);
    END LOOP;
    RETURN made;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION journal_summarize IS 'Brings the index of today''s journal up to date, and in the first hour of a day that of yesterday''s, too; returns how many ranges were new.';
REVOKE EXECUTE ON FUNCTION journal_summarize FROM PUBLIC;
GRANT EXECUTE ON FUNCTION journal_summarize TO lineproof_serve;

GRANT SELECT, INSERT, UPDATE ON journal_minute, journal_day, tally_mark, usage_pace TO lineproof_serve;
GRANT DELETE ON journal_minute TO lineproof_serve;
GRANT SELECT ON journal_minute, journal_day, tally_mark, usage_pace TO lineproof_read;

-- +goose Down
DROP FUNCTION journal_summarize;
DROP TABLE usage_pace;
DROP TABLE tally_mark;
DROP TABLE journal_day;
DROP TABLE journal_minute;
