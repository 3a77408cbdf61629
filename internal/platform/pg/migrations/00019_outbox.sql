-- +goose Up
CREATE SEQUENCE line_change_n;
COMMENT ON SEQUENCE line_change_n IS 'The n of line_change. Never cached: a writer draws its numbers after it has locked the lines, so that n orders the changes of one number.';

CREATE TABLE line_change (
    n              bigint      PRIMARY KEY DEFAULT nextval('line_change_n'),
    number         bigint,
    reported_at    timestamptz NOT NULL,
    lines          bigint,
    from_version   integer,
    version        integer,
    effective      integer,
    until          integer,
    import         integer     NOT NULL,
    kind           smallint    NOT NULL CHECK (kind BETWEEN 1 AND 20 OR kind BETWEEN 98 AND 102),
    before         smallint CHECK (before BETWEEN 0 AND 13),
    after          smallint CHECK (after BETWEEN 0 AND 13),
    from_network   smallint,
    network        smallint    NOT NULL,
    correction     boolean     NOT NULL,
    CHECK ((number IS NULL) = (lines IS NOT NULL))
);
ALTER SEQUENCE line_change_n OWNED BY line_change.n;
COMMENT ON TABLE line_change IS 'The outbox: what changed about lines, written in the transaction that changed them and read up to the settled horizon. Kept for some days after it was read. Times are seconds since 2020-01-01 UTC (line_time).';
COMMENT ON COLUMN line_change.n IS 'In the order of the changes of one number. Has gaps, and becomes visible out of order: read it by package outbox only.';
COMMENT ON COLUMN line_change.number IS 'Null for a class change: many lines at once, which are not listed.';
COMMENT ON COLUMN line_change.lines IS 'Of a class change: how many lines.';
COMMENT ON COLUMN line_change.from_version IS 'Of line_now before the change; 0 if there was no row.';
COMMENT ON COLUMN line_change.until IS 'When the status after the change ends by itself; null if it does not.';
COMMENT ON COLUMN line_change.import IS 'The import that made the change; 0 for a call of the API.';
COMMENT ON COLUMN line_change.kind IS 'What happened; see package outbox.';
COMMENT ON COLUMN line_change.before IS 'Code of the status before and after, as if the supply were fresh; see package outbox.';
COMMENT ON COLUMN line_change.correction IS 'It changes what was known about an earlier time.';

CREATE TABLE outbox_mark (
    reader text   PRIMARY KEY,
    n      bigint NOT NULL
);
COMMENT ON TABLE outbox_mark IS 'Up to where each reader of the outbox has read. Whoever locks a row, reader or watch-list, is before or after a whole batch of changes.';
INSERT INTO outbox_mark (reader, n) VALUES ('feed', 0), ('impact', 0), ('impact-recent', 0);

CREATE TABLE line_timer (
    number bigint  PRIMARY KEY,
    due    integer NOT NULL,
    told   boolean NOT NULL DEFAULT false
);
CREATE INDEX line_timer_due ON line_timer (due) WHERE NOT told;
COMMENT ON TABLE line_timer IS 'The announced churn dates of lines, written in the transaction that stores the announcement, so that watchers are told when one is reached. Whether it still holds is decided then. Kept for some days after it was told.';
COMMENT ON COLUMN line_timer.due IS 'The announced churn date, in seconds since 2020-01-01 UTC (line_time).';
COMMENT ON COLUMN line_timer.told IS 'It was reached and passed on: the same date is not told again.';

-- The number is here and not in approval, because rows of approval are never deleted.
CREATE TABLE line_seal (
    id         uuid        PRIMARY KEY,
    number     bigint      NOT NULL,
    until      timestamptz NOT NULL,
    active     boolean     NOT NULL,
    asked_at   timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX line_seal_number ON line_seal (number) WHERE active;
COMMENT ON TABLE line_seal IS 'Numbers about which no organisation is told anything before a time, by two people. A row is deleted when the seal ends; the changes of a number wait while it has an active one.';
COMMENT ON COLUMN line_seal.id IS 'The subject of the approvals.';
COMMENT ON COLUMN line_seal.active IS 'A second person has confirmed it.';
COMMENT ON COLUMN line_seal.expires_at IS 'Until when it can be confirmed.';

CREATE TABLE sealed_change (
    n              bigint      PRIMARY KEY,
    number         bigint      NOT NULL,
    reported_at    timestamptz NOT NULL,
    from_version   integer,
    version        integer,
    effective      integer,
    until          integer,
    import         integer     NOT NULL,
    kind           smallint    NOT NULL CHECK (kind BETWEEN 1 AND 20 OR kind BETWEEN 98 AND 102),
    before         smallint CHECK (before BETWEEN 0 AND 13),
    after          smallint CHECK (after BETWEEN 0 AND 13),
    from_network   smallint,
    network        smallint    NOT NULL,
    correction     boolean     NOT NULL,
    feed           boolean     NOT NULL
);
CREATE INDEX sealed_change_number ON sealed_change (number);
COMMENT ON TABLE sealed_change IS 'The changes of sealed numbers that the readers of line_change have set aside, with the columns of line_change. They are passed on in the order of n when the last seal of the number ends.';
COMMENT ON COLUMN sealed_change.feed IS 'The feeds have not told it. False if they told it before the number was sealed, and only notices about past answers are to follow.';

GRANT SELECT, USAGE ON SEQUENCE line_change_n TO lineproof_serve;
GRANT SELECT, INSERT, DELETE ON line_change TO lineproof_serve;
GRANT SELECT, UPDATE ON outbox_mark TO lineproof_serve;
GRANT SELECT, INSERT, UPDATE, DELETE ON line_timer TO lineproof_serve;
GRANT SELECT, INSERT, UPDATE (until, active), DELETE ON line_seal TO lineproof_serve;
GRANT SELECT, INSERT, UPDATE (feed), DELETE ON sealed_change TO lineproof_serve;
GRANT SELECT (id, until, active, asked_at, expires_at) ON line_seal TO lineproof_read;

-- +goose Down
DROP TABLE sealed_change;
DROP TABLE line_seal;
DROP TABLE line_timer;
DROP TABLE outbox_mark;
DROP TABLE line_change;
