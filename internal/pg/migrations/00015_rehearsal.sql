-- +goose Up
-- A clock belongs to the key and not to its organisation: two developers, or
-- two pipelines, of one bank rehearse beside each other, each with its own key.
CREATE TABLE rehearsal_clock (
    key_id     uuid        PRIMARY KEY REFERENCES api_key,
    begun_at   timestamptz NOT NULL,
    ahead      bigint      NOT NULL CHECK (ahead BETWEEN 0 AND 315360000),
    updated_at timestamptz NOT NULL
);
COMMENT ON TABLE rehearsal_clock IS 'The test clocks of the keys for tests that have set one. They move test numbers only; nothing else goes by them.';
COMMENT ON COLUMN rehearsal_clock.begun_at IS 'Day 0 of the lives of the test numbers.';
COMMENT ON COLUMN rehearsal_clock.ahead IS 'By how many seconds the test clock is ahead of the time of day; at most ten years.';

GRANT SELECT, INSERT, UPDATE ON rehearsal_clock TO lineproof_serve;
GRANT SELECT ON rehearsal_clock TO lineproof_read;

-- +goose Down
DROP TABLE rehearsal_clock;
