-- +goose Up
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
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
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

GRANT SELECT, INSERT ON refused_request TO lineproof_serve;
GRANT SELECT ON refused_request TO lineproof_read;

-- +goose Down
DROP FUNCTION refused_request_make_partitions;
DROP TABLE refused_request;
