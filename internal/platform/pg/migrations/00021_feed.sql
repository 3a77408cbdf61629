-- +goose Up
CREATE TABLE feed_epoch (
    one        boolean     PRIMARY KEY DEFAULT true CHECK (one),
    epoch      integer     NOT NULL CHECK (epoch > 0),
    changed_at timestamptz NOT NULL
);
INSERT INTO feed_epoch (epoch, changed_at) VALUES (1, now());
COMMENT ON TABLE feed_epoch IS 'One row: the epoch of every feed. Only the owner raises it, after a restore from a backup.';
COMMENT ON COLUMN feed_epoch.epoch IS 'After a restore: the time in seconds since 2020-01-01 UTC, so that two restores of the same backup give two epochs.';

CREATE TABLE feed_head (
    entity_id uuid    NOT NULL REFERENCES entity,
    mode      text    NOT NULL CHECK (mode IN ('live', 'test')),
    epoch     integer NOT NULL DEFAULT 1 CHECK (epoch > 0),
    seq       bigint  NOT NULL DEFAULT 0 CHECK (seq >= 0),
    hash      bytea   NOT NULL DEFAULT decode(repeat('00', 32), 'hex') CHECK (octet_length(hash) = 32),
    PRIMARY KEY (entity_id, mode)
) WITH (fillfactor = 50);
COMMENT ON TABLE feed_head IS 'The end of each feed: what an entity is told, in one order. Who adds entries locks the row.';
COMMENT ON COLUMN feed_head.epoch IS 'Raised after a restore from a backup, so that no id is given twice.';
COMMENT ON COLUMN feed_head.seq IS 'Of the last entry; 0 before the first.';
COMMENT ON COLUMN feed_head.hash IS 'Of the last entry; zeros before the first.';

CREATE TABLE feed_entry (
    entity_id uuid        NOT NULL,
    mode      text        NOT NULL,
    seq       bigint      NOT NULL CHECK (seq > 0),
    at        timestamptz NOT NULL,
    number    bigint,
    epoch     integer     NOT NULL,
    type      text        NOT NULL,
    body      bytea,
    digest    bytea       CHECK (octet_length(digest) = 32),
    hash      bytea       NOT NULL CHECK (octet_length(hash) = 32),
    PRIMARY KEY (entity_id, mode, seq, at),
    CHECK ((body IS NULL) = (digest IS NOT NULL))
) PARTITION BY RANGE (at);
COMMENT ON TABLE feed_entry IS 'The entries of the feeds, without gaps. Append-only for the service; only the owner erases a body.';
COMMENT ON COLUMN feed_entry.number IS 'The number that the entry is about, so that it can be erased; null if it is about none.';
COMMENT ON COLUMN feed_entry.type IS 'The type of the event, without org.lineproof.';
COMMENT ON COLUMN feed_entry.body IS 'The event as canonical JSON (RFC 8785), without the member lpchain. Null if it was erased.';
COMMENT ON COLUMN feed_entry.digest IS 'SHA-256 of an erased body, so that the chain can still be checked. The body had a salt: the digest does not betray it.';
COMMENT ON COLUMN feed_entry.hash IS 'SHA-256(hash of the entry before || SHA-256(body)).';

CREATE TABLE feed_segment (
    day        date        PRIMARY KEY,
    file       uuid        NOT NULL UNIQUE,
    key        bytea       CHECK (octet_length(key) = 32),
    sha256     bytea       NOT NULL CHECK (octet_length(sha256) = 32),
    entries    bigint      NOT NULL CHECK (entries > 0),
    bytes      bigint      NOT NULL,
    written_at timestamptz NOT NULL,
    lapsed_at  timestamptz,
    CHECK ((key IS NULL) = (lapsed_at IS NOT NULL))
);
COMMENT ON TABLE feed_segment IS 'The old days of the feeds, each in an encrypted file of the blob store. Only the owner reads and writes it.';
COMMENT ON COLUMN feed_segment.key IS 'The key of the file (AES-256-GCM). Null once it has lapsed: then nobody can read the file, wherever copies of it are.';
COMMENT ON COLUMN feed_segment.sha256 IS 'Of the encrypted file.';

CREATE TABLE class_told (
    subject text PRIMARY KEY,
    value   text NOT NULL
);
COMMENT ON TABLE class_told IS 'What was last told to everybody who watches: the version of the policy and of the numbering plan, and whether the supply of each network is fresh or stale. Written with the entries of the feeds, so that a change is told once.';
COMMENT ON COLUMN class_told.subject IS 'policy, plan, or supply and the code of a network.';

CREATE TABLE impact_notice (
    request_id      uuid        NOT NULL,
    events          bigint      NOT NULL,
    entity_id       uuid        NOT NULL REFERENCES entity,
    event_id        text        NOT NULL,
    told_at         timestamptz NOT NULL,
    acknowledged_at timestamptz,
    digest          bytea       CHECK (octet_length(digest) = 32),
    PRIMARY KEY (request_id, events),
    UNIQUE (entity_id, event_id)
);
CREATE INDEX impact_notice_told ON impact_notice USING brin (told_at);
CREATE INDEX impact_notice_entity ON impact_notice (entity_id, told_at, request_id);
COMMENT ON TABLE impact_notice IS 'The answers of which an entity was told that they would be different now, with the entry of its feed. The last notice of an answer is the one that counts. Has no number, so that erasing a number leaves nothing here.';
COMMENT ON COLUMN impact_notice.events IS 'How many events about the number the answer was recomputed by. It orders the notices of an answer, also when two passes find the same answer at once.';
COMMENT ON COLUMN impact_notice.event_id IS 'The id of the event in the feed of the live keys, which the entity acknowledges.';
COMMENT ON COLUMN impact_notice.digest IS 'SHA-256 of what the answer would say, so that it is told once; null if it would again say what it said.';
COMMENT ON COLUMN impact_notice.acknowledged_at IS 'When the entity confirmed that it has dealt with the notice.';

GRANT SELECT ON feed_epoch TO lineproof_serve;
GRANT SELECT, INSERT ON feed_head, feed_entry TO lineproof_serve;
GRANT UPDATE (seq, hash) ON feed_head TO lineproof_serve;
GRANT SELECT, INSERT, UPDATE ON class_told TO lineproof_serve;
GRANT SELECT, INSERT, DELETE ON impact_notice TO lineproof_serve;
GRANT UPDATE (acknowledged_at) ON impact_notice TO lineproof_serve;

-- +goose Down
DROP TABLE impact_notice;
DROP TABLE class_told;
DROP TABLE feed_segment;
DROP TABLE feed_entry;
DROP TABLE feed_head;
DROP TABLE feed_epoch;
