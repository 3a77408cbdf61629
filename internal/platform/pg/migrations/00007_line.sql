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

-- The order of the columns leaves no padding between those that every row has. A
-- null takes no space. A code is checked when it is written, which takes no space either.
CREATE TABLE line_now (
    number                bigint   PRIMARY KEY,
    version               integer  NOT NULL,
    baseline              integer  NOT NULL,
    network               smallint NOT NULL,
    state                 smallint NOT NULL CHECK (state BETWEEN 0 AND 6),
    bits                  smallint NOT NULL CHECK (bits BETWEEN 0 AND 255),
    bar_reason            smallint CHECK (bar_reason BETWEEN 1 AND 12),
    state_since           integer,
    tenure_start          integer,
    sim_at                integer,
    newest                integer,
    until                 integer,
    ended_after           integer,
    port_at               integer,
    bar_at                integer,
    holder_bar_at         integer,
    holder_bar_until      integer,
    number_bar_at         integer,
    number_bar_until      integer,
    flag_medium_at        integer,
    flag_high_at          integer,
    flag_very_high_at     integer,
    black_at              integer,
    contested_tenure      integer,
    contested_sim         integer,
    contested_port        integer,
    doubt_at              integer,
    holder_bar_reason     smallint CHECK (holder_bar_reason BETWEEN 1 AND 12),
    number_bar_reason     smallint CHECK (number_bar_reason BETWEEN 1 AND 12)
) WITH (fillfactor = 82); -- the free space keeps a change of every fifth line on its page
CREATE INDEX line_now_ported ON line_now (network, number) WHERE port_at IS NOT NULL;
COMMENT ON TABLE line_now IS 'The current state of each line as reported: one compact row per number, computed from its baseline and its events. A row is deleted only with its baseline, when a snapshot is voided and the row has no events. Joins nothing. Times are seconds since 2020-01-01 UTC (line_time).';
COMMENT ON COLUMN line_now.number IS 'E.164 without the plus sign.';
COMMENT ON COLUMN line_now.version IS 'One for the baseline, if there is one, plus one for each event. A journal record names the version that its answer used.';
COMMENT ON COLUMN line_now.baseline IS 'The import whose snapshot created the row; 0 if events created it.';
COMMENT ON COLUMN line_now.network IS 'The network of the current tenure, or of the last one; 0 if no operator has reported the number.';
COMMENT ON COLUMN line_now.state IS 'Code of the state of the tenure; see package line.';
COMMENT ON COLUMN line_now.bits IS '1 the SIM change before the snapshot is not known, 2 tenure_start is a bare date, 4 sim_at, 8 port_at, 16 state_since of an end, 32 a first holder, 64 the snapshot is of the network that serves the line, 128 reported by a network that does not hold the range; see line.Bits.';
COMMENT ON COLUMN line_now.state_since IS 'Null if it equals tenure_start.';
COMMENT ON COLUMN line_now.newest IS 'Effective time of the newest event; null if it equals the newest of the other times in the row.';
COMMENT ON COLUMN line_now.until IS 'The announced churn date.';
COMMENT ON COLUMN line_now.ended_after IS 'The tenure ended after this time and not later than state_since, because the number was missing from a snapshot.';
COMMENT ON COLUMN line_now.bar_at IS 'Since when the operator bars the line.';
COMMENT ON COLUMN line_now.holder_bar_at IS 'Since when the regulator bars the holder; number_bar_at is the same for the number, whoever holds it.';
COMMENT ON COLUMN line_now.holder_bar_until IS 'When that bar ends by itself.';
COMMENT ON COLUMN line_now.flag_medium_at IS 'The newest flag of this level; the other two columns are the same for theirs.';
COMMENT ON COLUMN line_now.contested_sim IS 'A SIM change that its operator withdrew, and whose signal stays until its window ends. contested_tenure is the same for a new holder, and contested_port for a port, which leaves no signal: what has changed since before it is unknown.';
COMMENT ON COLUMN line_now.doubt_at IS 'Since when the network that serves the line contradicts itself or somebody else.';
COMMENT ON INDEX line_now_ported IS 'The few numbers that are not with the network of their range.';

CREATE SEQUENCE line_event_seq;
COMMENT ON SEQUENCE line_event_seq IS 'Numbers the events of all lines in the order in which they were reported.';

