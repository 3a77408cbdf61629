-- +goose Up
CREATE TABLE erasure (
    id           uuid        PRIMARY KEY,
    ground       text        NOT NULL CHECK (ground IN ('request', 'court', 'mistake', 'retention')),
    state        text        NOT NULL CHECK (state IN ('waiting', 'confirmed', 'marked', 'finished')),
    number       bigint,
    request_ids  uuid[],
    asked_at     timestamptz NOT NULL,
    confirmed_at timestamptz,
    marked_at    timestamptz,
    finished_at  timestamptz,
    records      bigint      NOT NULL DEFAULT 0,
    held         bigint      NOT NULL DEFAULT 0
);
COMMENT ON TABLE erasure IS 'Orders to erase the personal part of records. Two people give them; the policy gives those of the ground retention.';
COMMENT ON COLUMN erasure.number IS 'The number whose records are erased, until they are; or null.';
COMMENT ON COLUMN erasure.request_ids IS 'The records to erase, until they are; or null.';
COMMENT ON COLUMN erasure.state IS 'waiting for a second person; confirmed; marked: the records are chosen and listed; finished.';
COMMENT ON COLUMN erasure.marked_at IS 'When the records were chosen, also after a restore; the public log counts them in that month.';
COMMENT ON COLUMN erasure.held IS 'How many records stay because of a legal hold.';

CREATE TABLE legal_hold (
    id        uuid        PRIMARY KEY,
    number    bigint,
    entity_id uuid,
    reason    text        NOT NULL,
    placed_at timestamptz NOT NULL,
    ended_at  timestamptz,
    CHECK ((number IS NULL) <> (entity_id IS NULL))
);
COMMENT ON TABLE legal_hold IS 'Numbers and organisations whose records must not be erased while the hold is in force, because a court or an investigation needs them.';

CREATE TABLE journal_erased (
    request_id uuid        PRIMARY KEY,
    at         timestamptz NOT NULL,
    hash       bytea       NOT NULL CHECK (octet_length(hash) = 32),
    erasure    uuid        NOT NULL
);
CREATE INDEX journal_erased_at ON journal_erased (at);
COMMENT ON TABLE journal_erased IS 'The records whose personal part an erasure covers. Only the owner adds rows, and no row changes: a record without one must not be erased.';
COMMENT ON COLUMN journal_erased.at IS 'The time of the record.';
COMMENT ON COLUMN journal_erased.erasure IS 'The erasure, in the table of that name.';

CREATE TABLE journal_erased_day (
    day     date PRIMARY KEY,
    erasure uuid NOT NULL
);
COMMENT ON TABLE journal_erased_day IS 'The days of which every personal part is erased, because the policy keeps it no longer.';

CREATE TABLE journal_rewrite (
    day date PRIMARY KEY
);
COMMENT ON TABLE journal_rewrite IS 'The days of which records were erased and whose file in the database still has their bytes. It is written anew when the day has ended.';

CREATE TABLE journal_replaced (
    key        uuid        PRIMARY KEY,
    day        date        NOT NULL,
    by_sha256  bytea       NOT NULL CHECK (octet_length(by_sha256) = 32),
    at         timestamptz NOT NULL,
    deleted_at timestamptz
);
COMMENT ON TABLE journal_replaced IS 'The files of archives that were written anew after an erasure. They are deleted when the new archive is recorded.';
COMMENT ON COLUMN journal_replaced.by_sha256 IS 'SHA-256 of the manifest of the new archive.';

GRANT SELECT, INSERT, UPDATE (state, confirmed_at) ON erasure TO lineproof_serve;
GRANT SELECT, INSERT, UPDATE (ended_at) ON legal_hold TO lineproof_serve;
GRANT SELECT ON journal_erased, journal_erased_day, journal_rewrite, journal_replaced TO lineproof_serve;
GRANT SELECT ON erasure, legal_hold, journal_erased, journal_erased_day, journal_rewrite, journal_replaced TO lineproof_read;

-- +goose Down
DROP TABLE journal_replaced;
DROP TABLE journal_rewrite;
DROP TABLE journal_erased_day;
DROP TABLE journal_erased;
DROP TABLE legal_hold;
DROP TABLE erasure;
