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

CREATE TABLE refused_request (
    at         timestamptz NOT NULL,
    id         uuid        NOT NULL,
    entity_id  uuid        NOT NULL,
    key_id     uuid        NOT NULL,
    mode       text        NOT NULL,
    route      text        NOT NULL,
    status     integer     NOT NULL,
    code       text        NOT NULL,
    violations text[]      NOT NULL,
    number_mac bytea,
    correlator text        NOT NULL,
    skipped    bigint      NOT NULL,
    PRIMARY KEY (entity_id, at, id)
) PARTITION BY RANGE (at);
-- Those of a code, and of a code and a key, newest first. A status is a list of codes.
CREATE INDEX refused_request_code ON refused_request (entity_id, code, at, id);
CREATE INDEX refused_request_key ON refused_request (entity_id, key_id, code, at, id);
CREATE INDEX refused_request_number ON refused_request (entity_id, number_mac) WHERE number_mac IS NOT NULL;
CREATE INDEX refused_request_correlator ON refused_request (entity_id, correlator) WHERE correlator <> '';
COMMENT ON TABLE refused_request IS 'Requests with an API key that were refused or failed, for the people of its organisation. A sample above a rate, partitioned by day, dropped after 30 days. No phone number.';
COMMENT ON COLUMN refused_request.id IS 'The X-Request-Id of the response.';
COMMENT ON COLUMN refused_request.violations IS 'What was wrong, each as field and code.';
COMMENT ON COLUMN refused_request.number_mac IS 'HMAC of the organisation and the number under the pepper, so that the organisation can find its requests about a number; null if the request has no valid number.';
COMMENT ON COLUMN refused_request.skipped IS 'How many refused requests of the organisation are not stored since the one before.';

-- The owner creates and drops the partitions on behalf of the serving role, which may
-- not create tables.
-- +goose StatementBegin
CREATE FUNCTION refused_request_make_partitions() RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    today   date := (now() AT TIME ZONE 'UTC')::date;
    child   text;
    changed integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('lineproof partitions of refused requests', 0));
    FOR day IN -1 .. 2 LOOP
        child := 'refused_request_' || to_char(today + day, 'YYYYMMDD');
        IF to_regclass('public.' || child) IS NULL THEN
            EXECUTE format('CREATE TABLE public.%I (LIKE public.refused_request INCLUDING ALL)', child);
            EXECUTE format('ALTER TABLE public.refused_request ATTACH PARTITION public.%I FOR VALUES FROM (%L) TO (%L)', child,
                to_char(today + day, 'YYYY-MM-DD') || ' 00:00:00+00', to_char(today + day + 1, 'YYYY-MM-DD') || ' 00:00:00+00');
            changed := changed + 1;
        END IF;
    END LOOP;
    FOR child IN SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'public.refused_request'::regclass AND c.relname ~ '^refused_request_[0-9]{8}$'
        AND to_date(right(c.relname, 8), 'YYYYMMDD') < today - 30
    LOOP
        EXECUTE format('DROP TABLE public.%I', child);
        changed := changed + 1;
    END LOOP;
    RETURN changed;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION refused_request_make_partitions IS 'Creates the daily partitions of refused_request from yesterday to two days ahead, and drops those older than 30 days; returns how many it created or dropped.';
REVOKE EXECUTE ON FUNCTION refused_request_make_partitions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION refused_request_make_partitions TO lineproof_serve;

CREATE TABLE file_job (
    id          uuid        PRIMARY KEY,
    entity_id   uuid        NOT NULL REFERENCES entity,
    mode        text        NOT NULL CHECK (mode IN ('live', 'test')),
    key_id      uuid        NOT NULL REFERENCES api_key,
    name        text        NOT NULL,
    state       text        NOT NULL CHECK (state IN ('waiting', 'checking', 'held', 'running', 'writing', 'done', 'cancelled', 'failed')),
    reason      text        NOT NULL DEFAULT '',
    file        uuid,
    bytes       bigint      NOT NULL DEFAULT 0 CHECK (bytes >= 0),
    rows        bigint      NOT NULL DEFAULT 0 CHECK (rows >= 0),
    place       bigint      NOT NULL DEFAULT 0 CHECK (place >= 0),
    answered    bigint      NOT NULL DEFAULT 0 CHECK (answered >= 0),
    rejected    bigint      NOT NULL DEFAULT 0 CHECK (rejected >= 0),
    numbers     bigint      NOT NULL DEFAULT 0,
    missed      bigint      NOT NULL DEFAULT 0,
    dense       bigint      NOT NULL DEFAULT 0,
    block       bigint      NOT NULL DEFAULT 0,
    steps       bigint      NOT NULL DEFAULT 0,
    created_at  timestamptz NOT NULL,
    received_at timestamptz,
    started_at  timestamptz,
    finished_at timestamptz,
    result      uuid,
    kept_until  timestamptz,
    CHECK ((state = 'done') = (kept_until IS NOT NULL))
) WITH (fillfactor = 50);
CREATE INDEX file_job_entity ON file_job (entity_id, mode, created_at);
CREATE INDEX file_job_open ON file_job (state) WHERE state IN ('waiting', 'checking', 'held', 'running', 'writing');
CREATE INDEX file_job_files ON file_job (id) WHERE file IS NOT NULL OR result IS NOT NULL;
COMMENT ON TABLE file_job IS 'Files of numbers that organisations send to be verified. The numbers are in the file store, never here.';
COMMENT ON COLUMN file_job.key_id IS 'The key under which every row is recorded.';
COMMENT ON COLUMN file_job.reason IS 'Why it failed.';
COMMENT ON COLUMN file_job.file IS 'With the id, the entity and the mode, the name of the sent file in the store; null before it is sent and once it is deleted.';
COMMENT ON COLUMN file_job.rows IS 'Rows of the file; known once it is checked.';
COMMENT ON COLUMN file_job.numbers IS 'Different numbers of a live file; about how many of them are not allocated (missed), how many lie in dense blocks of the size block, and in equal steps. For staff only.';
COMMENT ON COLUMN file_job.place IS 'The line of the file up to which its rows are recorded; 0 before the first.';
COMMENT ON COLUMN file_job.result IS 'The name of the result in the store, which is made of the id, the entity and the mode; null before it is written and once it is deleted.';
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

-- lineproof_read may not read stored responses.
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency TO lineproof_serve;
GRANT SELECT, INSERT ON refused_request TO lineproof_serve;
GRANT SELECT, INSERT, UPDATE ON file_job TO lineproof_serve;
GRANT SELECT, INSERT, DELETE ON file_job_chunk TO lineproof_serve;
GRANT SELECT ON refused_request, file_job, file_job_chunk TO lineproof_read;

-- +goose Down
DROP TABLE file_job_chunk;
DROP TABLE file_job;
DROP FUNCTION refused_request_make_partitions;
DROP TABLE refused_request;
DROP TABLE idempotency;