-- Partitioned by hash and not by time: every read is by number, and the events of a
-- number can move to another database together.
CREATE TABLE line_event (
    number       bigint      NOT NULL,
    seq          bigint      NOT NULL,
    reported_at  timestamptz NOT NULL,
    effective    integer     NOT NULL,
    supplier     integer     NOT NULL,
    import       integer     NOT NULL,
    kind         smallint    NOT NULL CHECK (kind BETWEEN 1 AND 21),
    authority    smallint    NOT NULL CHECK (authority BETWEEN 1 AND 4),
    network      smallint    NOT NULL,
    peer         smallint    NOT NULL DEFAULT 0,
    code         smallint    NOT NULL DEFAULT 0 CHECK (code BETWEEN 0 AND 12),
    bits         smallint    NOT NULL DEFAULT 0 CHECK (bits BETWEEN 0 AND 31),
    hold         smallint CHECK (hold BETWEEN 1 AND 4),
    base_network smallint,
    base_state   smallint CHECK (base_state BETWEEN 0 AND 6),
    base_bits    smallint CHECK (base_bits BETWEEN 0 AND 255),
    until        integer,
    ended_after  integer,
    base_import  integer,
    base_as_of   integer,
    base_tenure  integer,
    base_sim     integer,
    base_since   integer,
    base_until   integer,
    target       bigint,
    event_id     text,
    note         text
) PARTITION BY HASH (number);
-- One index finds the events of a number and rejects a repeated event id.
CREATE UNIQUE INDEX line_event_reported_once ON line_event (number, supplier, event_id);
CREATE INDEX line_event_id ON line_event (supplier, event_id) WHERE event_id IS NOT NULL;
-- Rows are stored in the order of their reports, so this small index finds an event by
-- its seq, and the events of a period or of a file.
CREATE INDEX line_event_order ON line_event USING brin (seq, reported_at) WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX line_event_implied ON line_event (import, number) WHERE event_id IS NULL AND import <> 0;
COMMENT ON TABLE line_event IS 'Every stored event of every number. Append-only; a correction is an event that voids another. Times are seconds since 2020-01-01 UTC (line_time).';
COMMENT ON COLUMN line_event.seq IS 'The id of the event, in the order in which events were reported.';
COMMENT ON COLUMN line_event.reported_at IS 'When the event was reported to the service.';
COMMENT ON COLUMN line_event.effective IS 'When the event took effect. Of a bare date the last second of the day, or the first for an end.';
COMMENT ON COLUMN line_event.import IS 'The import that contained the event; 0 for a call of the API.';
COMMENT ON COLUMN line_event.kind IS 'Code of the kind of event; see package line. authority is the code of the supplier''s role.';
COMMENT ON COLUMN line_event.network IS 'The operator that reported the event; 0 for other authorities.';
COMMENT ON COLUMN line_event.peer IS 'The recipient network of a port.';
COMMENT ON COLUMN line_event.code IS 'Code of the reason or of the level.';
COMMENT ON COLUMN line_event.bits IS '1 a bare date, 2 a bar on the number, 4 a first holder, 8 reported by a network that had nothing to do with the number at that time, 16 counted in the share of its network''s lines.';
COMMENT ON COLUMN line_event.hold IS 'Why the event does not count until it is confirmed; see package line. Null if it counts at once.';
COMMENT ON COLUMN line_event.until IS 'The announced churn date, or when an order ends unless it is confirmed.';
COMMENT ON COLUMN line_event.ended_after IS 'For an end implied by a snapshot: the tenure ended after this time and not later than effective.';
COMMENT ON COLUMN line_event.base_import IS 'The first event of a number that has a baseline also stores that baseline, in the columns base_...; a restatement, whose base_import is its own import, stores its own there.';
COMMENT ON COLUMN line_event.target IS 'The seq of the event that this one withdraws or confirms; of a port that two networks reported, that of its release.';
COMMENT ON COLUMN line_event.event_id IS 'The supplier''s own id of the event; null for an event implied by a snapshot.';
COMMENT ON COLUMN line_event.note IS 'The reason of a correction, in words.';
COMMENT ON INDEX line_event_order IS 'Finds the events of a correction: one, those of a period, or those of a file.';
COMMENT ON INDEX line_event_id IS 'Finds an id that a supplier has already used for another number.';
COMMENT ON INDEX line_event_implied IS 'Finds the events that a snapshot made, when it is voided. Events that a supplier reported have an id and are not in it.';

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

