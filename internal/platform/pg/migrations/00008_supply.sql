-- +goose Up
CREATE TABLE supplier (
    id         integer     PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    network    smallint    CONSTRAINT supplier_network_unique UNIQUE,
    client_id  uuid        CONSTRAINT supplier_client_unique UNIQUE,
    created_at timestamptz NOT NULL,
    CHECK ((network IS NULL) OR (client_id IS NULL))
);
COMMENT ON TABLE supplier IS 'Who reports events. An operator is identified by its network, whichever of its clients calls, and any other authority by its client. The row with neither is the regulator at the command line.';

CREATE TABLE supply_day (
    network  smallint NOT NULL,
    day      date     NOT NULL,
    kind     smallint NOT NULL CHECK (kind BETWEEN 0 AND 24),
    accepted bigint   NOT NULL,
    refused  bigint   NOT NULL,
    late     bigint   NOT NULL,
    early    bigint   NOT NULL,
    broken   bigint   NOT NULL,
    seconds  bigint   NOT NULL,
    worst    bigint   NOT NULL,
    PRIMARY KEY (network, day, kind)
);
COMMENT ON TABLE supply_day IS 'Events of each operator by day and kind: how many were accepted, rejected and reported late.';
COMMENT ON COLUMN supply_day.kind IS 'Code of the kind of event, as in line_event; 0 counts what was rejected.';
COMMENT ON COLUMN supply_day.broken IS 'Events that took effect before the operator''s own suppliedThrough.';
COMMENT ON COLUMN supply_day.late IS 'Events reported later than the policy allows.';
COMMENT ON COLUMN supply_day.early IS 'Numbers assigned to a new holder before their quarantine was over.';
COMMENT ON COLUMN supply_day.seconds IS 'Sum of the seconds between the effective time and the report; worst is the greatest of them.';

CREATE TABLE supply_share (
    supplier integer     NOT NULL,
    network  smallint    NOT NULL,
    hour     timestamptz NOT NULL,
    numbers  bigint      NOT NULL,
    PRIMARY KEY (supplier, network, hour)
);
COMMENT ON TABLE supply_share IS 'How many lines of a network each supplier has ended, moved or given to new holders by events, by the hour of the report. Events beyond a share within 7 days are held.';
COMMENT ON COLUMN supply_share.numbers IS 'Numbers whose last such event of this supplier was reported in that hour. Of events that belong to an announced mass change none.';

CREATE TABLE supply_announced (
    id           uuid        PRIMARY KEY,
    network      smallint    NOT NULL,
    lines        bigint      NOT NULL CHECK (lines > 0),
    used         bigint      NOT NULL DEFAULT 0 CHECK (used BETWEEN 0 AND lines),
    starts_at    timestamptz NOT NULL,
    ends_at      timestamptz NOT NULL CHECK (ends_at > starts_at),
    announced_at timestamptz NOT NULL
);
CREATE INDEX supply_announced_network ON supply_announced (network, ends_at);
COMMENT ON TABLE supply_announced IS 'Mass changes of lines that staff announced, and two people agreed to: so many events that end, move or re-assign lines of the network are not held in that period.';
COMMENT ON COLUMN supply_announced.id IS 'The subject of the approval by which two people announced it.';
COMMENT ON COLUMN supply_announced.used IS 'How many of the lines have been changed so far.';

CREATE TABLE supply_reach (
    network          smallint    NOT NULL,
    day              date        NOT NULL,
    lines            bigint      NOT NULL,
    capacity         bigint      NOT NULL,
    supplied_through timestamptz,
    noted_at         timestamptz NOT NULL,
    PRIMARY KEY (network, day)
);
COMMENT ON TABLE supply_reach IS 'The supply of each operator on each day (UTC), as a job last recorded it on that day. Rows are never deleted; a day on which the job did not run has none.';
COMMENT ON COLUMN supply_reach.lines IS 'Numbers with a current tenure.';
COMMENT ON COLUMN supply_reach.capacity IS 'Numbers in the operator''s ranges.';
COMMENT ON COLUMN supply_reach.supplied_through IS 'As in supply_coverage; null for an operator that never supplied.';

