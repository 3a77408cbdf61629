-- +goose Up
-- The counts of the journal have no foreign keys, so that they can move to another
-- cluster with it. The current minute is updated many times, so pages are filled
-- only in part.
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
COMMENT ON TABLE journal_minute IS 'The number of answers by entity, minute, mode and status, counted from the journal by a job, for the last 35 days. With it the records of an entity are found without an index on the journal.';
COMMENT ON COLUMN journal_minute.seconds IS 'In which seconds of the minute there are answers; bit 0 is the first second.';

CREATE TABLE journal_day (
    entity_id uuid   NOT NULL,
    day       date   NOT NULL,
    mode      text   NOT NULL,
    status    text   NOT NULL,
    n         bigint NOT NULL CHECK (n > 0),
    PRIMARY KEY (entity_id, day, mode, status)
) WITH (fillfactor = 70);
COMMENT ON TABLE journal_day IS 'The number of answers by entity, day (UTC), mode and status, counted from the journal by a job; under the zero entity that of all. Rows stay when the day is archived.';

CREATE TABLE tally_mark (
    only_one   boolean     PRIMARY KEY DEFAULT true CHECK (only_one),
    settled    timestamptz NOT NULL,
    seen       timestamptz NOT NULL,
    fence_at   timestamptz NOT NULL,
    fence_xact xid8        NOT NULL
);
COMMENT ON TABLE tally_mark IS 'Up to when the journal is counted. It has one row, which the job locks while it counts.';
COMMENT ON COLUMN tally_mark.settled IS 'The counts of minutes before this time are final: no transaction can write to them any more.';
COMMENT ON COLUMN tally_mark.seen IS 'Everything that was committed by this time is counted, and may be counted again.';
COMMENT ON COLUMN tally_mark.fence_xact IS 'The first transaction that had not started to write at fence_at. When all transactions before it have ended, every record with a time before the fence is visible.';

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
-- The home page of staff shows how the requests of all entities ended today.
CREATE INDEX usage_pace_day ON usage_pace (day);
COMMENT ON TABLE usage_pace IS 'Results and latency of the verification requests of each entity, by day (UTC) and node. A node adds its counts every few seconds; the total is the sum over the nodes.';
COMMENT ON COLUMN usage_pace.asked IS 'Requests.';
COMMENT ON COLUMN usage_pace.refused IS 'Requests with a 4xx response.';
COMMENT ON COLUMN usage_pace.failed IS 'Requests with a 5xx response.';
COMMENT ON COLUMN usage_pace.times IS 'Latency of requests for a single number, as a histogram; package tally has its bounds.';

CREATE TABLE usage_key (
    entity_id uuid   NOT NULL REFERENCES entity,
    day       date   NOT NULL,
    key_id    uuid   NOT NULL,
    mode      text   NOT NULL,
    node      text   NOT NULL,
    outcome   text   NOT NULL,
    n         bigint NOT NULL CHECK (n > 0),
    PRIMARY KEY (entity_id, day, key_id, mode, node, outcome)
);
COMMENT ON TABLE usage_key IS 'What each API key got, by day (UTC) and node: numbers by the status of their answer, and refused or failed requests by the code of their error. A node adds its counts every few seconds; the total is the sum over the nodes.';
COMMENT ON COLUMN usage_key.outcome IS 'The status of an answer, or the code of an error.';

GRANT SELECT, INSERT, UPDATE, DELETE ON journal_minute TO lineproof_serve;
GRANT SELECT, INSERT, UPDATE ON journal_day, tally_mark, usage_pace, usage_key TO lineproof_serve;
GRANT SELECT ON journal_minute, journal_day, tally_mark, usage_pace, usage_key TO lineproof_read;

-- +goose Down
DROP TABLE usage_key;
DROP TABLE usage_pace;
DROP TABLE tally_mark;
DROP TABLE journal_day;
DROP TABLE journal_minute;
