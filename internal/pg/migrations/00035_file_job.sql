-- +goose Up
CREATE TABLE file_job (
    id          uuid        PRIMARY KEY,
    entity_id   uuid        NOT NULL REFERENCES entity,
    mode        text        NOT NULL CHECK (mode IN ('live', 'test')),
    key_id      uuid        NOT NULL REFERENCES api_key,
    name        text        NOT NULL,
    state       text        NOT NULL CHECK (state IN ('waiting', 'checking', 'running', 'writing', 'done', 'cancelled', 'failed')),
    reason      text        NOT NULL DEFAULT '',
    file        uuid,
    bytes       bigint      NOT NULL DEFAULT 0 CHECK (bytes >= 0),
    rows        bigint      NOT NULL DEFAULT 0 CHECK (rows >= 0),
    place       bigint      NOT NULL DEFAULT 0 CHECK (place >= 0),
    answered    bigint      NOT NULL DEFAULT 0 CHECK (answered >= 0),
    rejected    bigint      NOT NULL DEFAULT 0 CHECK (rejected >= 0),
    created_at  timestamptz NOT NULL,
    received_at timestamptz,
    started_at  timestamptz,
    finished_at timestamptz,
    result      uuid,
    kept_until  timestamptz,
    CHECK ((state = 'done') = (kept_until IS NOT NULL))
) WITH (fillfactor = 50);
CREATE INDEX file_job_entity ON file_job (entity_id, mode, created_at);
CREATE INDEX file_job_open ON file_job (state) WHERE state IN ('waiting', 'checking', 'running', 'writing');
CREATE INDEX file_job_files ON file_job (id) WHERE file IS NOT NULL OR result IS NOT NULL;
COMMENT ON TABLE file_job IS 'Files of numbers that organisations send to be verified. The numbers are in the file store, never here.';
COMMENT ON COLUMN file_job.key_id IS 'The key under which every row is recorded.';
COMMENT ON COLUMN file_job.reason IS 'Why it failed.';
COMMENT ON COLUMN file_job.file IS 'The key of the sent file in the store; null before it is sent and once it is deleted.';
COMMENT ON COLUMN file_job.rows IS 'Rows of the file; known once it is checked.';
COMMENT ON COLUMN file_job.place IS 'The line of the file up to which its rows are recorded; 0 before the first.';
COMMENT ON COLUMN file_job.result IS 'The key of the result in the store; null before it is written and once it is deleted.';
COMMENT ON COLUMN file_job.kept_until IS 'When the result is deleted.';

CREATE TABLE file_job_chunk (
    job        uuid        NOT NULL REFERENCES file_job ON DELETE CASCADE,
    place      bigint      NOT NULL CHECK (place > 0),
    epoch      bigint,
    n          bigint,
    at         timestamptz,
    unanswered bigint[]    NOT NULL DEFAULT '{}',
    reasons    text[]      NOT NULL DEFAULT '{}',
    PRIMARY KEY (job, place),
    CHECK (num_nulls(epoch, n, at) IN (0, 3)),
    CHECK (cardinality(unanswered) = cardinality(reasons))
);
COMMENT ON TABLE file_job_chunk IS 'Which batch of the journal has the records of which rows of a file job, until its result is deleted. Inserted in the transaction of the batch.';
COMMENT ON COLUMN file_job_chunk.place IS 'The line of the file after the chunk. It begins at the place of the chunk before.';
COMMENT ON COLUMN file_job_chunk.epoch IS 'With n and at the key of the batch; null if no row of the chunk has a record.';
COMMENT ON COLUMN file_job_chunk.unanswered IS 'Lines whose number could be read and has no answer, because a test number simulates an error.';
COMMENT ON COLUMN file_job_chunk.reasons IS 'Why, for each of them.';

GRANT SELECT, INSERT, UPDATE ON file_job TO lineproof_serve;
GRANT SELECT, INSERT, DELETE ON file_job_chunk TO lineproof_serve;
GRANT SELECT ON file_job, file_job_chunk TO lineproof_read;

-- +goose Down
DROP TABLE file_job_chunk;
DROP TABLE file_job;