CREATE TABLE supply_import (
    id            integer     PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    uid           uuid        NOT NULL CONSTRAINT supply_import_uid_unique UNIQUE,
    authority     smallint    NOT NULL DEFAULT 1 CHECK (authority BETWEEN 1 AND 4),
    network       smallint    NOT NULL,
    supplier      integer     NOT NULL,
    supplier_name text        CHECK (octet_length(supplier_name) BETWEEN 1 AND 255),
    kind          text        NOT NULL CHECK (kind IN ('snapshot', 'events')),
    as_of         timestamptz,
    dry_run       boolean     NOT NULL,
    source        text        NOT NULL CHECK (source IN ('api', 'portal', 'cli')),
    client_id     uuid,
    state         text        NOT NULL CHECK (state IN ('receiving', 'checking', 'held', 'applying', 'applied', 'checked', 'refused', 'cancelled', 'voiding', 'voided')),
    phase         text        NOT NULL DEFAULT '',
    reason        text        NOT NULL DEFAULT '',
    bytes         bigint      NOT NULL DEFAULT 0,
    rows          bigint      NOT NULL DEFAULT 0,
    place         bigint      NOT NULL DEFAULT 0,
    cursor        bigint      NOT NULL DEFAULT 0,
    digest        bytea       NOT NULL DEFAULT '',
    file_digest   bytea       NOT NULL DEFAULT '',
    -- 16 random bytes; a random UUID alone has 122 bits.
    log_nonce     bytea       NOT NULL DEFAULT substring(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())) FOR 16) CHECK (octet_length(log_nonce) = 16),
    added         bigint      NOT NULL DEFAULT 0,
    changed       bigint      NOT NULL DEFAULT 0,
    unchanged     bigint      NOT NULL DEFAULT 0,
    ended         bigint      NOT NULL DEFAULT 0,
    duplicates    bigint      NOT NULL DEFAULT 0,
    no_effect     bigint      NOT NULL DEFAULT 0,
    waiting       bigint      NOT NULL DEFAULT 0,
    ported_out    bigint      NOT NULL DEFAULT 0,
    refused       bigint      NOT NULL DEFAULT 0,
    voided        bigint      NOT NULL DEFAULT 0,
    confirmed_at  timestamptz,
    created_at    timestamptz NOT NULL,
    started_at    timestamptz,
    updated_at    timestamptz NOT NULL,
    finished_at   timestamptz,
    CONSTRAINT supply_import_supplier_named CHECK (state NOT IN ('applied', 'voiding', 'voided') OR dry_run OR supplier_name IS NOT NULL)
);
CREATE INDEX supply_import_network ON supply_import (network, created_at);
CREATE INDEX supply_import_open ON supply_import (id) WHERE state IN ('receiving', 'checking', 'held', 'applying', 'voiding');
COMMENT ON TABLE supply_import IS 'Files of lines or events, and the progress of each. Progress is written in the transaction of the rows that it counts.';
COMMENT ON COLUMN supply_import.authority IS 'In which role the file was sent, as in line_event: 1 an operator, 2 the clearing house, 3 a sector regulator, 4 the regulator at the command line.';
COMMENT ON COLUMN supply_import.network IS 'Of an operator''s file, its network; otherwise 0.';
COMMENT ON COLUMN supply_import.supplier_name IS 'The code of the network when the file was applied, or the authority of another sender, to which the entry of the public log commits; null before that.';
COMMENT ON COLUMN supply_import.source IS 'How the file came: sent to the API, uploaded in the portal, or read by the command.';
COMMENT ON COLUMN supply_import.waiting IS 'Rows that are stored and do not count yet: held, or about numbers whose port is not known.';
COMMENT ON COLUMN supply_import.as_of IS 'When a snapshot was correct. For a file of events, up to when all events are reported; null if it was not given.';
COMMENT ON COLUMN supply_import.reason IS 'Why the import is held or was rejected.';
COMMENT ON COLUMN supply_import.rows IS 'Rows of the file that this phase has processed; place is the line of the file after the last of them.';
COMMENT ON COLUMN supply_import.cursor IS 'For a snapshot, the last number that was searched for missing ones, or up to which it is voided.';
COMMENT ON COLUMN supply_import.voided IS 'Lines from which voiding has taken back what the snapshot said, so far.';
COMMENT ON COLUMN supply_import.digest IS 'SHA-256 of the rows up to place, to check that a resumed import reads the same file.';
COMMENT ON COLUMN supply_import.file_digest IS 'SHA-256 of all rows, once the whole file was checked.';
COMMENT ON COLUMN supply_import.log_nonce IS 'Part of what the entry of the public log commits to, so that nobody can guess the rest. Only the supplier gets it.';
COMMENT ON COLUMN supply_import.confirmed_at IS 'When staff confirmed an import that was held.';

