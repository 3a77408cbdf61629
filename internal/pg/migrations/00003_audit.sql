-- +goose Up
CREATE TABLE audit (
    id         uuid        PRIMARY KEY,
    at         timestamptz NOT NULL,
    actor_kind text        NOT NULL CHECK (actor_kind IN ('client', 'account', 'operator')),
    actor_id   uuid,
    action     text        NOT NULL,
    subject_id uuid        NOT NULL,
    entity_id  uuid,
    request_id uuid
);
CREATE INDEX audit_at ON audit (at);
CREATE INDEX audit_entity ON audit (entity_id, at);
COMMENT ON TABLE audit IS 'What staff, admins, clients and operators did, written in the transaction that did it. Append-only; no foreign keys, so that an entry outlives its subject.';
COMMENT ON COLUMN audit.actor_id IS 'The client or account that acted; null for the operator at the command line.';

GRANT SELECT, INSERT ON audit TO lineproof_serve;
GRANT SELECT ON audit TO lineproof_read;

-- +goose Down
DROP TABLE audit;
