-- +goose Up
CREATE TABLE audit (
    id         uuid        PRIMARY KEY,
    at         timestamptz NOT NULL,
    actor_kind text        NOT NULL CHECK (actor_kind IN ('client', 'account', 'key', 'operator', 'system')),
    actor_id   uuid,
    action     text        NOT NULL,
    subject_id uuid        NOT NULL,
    entity_id  uuid,
    request_id uuid,
    from_addr  inet,
    before     jsonb,
    after      jsonb
);
CREATE INDEX audit_at ON audit (at);
CREATE INDEX audit_entity ON audit (entity_id, at);
CREATE INDEX audit_actor ON audit (actor_id, at);
CREATE INDEX audit_subject ON audit (subject_id, at);
CREATE INDEX audit_request ON audit (request_id, at) WHERE request_id IS NOT NULL;
-- Finds the entries of a rare action or kind of actor without reading the whole trail.
CREATE INDEX audit_sort ON audit (action, actor_kind, at, id);
COMMENT ON TABLE audit IS 'The actions of staff, admins, clients, operators and the service itself, each written in the transaction of the action. Append-only; no foreign keys, so that an entry outlives its subject.';
COMMENT ON COLUMN audit.actor_id IS 'The client, account or API key that acted; null for the operator at the command line and for the service itself.';
COMMENT ON COLUMN audit.subject_id IS 'What was created or changed.';
COMMENT ON COLUMN audit.entity_id IS 'The entity that the action concerns; null for none.';
COMMENT ON COLUMN audit.from_addr IS 'The source address of the actor; null at the command line.';
COMMENT ON COLUMN audit.before IS 'The old values of the changed fields. Secrets and personal data are masked.';
COMMENT ON COLUMN audit.after IS 'The new values of the changed fields, and the reason if the action needs one. Masked in the same way.';

-- The serving role has no right to change entries. The trigger also stops a mistake
-- of the owner, who would have to drop it first.
-- +goose StatementBegin
CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit trail is append-only' USING ERRCODE = 'insufficient_privilege';
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION audit_is_append_only IS 'Refuses to change or delete entries of the audit trail.';
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();

-- An entry says when something was done, and must not be dated back. The owner may: archives and test
-- data have other times.
-- +goose StatementBegin
CREATE FUNCTION audit_refuse_time() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF pg_has_role(current_user, 'lineproof_owner', 'MEMBER') THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'the time of the entry is more than a minute from the clock of the database'
        USING ERRCODE = 'check_violation', CONSTRAINT = 'audit_time', HINT = 'Only the owner can write entries of another time.';
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION audit_refuse_time IS 'Refuses an entry of another time to everybody but the owner.';
CREATE TRIGGER audit_time BEFORE INSERT ON audit FOR EACH ROW
    WHEN (NEW.at NOT BETWEEN clock_timestamp() - interval '1 minute' AND clock_timestamp() + interval '1 minute')
    EXECUTE FUNCTION audit_refuse_time();

CREATE TABLE audit_hour (
    hour       timestamptz PRIMARY KEY,
    entries    bigint      NOT NULL,
    hash       bytea       NOT NULL CHECK (octet_length(hash) = 32),
    chained_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE audit_hour IS 'The audit trail, chained by the hour: for every hour that is over, the number of its entries and a hash over them and over the hash of the hour before. Append-only.';
COMMENT ON COLUMN audit_hour.hash IS 'As docs/explanation/audit.md describes.';
CREATE TRIGGER audit_hour_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_hour FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();

GRANT SELECT, INSERT ON audit, audit_hour TO lineproof_serve;
GRANT SELECT ON audit, audit_hour TO lineproof_read;

-- +goose Down
DROP TABLE audit_hour;
DROP TABLE audit;
DROP FUNCTION audit_refuse_time;
DROP FUNCTION audit_is_append_only;
