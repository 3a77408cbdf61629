-- +goose Up
COMMENT ON TABLE line IS 'The rows of the first release. Nothing reads or writes them any more: line_now took their place. They stay while an older binary may still serve.';

-- Times in line_now take four bytes instead of eight: there are hundreds of
-- millions of rows, and each is read within a millisecond's budget.
-- +goose StatementBegin
CREATE FUNCTION line_time(seconds integer) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT timestamptz '2020-01-01 00:00:00+00' + seconds * interval '1 second'
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION line_time IS 'Turns a time of line_now or line_event (seconds since 2020-01-01 UTC) into a timestamp, for people who read the tables.';

CREATE TABLE line_now (
    number       bigint   PRIMARY KEY,
    version      integer  NOT NULL,
    baseline     integer  NOT NULL,
    network      smallint NOT NULL,
    state        smallint NOT NULL,
    state_since  integer,
    tenure_start integer,
    sim_at       integer,
    newest       integer,
    until        integer,
    ended_after  integer,
    port_at      integer,
    bar_at       integer,
    order_at     integer,
    black_at     integer,
    flag_at      integer,
    flag_by      integer,
    flag_level   smallint,
    bar_reason   smallint,
    order_reason smallint
) WITH (fillfactor = 94); -- the room lets a month's changes stay on their page
CREATE INDEX line_now_ported ON line_now (network, number) WHERE port_at IS NOT NULL;
COMMENT ON INDEX line_now_ported IS 'The few numbers that are not with the network of their range.';
COMMENT ON TABLE line_now IS 'How each line stands, as far as we were told: one compact row per number, which its baseline and its events make. Joins nothing. Times are seconds since 2020-01-01 UTC (line_time).';
COMMENT ON COLUMN line_now.number IS 'E.164 without the plus sign.';
COMMENT ON COLUMN line_now.version IS 'One for the baseline, if there is one, and one for each event. The journal names the version that answered.';
COMMENT ON COLUMN line_now.baseline IS 'The import whose snapshot made the row, or 0 when events made it.';
COMMENT ON COLUMN line_now.network IS 'The network of the tenure, or of the last one; 0 when no operator has spoken of the number.';
COMMENT ON COLUMN line_now.state IS 'Code of the state of the tenure; the words are in package line.';
COMMENT ON COLUMN line_now.newest IS 'Effective time of the newest event, where no other time of the row shows it.';
COMMENT ON COLUMN line_now.until IS 'The announced date of the churn.';
COMMENT ON COLUMN line_now.ended_after IS 'The tenure ended after this time and not later than state_since: a snapshot no longer had the number.';
COMMENT ON COLUMN line_now.bar_at IS 'Since when the operator has stopped service; order_at is the same for the regulator.';
COMMENT ON COLUMN line_now.flag_by IS 'The supplier that flagged the tenure.';

CREATE SEQUENCE line_event_seq;
COMMENT ON SEQUENCE line_event_seq IS 'Numbers the events of all lines in the order in which they were told.';

CREATE TABLE line_event (
    number       bigint      NOT NULL,
    seq          bigint      NOT NULL,
    told_at      timestamptz NOT NULL,
    effective    integer     NOT NULL,
    supplier     integer     NOT NULL,
    import       integer     NOT NULL,
    kind         smallint    NOT NULL,
    authority    smallint    NOT NULL,
    network      smallint    NOT NULL,
    peer         smallint    NOT NULL DEFAULT 0,
    code         smallint    NOT NULL DEFAULT 0,
    base_network smallint,
    base_state   smallint,
    until        integer,
    after        integer,
    base_import  integer,
    base_tenure  integer,
    base_sim     integer,
    base_since   integer,
    voids        bigint,
    event_id     text,
    note         text
) PARTITION BY HASH (number);
-- One index finds a number's events and keeps an id from being told twice.
CREATE UNIQUE INDEX line_event_told_once ON line_event (number, supplier, event_id);
COMMENT ON TABLE line_event IS 'What was told about numbers: when it took effect and when we were told. Append-only; a correction is an event that voids another. Times are seconds since 2020-01-01 UTC (line_time).';
COMMENT ON COLUMN line_event.seq IS 'The order in which events were told, and the event''s name within the service.';
COMMENT ON COLUMN line_event.import IS 'The import that told it, or 0 for a call of the API.';
COMMENT ON COLUMN line_event.network IS 'The operator that speaks, or 0 for other authorities.';
COMMENT ON COLUMN line_event.peer IS 'The other network of a port: the recipient.';
COMMENT ON COLUMN line_event.code IS 'Code of the reason or of the level.';
COMMENT ON COLUMN line_event.after IS 'For an end that a snapshot implied: it took place after this time and not later than effective.';
COMMENT ON COLUMN line_event.base_import IS 'The first event about a number with a baseline carries the baseline along, in the columns base_...';
COMMENT ON COLUMN line_event.event_id IS 'The supplier''s own id; null for what a snapshot implied.';
COMMENT ON COLUMN line_event.note IS 'The reason of a correction, in words.';

