-- +goose Up
CREATE TABLE entity (
    id                uuid        PRIMARY KEY,
    name              text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    cac               text        NOT NULL CHECK (char_length(cac) BETWEEN 1 AND 32),
    cac_class         text,
    cac_digits        text,
    status            text        NOT NULL CHECK (status IN ('Approved', 'Suspended', 'Revoked')),
    status_reason     text        NOT NULL DEFAULT '' CHECK (char_length(status_reason) <= 500),
    status_since      timestamptz,
    document_required boolean     NOT NULL,
    supplies          boolean     NOT NULL,
    asks              boolean     NOT NULL,
    client_id         uuid,
    token_id          uuid,
    created_at        timestamptz NOT NULL
);
CREATE INDEX entity_cac ON entity (cac_class, cac_digits);
CREATE INDEX entity_cac_text ON entity (upper(cac));
CREATE INDEX entity_client ON entity (client_id, created_at);
CREATE INDEX entity_token ON entity (token_id, created_at);
-- Staff page through all entities in three orders. Names are compared byte by byte,
-- so that the order is the same on every machine, whatever its locale library.
CREATE INDEX entity_name ON entity ((lower(name) COLLATE "C"), id);
CREATE INDEX entity_created ON entity (created_at, id);
CREATE INDEX entity_status ON entity (status, (lower(name) COLLATE "C"), id);
COMMENT ON TABLE entity IS 'A telco, bank or service provider that the regulator has admitted.';
COMMENT ON COLUMN entity.cac IS 'The CAC number as it was sent. cac_class and cac_digits are its canonical form; null if its form is not known.';
COMMENT ON COLUMN entity.status IS 'Only the keys and sessions of an Approved entity are accepted.';
COMMENT ON COLUMN entity.status_reason IS 'The reason that staff gave for the last change of the status; empty if it never changed.';
COMMENT ON COLUMN entity.status_since IS 'When the status changed last; null if it never did.';
COMMENT ON COLUMN entity.supplies IS 'Whether the entity supplies lines.';
COMMENT ON COLUMN entity.asks IS 'Whether the entity may send verification requests.';
COMMENT ON COLUMN entity.client_id IS 'The sponsor of the entity: the client that onboarded it, whose credential is the pre-approval; null for the regulator, whose staff or operator created it. The guard counts entities of one client together.';
COMMENT ON COLUMN entity.token_id IS 'The access token that onboarded the entity. An upload with that token that names no entity belongs to the last one it onboarded.';
COMMENT ON INDEX entity_name IS 'Entities by name, from any position.';
COMMENT ON INDEX entity_created IS 'Entities by age, from any position.';
COMMENT ON INDEX entity_status IS 'Entities by status and then by name, and those of one status by name.';

CREATE TABLE account (
    id            uuid        PRIMARY KEY,
    kind          text        NOT NULL CHECK (kind IN ('staff', 'admin', 'member')),
    entity_id     uuid        REFERENCES entity,
    role          text        CHECK (role IN ('administrator', 'reviewer', 'auditor')),
    makes_keys    boolean     NOT NULL DEFAULT false,
    name          text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    email         text        NOT NULL,
    email_key     text        NOT NULL CONSTRAINT account_email_unique UNIQUE,
    phone         bigint      CONSTRAINT account_phone_unique UNIQUE,
    password_hash text,
    verified_at   timestamptz,
    verified_by   text        CHECK (verified_by IN ('email', 'phone', 'client')),
    disabled_at   timestamptz,
    created_at    timestamptz NOT NULL,
    CHECK ((kind = 'staff') = (entity_id IS NULL)),
    CHECK ((kind = 'staff') = (role IS NOT NULL)),
    CHECK ((verified_at IS NULL) = (verified_by IS NULL))
);
CREATE INDEX account_entity ON account (entity_id);
COMMENT ON TABLE account IS 'A person who can log in: staff of the regulator, or an admin or member of an entity.';
COMMENT ON COLUMN account.makes_keys IS 'Whether a member of an entity may create and roll its live keys. Admins may in any case.';
COMMENT ON COLUMN account.email IS 'The address as it was sent. email_key is its case-folded form, unique over all kinds of account.';
COMMENT ON COLUMN account.phone IS 'E.164 without the plus sign, unique over all kinds of account.';
COMMENT ON COLUMN account.verified_by IS 'What verified the account: its e-mail, its phone, or a client that may vouch for its admins.';

CREATE TABLE access_given (
    subject_id   uuid        NOT NULL,
    by_id        uuid        NOT NULL,
    how          text        NOT NULL CHECK (how IN ('founder', 'created', 'raised', 'reset', 'cosigned')),
    before_staff boolean     NOT NULL,
    at           timestamptz NOT NULL
);
CREATE INDEX access_given_subject ON access_given (subject_id, at);
COMMENT ON TABLE access_given IS 'Who alone created, raised or reset the access of a member of staff or of a client. For 30 days the two do not count as two people.';
COMMENT ON COLUMN access_given.subject_id IS 'The account of staff, or the client, that got access.';
COMMENT ON COLUMN access_given.by_id IS 'The account that gave it; the zero id for the operator at the command line.';
COMMENT ON COLUMN access_given.how IS 'founder: enrolled together with the other founders, which never counts. cosigned: a second person confirmed what was created or raised before, which then no longer counts.';
COMMENT ON COLUMN access_given.before_staff IS 'By the operator while there were fewer than two administrators: it separates the subject from the operator, not from others whom the operator set up.';

GRANT SELECT, INSERT ON access_given TO lineproof_serve;
GRANT SELECT ON access_given TO lineproof_read;
GRANT SELECT, INSERT, UPDATE ON entity, account TO lineproof_serve;
GRANT SELECT ON entity TO lineproof_read;
GRANT SELECT (id, kind, entity_id, role, makes_keys, name, email, email_key, phone, verified_at, verified_by, disabled_at, created_at)
    ON account TO lineproof_read; -- without the password hash

-- +goose Down
DROP TABLE access_given;
DROP TABLE account;
DROP TABLE entity;
