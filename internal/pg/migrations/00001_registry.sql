-- +goose Up
CREATE TABLE entity (
    id                uuid        PRIMARY KEY,
    name              text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    cac               text        NOT NULL CHECK (char_length(cac) BETWEEN 1 AND 32),
    cac_class         text,
    cac_digits        text,
    status            text        NOT NULL CHECK (status IN ('Approved', 'Suspended', 'Revoked')),
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
COMMENT ON TABLE entity IS 'A telco, bank or service provider that the regulator has let in.';
COMMENT ON COLUMN entity.cac IS 'The CAC number as it was sent; class and digits are its canonical form where the form is known.';
COMMENT ON COLUMN entity.client_id IS 'The client that brought the entity in; its credential is the pre-approval.';
COMMENT ON COLUMN entity.token_id IS 'The access token that brought the entity in; an upload with that token means its last entity.';

CREATE TABLE account (
    id            uuid        PRIMARY KEY,
    kind          text        NOT NULL CHECK (kind IN ('staff', 'admin', 'member')),
    entity_id     uuid        REFERENCES entity,
    role          text        CHECK (role IN ('administrator', 'reviewer', 'auditor')),
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
COMMENT ON TABLE account IS 'A person who can log in: staff of the regulator, admin of an entity, or member of one.';
COMMENT ON COLUMN account.email IS 'The address as it was sent; email_key is its case-folded form, unique over all kinds.';
COMMENT ON COLUMN account.phone IS 'E.164 without the plus sign, unique over all kinds.';
COMMENT ON COLUMN account.verified_by IS 'What confirmed the account: its e-mail, its phone, or the word of a client that may vouch.';

GRANT SELECT, INSERT, UPDATE ON entity, account TO lineproof_serve;
GRANT SELECT ON entity TO lineproof_read;
GRANT SELECT (id, kind, entity_id, role, name, email, email_key, phone, verified_at, verified_by, disabled_at, created_at)
    ON account TO lineproof_read; -- not the hash of the password

-- +goose Down
DROP TABLE account;
DROP TABLE entity;
