-- +goose Up
-- A record that a restore has lost can come back by its receipt. The other records of its batch may stay lost, so that it
-- can't be in journal_entry, where batches are whole.
CREATE TABLE journal_returned (
    request_id    uuid        PRIMARY KEY,
    at            timestamptz NOT NULL,
    epoch         bigint      NOT NULL,
    n             bigint      NOT NULL,
    idx           bigint      NOT NULL CHECK (idx >= 0 AND idx < count),
    count         integer     NOT NULL CHECK (count > 0),
    root          bytea       NOT NULL CHECK (octet_length(root) = 32),
    path          bytea       NOT NULL CHECK (octet_length(path) % 32 = 0),
    public        bytea       NOT NULL,
    personal      bytea,
    personal_hash bytea       CHECK (octet_length(personal_hash) = 32),
    reason        text        NOT NULL,
    accepted_at   timestamptz NOT NULL,
    CHECK ((personal IS NULL) <> (personal_hash IS NULL))
);
CREATE INDEX journal_returned_at ON journal_returned (at);
COMMENT ON TABLE journal_returned IS 'Records that a restore of the database had lost, and that came back by their receipts. Only the owner adds rows, and changes them only by an erasure.';
COMMENT ON COLUMN journal_returned.epoch IS 'With n, the key of the batch of the record, which is lost.';
COMMENT ON COLUMN journal_returned.path IS 'The hashes that lead from the record, at idx of count, to the root of its batch, 32 bytes each.';
COMMENT ON COLUMN journal_returned.public IS 'The public part of the record in its canonical encoding, as docs/reference/journal-record.md describes.';
COMMENT ON COLUMN journal_returned.personal IS 'The personal part with the nonce behind it. Of an erased record only personal_hash is left.';
GRANT SELECT ON journal_returned TO lineproof_serve, lineproof_read;

-- +goose Down
DROP TABLE journal_returned;