CREATE TABLE line_open (
    number      bigint      NOT NULL,
    seq         bigint      NOT NULL,
    outcome     smallint    NOT NULL CHECK (outcome BETWEEN 6 AND 7),
    half        boolean     NOT NULL,
    hold        smallint    NOT NULL CHECK (hold BETWEEN 0 AND 4),
    network     smallint    NOT NULL,
    reported_at timestamptz NOT NULL,
    PRIMARY KEY (number, seq)
);
CREATE INDEX line_open_outcome ON line_open (outcome, reported_at, number);
CREATE INDEX line_open_network ON line_open (network, outcome);
-- The page of an open event is addressed by the event, because its number must not be in an address.
CREATE INDEX line_open_seq ON line_open (seq);
COMMENT ON TABLE line_open IS 'The events that are stored and do not count yet: held, or waiting for a port or for its other half. Written with the row that they belong to, and computed from the same events.';
COMMENT ON COLUMN line_open.outcome IS 'Code of the outcome; see package line. hold is why it is held, or 0.';
COMMENT ON COLUMN line_open.half IS 'Half of a port whose other half is missing, or the void of one half. Staff see it at once: it is a conflict between two networks.';
COMMENT ON COLUMN line_open.network IS 'The operator that reported the event; 0 for other authorities.';

CREATE TABLE supply_coverage (
    network          smallint    NOT NULL,
    topic            smallint    NOT NULL CHECK (topic BETWEEN 1 AND 3),
    known_since      timestamptz,
    complete_since   timestamptz,
    supplied_through timestamptz,
    doubtful         boolean     NOT NULL DEFAULT false,
    accepted_on      date,
    held_from        timestamptz,
    held_through     timestamptz,
    updated_at       timestamptz NOT NULL,
    PRIMARY KEY (network, topic)
);
COMMENT ON TABLE supply_coverage IS 'The period that the supply of each topic covers: LIFECYCLE (1) and SIM (2) of each network, and PORT (3) of the nation, which is network 0.';
COMMENT ON COLUMN supply_coverage.known_since IS 'The time of the first supply of any kind.';
COMMENT ON COLUMN supply_coverage.complete_since IS 'The asOf of the first complete snapshot. From then on a number that the operator never reported is known to be unassigned.';
COMMENT ON COLUMN supply_coverage.supplied_through IS 'Everything that took effect until then has been supplied. It advances when a whole import is applied, or when a call reports it.';
COMMENT ON COLUMN supply_coverage.doubtful IS 'Its assurances were false too often, so that it does not count as fresh until 30 days have passed without another false one, or two people accept it again.';
COMMENT ON COLUMN supply_coverage.accepted_on IS 'The day (UTC) on which two people last let a topic that was disbelieved be believed again. False assurances count from the day after.';
COMMENT ON COLUMN supply_coverage.held_from IS 'The earliest event of a mass change that waits for the regulator took effect just after this time, and supplied_through does not pass it. Null if none waits.';
COMMENT ON COLUMN supply_coverage.held_through IS 'What supplied_through becomes when the mass change is decided; null while none waits.';

CREATE TABLE supply_coverage_history (
    network          smallint    NOT NULL,
    topic            smallint    NOT NULL CHECK (topic BETWEEN 1 AND 3),
    at               timestamptz NOT NULL,
    known_since      timestamptz,
    complete_since   timestamptz,
    supplied_through timestamptz,
    doubtful         boolean     NOT NULL,
    PRIMARY KEY (network, topic, at)
);
COMMENT ON TABLE supply_coverage_history IS 'What supply_coverage was from a time on, so that a past answer can be computed again.';

CREATE TABLE network_lines (
    network    smallint    PRIMARY KEY,
    lines      bigint      NOT NULL,
    updated_at timestamptz NOT NULL
);
COMMENT ON TABLE network_lines IS 'How many numbers with a current tenure each network has.';

GRANT USAGE ON SEQUENCE line_event_seq TO lineproof_serve;
GRANT SELECT, INSERT ON line_event TO lineproof_serve;
GRANT SELECT, INSERT, UPDATE ON line_now, supply_coverage, supply_coverage_history, network_lines TO lineproof_serve;
GRANT SELECT, INSERT, UPDATE, DELETE ON line_open TO lineproof_serve;
GRANT SELECT ON line_now, line_event, line_open, supply_coverage, supply_coverage_history, network_lines TO lineproof_read;

-- +goose Down
DROP TABLE network_lines;
DROP TABLE supply_coverage_history;
DROP TABLE supply_coverage;
DROP TABLE line_open;
DROP TABLE line_event;
DROP SEQUENCE line_event_seq;
DROP TABLE line_now;
DROP FUNCTION line_time;