-- The serving role cannot delete lines. This function can, and deletes only what a
-- snapshot that is being voided created.
-- +goose StatementBegin
CREATE FUNCTION line_delete_baselines(snapshot integer, after bigint, last bigint, OUT deleted bigint, OUT running bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM supply_import WHERE id = snapshot AND kind = 'snapshot' AND state = 'voiding') THEN
        RAISE EXCEPTION 'the import % is not a snapshot that is being voided', snapshot;
    END IF;
    WITH gone AS (
        DELETE FROM line_now WHERE number > after AND number <= last AND baseline = snapshot AND version = 1 RETURNING state
    )
    SELECT count(*), count(*) FILTER (WHERE state BETWEEN 1 AND 4) INTO deleted, running FROM gone;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION line_delete_baselines IS 'Deletes the lines, after one number and up to another, that a snapshot created and no event has touched, while that snapshot is being voided; returns how many, and how many of them had a current tenure.';
REVOKE EXECUTE ON FUNCTION line_delete_baselines FROM PUBLIC;
GRANT EXECUTE ON FUNCTION line_delete_baselines TO lineproof_serve;

CREATE TABLE supply_refused (
    import integer NOT NULL,
    place  bigint  NOT NULL,
    field  text    NOT NULL,
    reason text    NOT NULL,
    PRIMARY KEY (import, place, field)
);
COMMENT ON TABLE supply_refused IS 'Rejected rows of a file: the line of the file, the column and the reason. Only the first hundred thousand of each import.';

CREATE TABLE supply_refused_value (
    import    integer     NOT NULL,
    place     bigint      NOT NULL,
    field     text        NOT NULL,
    number    text        NOT NULL,
    value     text        NOT NULL,
    stored_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (import, place, field)
);
CREATE INDEX supply_refused_value_age ON supply_refused_value (stored_at);
COMMENT ON TABLE supply_refused_value IS 'What stood in rejected rows of a file, shortened, for the people of the operator that sent it. Deleted after 30 days; supply_refused stays.';
COMMENT ON COLUMN supply_refused_value.number IS 'The phone number as in the file; empty if the line has none that can be read.';
COMMENT ON COLUMN supply_refused_value.value IS 'The value of the column as in the file.';

CREATE TABLE supply_example (
    import    integer     NOT NULL,
    kind      text        NOT NULL CHECK (kind IN ('added', 'changed', 'ended')),
    place     smallint    NOT NULL CHECK (place BETWEEN 1 AND 10),
    number    text        NOT NULL,
    before    text        NOT NULL,
    after     text        NOT NULL,
    stored_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (import, kind, place)
);
CREATE INDEX supply_example_age ON supply_example (stored_at);
COMMENT ON TABLE supply_example IS 'Examples of what a held file would change, at most ten of each kind, for those who decide about it. Deleted after 30 days.';
COMMENT ON COLUMN supply_example.before IS 'The line as it is stored, in words; empty for a number of which nothing is known.';
COMMENT ON COLUMN supply_example.after IS 'The line as the file would leave it, in words.';

