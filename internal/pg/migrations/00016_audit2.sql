-- +goose Up
ALTER TABLE audit ADD COLUMN from_addr inet, ADD COLUMN before jsonb, ADD COLUMN after jsonb;
ALTER TABLE audit DROP CONSTRAINT audit_actor_kind_check;
ALTER TABLE audit ADD CONSTRAINT audit_actor_kind_check CHECK (actor_kind IN ('client', 'account', 'operator', 'system'));
CREATE INDEX audit_actor ON audit (actor_id, at);
CREATE INDEX audit_subject ON audit (subject_id, at);
COMMENT ON COLUMN audit.actor_id IS 'The client or account that acted; null for the operator at the command line and for the service itself.';
COMMENT ON COLUMN audit.from_addr IS 'The address that the actor called from; null at the command line.';
COMMENT ON COLUMN audit.before IS 'What the change replaced, of the fields that changed; secrets and personal data masked.';
COMMENT ON COLUMN audit.after IS 'What the change put in their place, and why where a reason was asked for; masked alike.';

-- The rights keep the serving role out. This keeps out the slip of a hand: the
-- owner, too, has to take the trigger away first, and that cannot be overlooked.
-- +goose StatementBegin
CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit trail is append-only' USING ERRCODE = 'insufficient_privilege';
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION audit_is_append_only IS 'Refuses every change of the audit trail that is no new entry.';
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();

ALTER TABLE entity ADD COLUMN status_reason text NOT NULL DEFAULT '' CHECK (char_length(status_reason) <= 500);
ALTER TABLE entity ADD COLUMN status_since timestamptz;
COMMENT ON COLUMN entity.status IS 'Where the entity stands with the regulator. Only an Approved one''s keys and sessions open anything.';
COMMENT ON COLUMN entity.status_reason IS 'Why the entity stands where it stands, in the words of whoever moved it; empty where it was never moved.';
COMMENT ON COLUMN entity.status_since IS 'When the entity was last moved; null where it never was.';

CREATE TABLE approval (
    id           uuid        PRIMARY KEY,
    kind         text        NOT NULL CHECK (char_length(kind) BETWEEN 1 AND 64),
    subject_id   uuid        NOT NULL,
    entity_id    uuid,
    details      jsonb       NOT NULL,
    reason       text        NOT NULL CHECK (char_length(reason) BETWEEN 1 AND 500),
    state        text        NOT NULL CHECK (state IN ('waiting', 'given', 'refused', 'lapsed')),
    asked_kind   text        NOT NULL CHECK (asked_kind IN ('account', 'operator')),
    asked_by     uuid,
    asked_at     timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL,
    decided_kind text        CHECK (decided_kind IN ('account', 'operator')),
    decided_by   uuid,
    decided_at   timestamptz,
    CHECK ((asked_kind = 'account') = (asked_by IS NOT NULL)),
    CHECK ((coalesce(decided_kind, '') = 'account') = (decided_by IS NOT NULL)),
    CHECK ((state IN ('given', 'refused')) = (decided_kind IS NOT NULL)),
    CHECK ((decided_kind IS NULL) = (decided_at IS NULL)),
    CONSTRAINT approval_two_people CHECK (state <> 'given' OR (decided_kind, decided_by) IS DISTINCT FROM (asked_kind, asked_by))
);
CREATE UNIQUE INDEX approval_waiting ON approval (kind, subject_id) WHERE state = 'waiting';
CREATE INDEX approval_asked ON approval (asked_at);
COMMENT ON TABLE approval IS 'What is too dangerous for one person: it takes effect when another member of staff confirms it, in that transaction.';
COMMENT ON COLUMN approval.kind IS 'What would be done; the words are in the packages that do it.';
COMMENT ON COLUMN approval.entity_id IS 'The entity that it concerns; null for none.';
COMMENT ON COLUMN approval.details IS 'What the effect needs to know. Never a secret, and no e-mail address or phone number.';
COMMENT ON COLUMN approval.asked_by IS 'The account that asked; null for the operator at the command line.';
COMMENT ON COLUMN approval.expires_at IS 'From then on nobody can confirm it. Its state becomes lapsed when somebody asks for the same again.';
COMMENT ON CONSTRAINT approval_two_people ON approval IS 'Whoever asked cannot be the one who confirms, whatever the code above thinks.';

GRANT SELECT, INSERT, UPDATE ON approval TO lineproof_serve;
GRANT SELECT ON approval TO lineproof_read;

-- +goose Down
DROP TABLE approval;
ALTER TABLE entity DROP COLUMN status_since, DROP COLUMN status_reason;
COMMENT ON COLUMN entity.status IS NULL;
DROP TRIGGER audit_append_only ON audit;
DROP FUNCTION audit_is_append_only;
DROP INDEX audit_subject;
DROP INDEX audit_actor;
ALTER TABLE audit DROP COLUMN after, DROP COLUMN before, DROP COLUMN from_addr;
ALTER TABLE audit DROP CONSTRAINT audit_actor_kind_check;
-- What the service did by itself stays in the trail, so what is there is not checked.
ALTER TABLE audit ADD CONSTRAINT audit_actor_kind_check CHECK (actor_kind IN ('client', 'account', 'operator')) NOT VALID;
COMMENT ON COLUMN audit.actor_id IS 'The client or account that acted; null for the operator at the command line.';
