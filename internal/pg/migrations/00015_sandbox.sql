-- +goose Up
-- The clock belongs to the key and not to the entity, so that two developers or
-- pipelines of one entity can test at the same time, each with its own key.
CREATE TABLE rehearsal_clock (
    key_id     uuid        PRIMARY KEY REFERENCES api_key,
    begun_at   timestamptz NOT NULL,
    ahead      bigint      NOT NULL CHECK (ahead BETWEEN 0 AND 315360000),
    updated_at timestamptz NOT NULL
);
COMMENT ON TABLE rehearsal_clock IS 'The test clocks that test keys have set. A test clock affects only the answers about test numbers.';
COMMENT ON COLUMN rehearsal_clock.begun_at IS 'Day 0 of the histories of the test numbers.';
COMMENT ON COLUMN rehearsal_clock.ahead IS 'By how many seconds the test clock is ahead of the real time; at most ten years.';

GRANT SELECT, INSERT, UPDATE ON rehearsal_clock TO lineproof_serve;
GRANT SELECT ON rehearsal_clock TO lineproof_read;

-- +goose Down
DROP TABLE rehearsal_clock;