-- Hash and not time: every read is by number, and the parts of a number can
-- move to another database together.
-- +goose StatementBegin
DO $$
BEGIN
    FOR part IN 0 .. 15 LOOP
        EXECUTE format('CREATE TABLE line_event_%s PARTITION OF line_event FOR VALUES WITH (MODULUS 16, REMAINDER %s)', to_char(part, 'FM00'), part);
        EXECUTE format('COMMENT ON TABLE line_event_%s IS %L', to_char(part, 'FM00'), 'Part of line_event.');
    END LOOP;
END
$$;
-- +goose StatementEnd

CREATE TABLE supplier (
    id         integer     PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    network    smallint    CONSTRAINT supplier_network_unique UNIQUE,
    client_id  uuid        CONSTRAINT supplier_client_unique UNIQUE,
    created_at timestamptz NOT NULL,
    CHECK ((network IS NULL) OR (client_id IS NULL))
);
COMMENT ON TABLE supplier IS 'Who tells us about lines. An operator is its network, whichever of its clients calls; any other authority is its client; neither is the regulator''s operator at the command line.';

CREATE TABLE supply_coverage (
    network          smallint    PRIMARY KEY,
    known_since      timestamptz,
    complete_since   timestamptz,
    supplied_through timestamptz,
    lines            bigint      NOT NULL DEFAULT 0,
    updated_at       timestamptz NOT NULL
);
COMMENT ON TABLE supply_coverage IS 'How far each operator''s supply reaches: since when, through when, and whether it has ever been complete.';
COMMENT ON COLUMN supply_coverage.complete_since IS 'The asOf of the first whole snapshot. From then on a number that the operator never named is known to be unassigned.';
COMMENT ON COLUMN supply_coverage.supplied_through IS 'Everything that took effect up to then has been supplied. It advances when a whole import has applied, or by what a call says.';
COMMENT ON COLUMN supply_coverage.lines IS 'Numbers with a running tenure.';

CREATE TABLE supply_day (
    network  smallint NOT NULL,
    day      date     NOT NULL,
    kind     smallint NOT NULL,
    accepted bigint   NOT NULL,
    refused  bigint   NOT NULL,
    late     bigint   NOT NULL,
    early    bigint   NOT NULL,
    seconds  bigint   NOT NULL,
    worst    bigint   NOT NULL,
    PRIMARY KEY (network, day, kind)
);
COMMENT ON TABLE supply_day IS 'What each operator told on each day, by kind of event: how many, how many were refused, and how late they were told.';
COMMENT ON COLUMN supply_day.late IS 'Told later than the policy allows.';
COMMENT ON COLUMN supply_day.early IS 'Numbers given to a new holder before the quarantine was over.';
COMMENT ON COLUMN supply_day.seconds IS 'Sum of the seconds between effect and telling; worst is the greatest of them.';

