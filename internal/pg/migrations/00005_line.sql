-- +goose Up
-- Times in line_now take four bytes instead of eight: there are hundreds of
-- millions of rows, and as many as possible must fit into memory.
-- +goose StatementBegin
CREATE FUNCTION line_time(seconds integer) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT timestamptz '2020-01-01 00:00:00+00' + seconds * interval '1 second'
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION line_time IS 'Converts a time of line_now or line_event (seconds since 2020-01-01 UTC) into a timestamp, for people who read the tables.';

-- The order of the columns leaves no padding between them. A null takes no space.
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
) WITH (fillfactor = 94); -- the free space keeps the changes of a usual month on their page
CREATE INDEX line_now_ported ON line_now (network, number) WHERE port_at IS NOT NULL;
COMMENT ON TABLE line_now IS 'The current state of each line as reported: one compact row per number, computed from its baseline and its events. Joins nothing. Times are seconds since 2020-01-01 UTC (line_time).';
COMMENT ON COLUMN line_now.number IS 'E.164 without the plus sign.';
COMMENT ON COLUMN line_now.version IS 'One for the baseline, if there is one, plus one for each event. A journal record names the version that its answer used.';
COMMENT ON COLUMN line_now.baseline IS 'The import whose snapshot created the row; 0 if events created it.';
COMMENT ON COLUMN line_now.network IS 'The network of the current tenure, or of the last one; 0 if no operator has reported the number.';
COMMENT ON COLUMN line_now.state IS 'Code of the state of the tenure; see package line.';
COMMENT ON COLUMN line_now.newest IS 'Effective time of the newest event; null if it equals the newest of the other times in the row.';
COMMENT ON COLUMN line_now.until IS 'The announced churn date.';
COMMENT ON COLUMN line_now.ended_after IS 'The tenure ended after this time and not later than state_since, because the number was missing from a snapshot.';
COMMENT ON COLUMN line_now.bar_at IS 'Since when the operator bars the line; order_at is the same for the regulator.';
COMMENT ON COLUMN line_now.flag_by IS 'The supplier that flagged the tenure.';
COMMENT ON INDEX line_now_ported IS 'The few numbers that are not with the network of their range.';

CREATE SEQUENCE line_event_seq;
COMMENT ON SEQUENCE line_event_seq IS 'Numbers the events of all lines in the order in which they were reported.';

-- Partitioned by hash and not by time: every read is by number, and the events of a
-- number can move to another database together.
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
-- One index finds the events of a number and rejects a repeated event id.
CREATE UNIQUE INDEX line_event_told_once ON line_event (number, supplier, event_id);
CREATE INDEX line_event_ports ON line_event (kind, number) WHERE kind IN (12, 13);
COMMENT ON TABLE line_event IS 'Every reported event of every number. Append-only; a correction is an event that voids another. Times are seconds since 2020-01-01 UTC (line_time).';
COMMENT ON COLUMN line_event.seq IS 'The id of the event, in the order in which events were reported.';
COMMENT ON COLUMN line_event.told_at IS 'When the event was reported to the service.';
COMMENT ON COLUMN line_event.effective IS 'When the event took effect.';
COMMENT ON COLUMN line_event.import IS 'The import that contained the event; 0 for a call of the API.';
COMMENT ON COLUMN line_event.kind IS 'Code of the kind of event; see package line. authority is the code of the supplier''s role.';
COMMENT ON COLUMN line_event.network IS 'The operator that reported the event; 0 for other authorities.';
COMMENT ON COLUMN line_event.peer IS 'The recipient network of a port.';
COMMENT ON COLUMN line_event.code IS 'Code of the reason or of the level.';
COMMENT ON COLUMN line_event.until IS 'The announced churn date.';
COMMENT ON COLUMN line_event.after IS 'For an end implied by a snapshot: the tenure ended after this time and not later than effective.';
COMMENT ON COLUMN line_event.base_import IS 'The first event of a number that has a baseline also stores that baseline, in the columns base_...';
COMMENT ON COLUMN line_event.voids IS 'The seq of the event that this one withdraws.';
COMMENT ON COLUMN line_event.event_id IS 'The supplier''s own id of the event; null for an event implied by a snapshot.';
COMMENT ON COLUMN line_event.note IS 'The reason of a correction, in words.';
COMMENT ON INDEX line_event_ports IS 'Claims and releases of ports, in which staff look for those without their other half. Few events are either.';

-- +goose StatementBegin
DO $$
BEGIN
    FOR part IN 0 .. 15 LOOP
        EXECUTE format('CREATE TABLE line_event_%s PARTITION OF line_event FOR VALUES WITH (MODULUS 16, REMAINDER %s)', to_char(part, 'FM00'), part);
        EXECUTE format('COMMENT ON TABLE line_event_%s IS %L', to_char(part, 'FM00'), 'Partition of line_event.');
    END LOOP;
END
$$;
-- +goose StatementEnd

CREATE TABLE supply_coverage (
    network          smallint    PRIMARY KEY,
    known_since      timestamptz,
    complete_since   timestamptz,
    supplied_through timestamptz,
    lines            bigint      NOT NULL DEFAULT 0,
    updated_at       timestamptz NOT NULL
);
COMMENT ON TABLE supply_coverage IS 'The period that each operator''s supply covers. No part of it ever shrinks.';
COMMENT ON COLUMN supply_coverage.known_since IS 'The time of the first supply of any kind.';
COMMENT ON COLUMN supply_coverage.complete_since IS 'The asOf of the first complete snapshot. From then on a number that the operator never reported is known to be unassigned.';
COMMENT ON COLUMN supply_coverage.supplied_through IS 'Everything that took effect until then has been supplied. It advances when a whole import is applied, or when a call reports it.';
COMMENT ON COLUMN supply_coverage.lines IS 'Numbers with a current tenure.';

GRANT USAGE ON SEQUENCE line_event_seq TO lineproof_serve;
GRANT SELECT, INSERT ON line_event TO lineproof_serve;
GRANT SELECT, INSERT, UPDATE ON line_now, supply_coverage TO lineproof_serve;
GRANT SELECT ON line_now, line_event, supply_coverage TO lineproof_read;

-- +goose Down
DROP TABLE supply_coverage;
DROP TABLE line_event;
DROP SEQUENCE line_event_seq;
DROP TABLE line_now;
DROP FUNCTION line_time;
