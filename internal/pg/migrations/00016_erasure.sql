-- +goose Up
CREATE TABLE erasure (
    id           uuid        PRIMARY KEY,
    ground       text        NOT NULL CHECK (ground IN ('request', 'court', 'mistake', 'retention')),
    state        text        NOT NULL CHECK (state IN ('waiting', 'confirmed', 'marked', 'finished')),
    number       bigint,
    request_ids  uuid[],
    asked_at     timestamptz NOT NULL,
    confirmed_at timestamptz,
    finished_at  timestamptz,
    records      bigint      NOT NULL DEFAULT 0,
    held         bigint      NOT NULL DEFAULT 0
);
COMMENT ON TABLE erasure IS 'Orders to erase the personal part of records. Two people give them; the policy gives those of the ground retention.';
COMMENT ON COLUMN erasure.number IS 'The number whose records are erased, until they are; or null.';
COMMENT ON COLUMN erasure.request_ids IS 'The records to erase, until they are; or null.';
COMMENT ON COLUMN erasure.state IS 'waiting for a second person; confirmed; marked: the records are chosen and listed; finished.';
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

GRANT SELECT, INSERT, UPDATE (state, confirmed_at) ON erasure TO lineproof_serve;
GRANT SELECT, INSERT, UPDATE (ended_at) ON legal_hold TO lineproof_serve;
GRANT SELECT ON erasure, legal_hold TO lineproof_read;

-- +goose Down
DROP TABLE legal_hold;
DROP TABLE erasure;
