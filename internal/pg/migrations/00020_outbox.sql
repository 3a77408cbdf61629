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
    kind           smallint    NOT NULL,
    before         smallint,
    after          smallint,
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

GRANT SELECT, USAGE ON SEQUENCE line_change_n TO lineproof_serve;
GRANT SELECT, INSERT, DELETE ON line_change TO lineproof_serve;

-- +goose Down
DROP TABLE line_change;
