-- +goose Up
CREATE TABLE idempotency (
    caller      uuid        NOT NULL,
    operation   text        NOT NULL,
    key_mac     bytea       NOT NULL,
    body_mac    bytea       NOT NULL,
    answer      bytea       NOT NULL,
    created_at  timestamptz NOT NULL,
    replayed_at timestamptz,
    PRIMARY KEY (caller, operation, key_mac)
);
CREATE INDEX idempotency_created ON idempotency (created_at);
COMMENT ON TABLE idempotency IS 'The first response to a request with an Idempotency-Key, kept for a day and written in the transaction of its effect.';
COMMENT ON COLUMN idempotency.replayed_at IS 'Written at every replay: the commit of that write proves that the first one is durable, too.';

-- lineproof_read may not read stored responses.
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency TO lineproof_serve;

-- +goose Down
DROP TABLE idempotency;
