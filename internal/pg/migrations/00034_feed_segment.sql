-- +goose Up
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

-- +goose Down
DROP TABLE feed_segment;
