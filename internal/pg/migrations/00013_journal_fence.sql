-- +goose Up
CREATE TABLE journal_fence (
    node text        PRIMARY KEY,
    at   timestamptz NOT NULL
);
COMMENT ON TABLE journal_fence IS 'A row for each node that ever found a batch of unknown outcome written. Its change is a commit behind that batch in the log: once it is confirmed, so is the batch.';

GRANT SELECT, INSERT, UPDATE ON journal_fence TO lineproof_serve;
GRANT SELECT ON journal_fence TO lineproof_read;

-- +goose Down
DROP TABLE journal_fence;
