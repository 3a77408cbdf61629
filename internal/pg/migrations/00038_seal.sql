-- +goose Up
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
    kind           smallint    NOT NULL,
    before         smallint,
    after          smallint,
    from_network   smallint,
    network        smallint    NOT NULL,
    correction     boolean     NOT NULL,
    feed           boolean     NOT NULL
);
CREATE INDEX sealed_change_number ON sealed_change (number);
COMMENT ON TABLE sealed_change IS 'The changes of sealed numbers that the readers of line_change have set aside, with the columns of line_change. They are passed on in the order of n when the last seal of the number ends.';
COMMENT ON COLUMN sealed_change.feed IS 'The feeds have not told it. False if they told it before the number was sealed, and only notices about past answers are to follow.';

GRANT SELECT, INSERT, UPDATE (until, active), DELETE ON line_seal TO lineproof_serve;
GRANT SELECT, INSERT, UPDATE (feed), DELETE ON sealed_change TO lineproof_serve;
GRANT SELECT (id, until, active, asked_at, expires_at) ON line_seal TO lineproof_read;

-- +goose Down
DROP TABLE sealed_change;
DROP TABLE line_seal;
