-- +goose Up
-- The public log. Its order is in these tables and nowhere else; what is published is derived from them.
CREATE TABLE log_entry (
    idx   bigint      NOT NULL CHECK (idx >= 0),
    at    timestamptz NOT NULL,
    kind  smallint    NOT NULL CHECK (kind BETWEEN 1 AND 255),
    epoch bigint,
    n     bigint,
    entry bytea       NOT NULL,
    PRIMARY KEY (idx, at),
    UNIQUE (epoch, n, at),
    CHECK ((kind = 1) = (epoch IS NOT NULL AND n IS NOT NULL))
) PARTITION BY RANGE (at);
COMMENT ON TABLE log_entry IS 'The entries of the public log, each with its index for ever. Append-only.';
COMMENT ON COLUMN log_entry.at IS 'The time in the entry. For a batch of the journal it is the time of the batch.';
COMMENT ON COLUMN log_entry.epoch IS 'With n, the key of the batch in the journal that the entry is about.';
COMMENT ON COLUMN log_entry.entry IS 'The bytes that are published, as docs/reference/public-log.md describes.';

CREATE TABLE log_head (
    one    boolean     PRIMARY KEY DEFAULT true CHECK (one),
    origin text        NOT NULL,
    began  timestamptz NOT NULL,
    size   bigint      NOT NULL CHECK (size >= 0),
    edge   bytea       NOT NULL,
    root   bytea       NOT NULL CHECK (octet_length(root) = 32),
    seen   pg_snapshot NOT NULL,
    since  timestamptz NOT NULL,
    system bigint      NOT NULL
);
COMMENT ON TABLE log_head IS 'The end of the public log, in one row. Who adds entries locks it.';
COMMENT ON COLUMN log_head.began IS 'When the log was turned on. Batches from before are not in it.';
COMMENT ON COLUMN log_head.edge IS 'The roots of the complete subtrees, from left to right: what is needed to add the next entry.';
COMMENT ON COLUMN log_head.seen IS 'The snapshot in which batches were last read. The next are those that it does not see.';
COMMENT ON COLUMN log_head.since IS 'When batches were last added.';
COMMENT ON COLUMN log_head.system IS 'The system identifier of the database cluster to whose transactions seen belongs.';

CREATE TABLE log_checkpoint (
    size bigint      PRIMARY KEY CHECK (size > 0),
    root bytea       NOT NULL CHECK (octet_length(root) = 32),
    at   timestamptz NOT NULL
);
COMMENT ON TABLE log_checkpoint IS 'The sizes of the public log with their roots. Only these may be signed.';

CREATE TABLE log_published (
    one       boolean     PRIMARY KEY DEFAULT true CHECK (one),
    written   bigint      NOT NULL CHECK (written >= published),
    published bigint      NOT NULL CHECK (published >= 0),
    note      text        NOT NULL,
    at        timestamptz NOT NULL
);
COMMENT ON TABLE log_published IS 'How much of the public log is published, in one row.';
COMMENT ON COLUMN log_published.written IS 'Up to which size the tiles are durable.';
COMMENT ON COLUMN log_published.published IS 'The size of the newest signed checkpoint. No smaller one is signed any more.';
COMMENT ON COLUMN log_published.note IS 'That checkpoint, with its signatures.';

GRANT SELECT, INSERT ON log_published TO lineproof_serve;
GRANT UPDATE (written, published, note, at) ON log_published TO lineproof_serve;
GRANT SELECT, INSERT ON log_entry, log_checkpoint TO lineproof_serve;
GRANT SELECT, INSERT ON log_head TO lineproof_serve;
GRANT UPDATE (size, edge, root, seen, since, system) ON log_head TO lineproof_serve;
GRANT SELECT ON log_entry, log_head, log_checkpoint, log_published TO lineproof_read;

-- +goose Down
DROP TABLE log_published;
DROP TABLE log_checkpoint;
DROP TABLE log_head;
DROP TABLE log_entry;