CREATE TABLE supply_import (
    id           integer     PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    uid          uuid        NOT NULL CONSTRAINT supply_import_uid_unique UNIQUE,
    network      smallint    NOT NULL,
    supplier     integer     NOT NULL,
    kind         text        NOT NULL CHECK (kind IN ('snapshot', 'events')),
    as_of        timestamptz,
    dry_run      boolean     NOT NULL,
    source       text        NOT NULL CHECK (source IN ('api', 'cli')),
    client_id    uuid,
    state        text        NOT NULL CHECK (state IN ('receiving', 'checking', 'held', 'applying', 'applied', 'checked', 'refused', 'cancelled')),
    phase        text        NOT NULL DEFAULT '',
    reason       text        NOT NULL DEFAULT '',
    bytes        bigint      NOT NULL DEFAULT 0,
    rows         bigint      NOT NULL DEFAULT 0,
    place        bigint      NOT NULL DEFAULT 0,
    cursor       bigint      NOT NULL DEFAULT 0,
    digest       bytea       NOT NULL DEFAULT '',
    file_digest  bytea       NOT NULL DEFAULT '',
    added        bigint      NOT NULL DEFAULT 0,
    changed      bigint      NOT NULL DEFAULT 0,
    unchanged    bigint      NOT NULL DEFAULT 0,
    ended        bigint      NOT NULL DEFAULT 0,
    duplicates   bigint      NOT NULL DEFAULT 0,
    no_effect    bigint      NOT NULL DEFAULT 0,
    ported_out   bigint      NOT NULL DEFAULT 0,
    refused      bigint      NOT NULL DEFAULT 0,
    confirmed_at timestamptz,
    created_at   timestamptz NOT NULL,
    started_at   timestamptz,
    updated_at   timestamptz NOT NULL,
    finished_at  timestamptz
);
CREATE INDEX supply_import_network ON supply_import (network, created_at);
CREATE INDEX supply_import_open ON supply_import (id) WHERE state IN ('receiving', 'checking', 'held', 'applying');
COMMENT ON TABLE supply_import IS 'Files of lines or events, and how far each has been read. Progress is written in the transaction of the rows it counts.';
COMMENT ON COLUMN supply_import.rows IS 'Rows of the file that have been dealt with in this phase; place is the line of the file after the last of them.';
COMMENT ON COLUMN supply_import.cursor IS 'Of a snapshot, while numbers are sought that the file no longer has: the last one that was looked at. Of events: the newest time of effect that was kept.';
COMMENT ON COLUMN supply_import.digest IS 'SHA-256 of the rows up to place: a file that continues must be the same file.';

CREATE TABLE supply_refused (
    import integer NOT NULL,
    place  bigint  NOT NULL,
    field  text    NOT NULL,
    reason text    NOT NULL,
    PRIMARY KEY (import, place, field)
);
COMMENT ON TABLE supply_refused IS 'Rows of a file that were refused: the line of the file, the column and the reason; the first hundred thousand of each import.';

CREATE TABLE line_order (
    id           uuid        PRIMARY KEY,
    number       bigint      NOT NULL,
    action       text        NOT NULL CHECK (action IN ('BAR', 'UNBAR', 'BLACKLIST', 'RELEASE', 'VOID')),
    state        text        NOT NULL CHECK (state IN ('PENDING', 'DONE', 'WITHDRAWN')),
    reason       text        NOT NULL,
    asked_kind   text        NOT NULL CHECK (asked_kind IN ('client', 'account', 'operator')),
    asked_by     uuid,
    asked_at     timestamptz NOT NULL,
    second_kind  text        CHECK (second_kind IN ('client', 'account', 'operator')),
    second_by    uuid,
    second_at    timestamptz,
    effective_at timestamptz NOT NULL,
    seq          bigint
);
CREATE INDEX line_order_pending ON line_order (asked_at) WHERE state = 'PENDING';
COMMENT ON TABLE line_order IS 'Orders of the regulator about numbers. A blacklisting waits for a second person; seq is the event that it became.';

GRANT USAGE ON SEQUENCE line_event_seq TO lineproof_serve;
GRANT SELECT, INSERT, UPDATE ON line_now TO lineproof_serve;
GRANT SELECT, INSERT ON line_event, supplier, supply_refused TO lineproof_serve;
GRANT SELECT, INSERT, UPDATE ON supply_coverage, supply_day, supply_import, line_order TO lineproof_serve;
GRANT SELECT ON line_now, line_event, supplier, supply_coverage, supply_day, supply_import, supply_refused, line_order TO lineproof_read;

-- +goose Down
DROP TABLE line_order;
DROP TABLE supply_refused;
DROP TABLE supply_import;
DROP TABLE supply_day;
DROP TABLE supply_coverage;
DROP TABLE supplier;
DROP TABLE line_event;
DROP SEQUENCE line_event_seq;
DROP TABLE line_now;
DROP FUNCTION line_time;