CREATE TABLE line_order (
    id           uuid        PRIMARY KEY,
    number       bigint      NOT NULL,
    action       text        NOT NULL CHECK (action IN ('BAR', 'UNBAR', 'BLACKLIST', 'RELEASE', 'VOID', 'CONFIRM')),
    state        text        NOT NULL CHECK (state IN ('PENDING', 'UNCONFIRMED', 'DONE', 'WITHDRAWN')),
    reason       text        NOT NULL,
    asked_kind   text        NOT NULL CHECK (asked_kind IN ('client', 'account', 'operator')),
    asked_by     uuid,
    asked_at     timestamptz NOT NULL,
    second_kind  text        CHECK (second_kind IN ('client', 'account', 'operator')),
    second_by    uuid,
    second_at    timestamptz,
    effective_at timestamptz NOT NULL,
    seq          bigint,
    bar_reason   text        NOT NULL,
    bar_scope    text        NOT NULL,
    given_at     text        NOT NULL,
    event        text        NOT NULL,
    lapses_at    timestamptz,
    rejected_for text        NOT NULL DEFAULT '' CHECK (char_length(rejected_for) <= 500),
    CONSTRAINT line_order_lapses CHECK (state <> 'UNCONFIRMED' OR lapses_at IS NOT NULL AND seq IS NOT NULL),
    CONSTRAINT line_order_two_people CHECK (state <> 'DONE' OR second_kind IS NULL OR (second_kind, second_by) IS DISTINCT FROM (asked_kind, asked_by))
);
CREATE INDEX line_order_pending ON line_order (asked_at) WHERE state IN ('PENDING', 'UNCONFIRMED');
-- Who requested an order that was refused is notified of it.
CREATE INDEX line_order_refused ON line_order (second_at) WHERE state = 'WITHDRAWN';
-- The page of a number lists the orders about it.
CREATE INDEX line_order_number ON line_order (number, asked_at);
COMMENT ON TABLE line_order IS 'Orders of the regulator about numbers. One that lowers a guard waits until a second person confirms it; a bar acts at once, and ends if nobody confirms it.';
COMMENT ON COLUMN line_order.lapses_at IS 'When a bar by one person ends, or would have ended, unless a second one confirms it; null for other orders. Nothing is written then.';
COMMENT ON COLUMN line_order.bar_reason IS 'Of a bar, as given; so are bar_scope, given_at (the time it names; empty for now) and event (the seq that a VOID or CONFIRM names). A confirmation reads them.';
COMMENT ON COLUMN line_order.asked_by IS 'The client or account that gave the order; null for the operator at the command line. second_by is the same for who confirmed or withdrew it.';
COMMENT ON COLUMN line_order.rejected_for IS 'As in approval.';
COMMENT ON COLUMN line_order.seq IS 'The event in line_event that carried the order out.';

GRANT SELECT, INSERT ON supplier, supply_refused TO lineproof_serve;
GRANT SELECT, INSERT, DELETE ON supply_refused_value, supply_example TO lineproof_serve;
GRANT SELECT, INSERT, UPDATE ON supply_day, supply_share, supply_announced, supply_reach, supply_import, line_order TO lineproof_serve;
GRANT SELECT ON supplier, supply_day, supply_share, supply_announced, supply_reach, supply_import, supply_refused, supply_refused_value, supply_example, line_order TO lineproof_read;

-- +goose Down
DROP TABLE line_order;
DROP TABLE supply_example;
DROP TABLE supply_refused_value;
DROP TABLE supply_refused;
DROP FUNCTION line_delete_baselines;
DROP TABLE supply_import;
DROP TABLE supply_reach;
DROP TABLE supply_announced;
DROP TABLE supply_share;
DROP TABLE supply_day;
DROP TABLE supplier;
