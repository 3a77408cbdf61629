-- +goose Up
CREATE TABLE client (
    id           uuid        PRIMARY KEY,
    name         text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    scopes       text[]      NOT NULL,
    network      text        NOT NULL DEFAULT '',
    vouches      boolean     NOT NULL DEFAULT false,
    sole         boolean     NOT NULL DEFAULT false,
    suspended_at timestamptz,
    revoked_at   timestamptz,
    created_at   timestamptz NOT NULL,
    row_sum      bytea,
    row_mac      bytea
);
COMMENT ON TABLE client IS 'A program of a pre-approved telco, or of another authority, that may request access tokens.';
COMMENT ON COLUMN client.network IS 'The network for which the client may supply lines; empty if it may supply none.';
COMMENT ON COLUMN client.vouches IS 'Whether the admins that the client onboards are verified from the start.';
COMMENT ON COLUMN client.sole IS 'Whether the client belongs to the one organisation that it onboards. It onboards no other, and the admins of that organisation change its secrets.';
COMMENT ON COLUMN client.row_sum IS 'As in account.';
COMMENT ON COLUMN client.row_mac IS 'As in account.';
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON client FOR EACH ROW EXECUTE FUNCTION row_summed(
    'id', 'scopes', 'network', 'vouches', 'sole', 'suspended_at', 'revoked_at', 'created_at');
CREATE TRIGGER row_inserted AFTER INSERT ON client FOR EACH ROW EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER row_updated AFTER UPDATE ON client FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER access_changed AFTER UPDATE ON client
    FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION access_changed('client', 'id');

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
    client_id         uuid        REFERENCES client,
    token_id          uuid,
    created_at        timestamptz NOT NULL,
    row_sum           bytea,
    row_mac           bytea
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
COMMENT ON COLUMN entity.row_sum IS 'As in account.';
COMMENT ON COLUMN entity.row_mac IS 'As in account.';
COMMENT ON INDEX entity_name IS 'Entities by name, from any position.';
COMMENT ON INDEX entity_created IS 'Entities by age, from any position.';
COMMENT ON INDEX entity_status IS 'Entities by status and then by name, and those of one status by name.';
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON entity FOR EACH ROW EXECUTE FUNCTION row_summed(
    'id', 'name', 'cac', 'status', 'document_required', 'supplies', 'asks', 'client_id', 'token_id', 'created_at');
CREATE TRIGGER row_inserted AFTER INSERT ON entity FOR EACH ROW EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER row_updated AFTER UPDATE ON entity FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER access_changed AFTER UPDATE ON entity
    FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION access_changed('entity', 'id');

CREATE TABLE account (
    id            uuid        PRIMARY KEY,
    kind          text        NOT NULL CHECK (kind IN ('staff', 'admin', 'member')),
    entity_id     uuid        REFERENCES entity,
    role          text        CHECK (role IN ('administrator', 'reviewer', 'auditor')),
    makes_keys    boolean     NOT NULL DEFAULT false,
    supplies      boolean     NOT NULL DEFAULT false,
    name          text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    email         text        NOT NULL,
    email_key     text        NOT NULL CONSTRAINT account_email_unique UNIQUE,
    phone         bigint      CONSTRAINT account_phone_unique UNIQUE,
    password_hash text,
    has_factor    boolean     NOT NULL DEFAULT false,
    factor_id     uuid,
    verified_at   timestamptz,
    verified_by   text        CHECK (verified_by IN ('email', 'phone', 'client')),
    disabled_at   timestamptz,
    created_at    timestamptz NOT NULL,
    row_sum       bytea,
    row_mac       bytea,
    CHECK ((kind = 'staff') = (entity_id IS NULL)),
    CHECK ((kind = 'staff') = (role IS NOT NULL)),
    CHECK ((verified_at IS NULL) = (verified_by IS NULL))
);
CREATE INDEX account_entity ON account (entity_id);
COMMENT ON TABLE account IS 'A person who can log in: staff of the regulator, or an admin or member of an entity.';
COMMENT ON COLUMN account.makes_keys IS 'Whether a member of an entity may create and roll its live keys. Admins may in any case.';
COMMENT ON COLUMN account.supplies IS 'Whether a member of an entity that supplies lines may send its files. Admins may in any case.';
COMMENT ON COLUMN account.email IS 'The address as it was sent. email_key is its case-folded form, unique over all kinds of account.';
COMMENT ON COLUMN account.phone IS 'E.164 without the plus sign, unique over all kinds of account.';
COMMENT ON COLUMN account.has_factor IS 'Whether two-factor authentication is enabled. A trigger keeps it, so that a second factor cannot be deleted without changing the row that is signed.';
COMMENT ON COLUMN account.factor_id IS 'Which one it is; kept in the same way, so that one that was replaced is not accepted.';
COMMENT ON COLUMN account.verified_by IS 'What verified the account: its e-mail, its phone, or a client that may vouch for its admins.';
COMMENT ON COLUMN account.row_sum IS 'The SHA-256 of the columns that decide access. A trigger sets it.';
COMMENT ON COLUMN account.row_mac IS 'The HMAC of row_sum under a key that is not in the database, after the version of the key. A row whose HMAC is wrong gives no access.';
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON account FOR EACH ROW EXECUTE FUNCTION row_summed(
    'id', 'kind', 'entity_id', 'role', 'makes_keys', 'supplies', 'email', 'email_key', 'phone', 'password_hash', 'verified_at', 'verified_by', 'disabled_at', 'created_at', 'has_factor', 'factor_id');
CREATE TRIGGER row_inserted AFTER INSERT ON account FOR EACH ROW EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER row_updated AFTER UPDATE ON account FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER access_changed AFTER UPDATE ON account
    FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION access_changed('account', 'id');

CREATE TABLE access_given (
    id           uuid        NOT NULL DEFAULT gen_random_uuid() CONSTRAINT access_given_id_unique UNIQUE,
    subject_id   uuid        NOT NULL,
    by_id        uuid        NOT NULL,
    how          text        NOT NULL CHECK (how IN ('founder', 'created', 'raised', 'reset', 'cosigned')),
    before_staff boolean     NOT NULL,
    at           timestamptz NOT NULL,
    row_sum      bytea,
    row_mac      bytea
);
CREATE INDEX access_given_subject ON access_given (subject_id, at);
COMMENT ON TABLE access_given IS 'Who alone created, raised or reset the access of a member of staff or of a client. The two do not count as two people until a second administrator confirms who the person is.';
COMMENT ON COLUMN access_given.id IS 'Names the row in reports; the rows are never changed.';
COMMENT ON COLUMN access_given.subject_id IS 'The account of staff, or the client, that got access.';
COMMENT ON COLUMN access_given.by_id IS 'The account that gave it; the zero id for the operator at the command line.';
COMMENT ON COLUMN access_given.how IS 'founder: enrolled together with the other founders, which never counts. cosigned: a second administrator confirmed who the person is; at is when that was requested, and what was done before no longer counts.';
COMMENT ON COLUMN access_given.before_staff IS 'By the operator while there were fewer than two administrators: it separates the subject from the operator, not from others whom the operator set up.';
COMMENT ON COLUMN access_given.row_sum IS 'As in account.';
COMMENT ON COLUMN access_given.row_mac IS 'As in account.';
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON access_given FOR EACH ROW EXECUTE FUNCTION row_summed(
    'id', 'subject_id', 'by_id', 'how', 'before_staff', 'at');
CREATE TRIGGER row_inserted AFTER INSERT ON access_given FOR EACH ROW EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER row_updated AFTER UPDATE ON access_given FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('id');

GRANT SELECT, INSERT, UPDATE ON client, entity, account TO lineproof_serve;
GRANT SELECT, INSERT ON access_given TO lineproof_serve;
GRANT UPDATE (row_mac) ON access_given TO lineproof_serve; -- rows that are never changed are signed, too
GRANT SELECT ON client, entity, access_given TO lineproof_read;
GRANT SELECT (id, kind, entity_id, role, makes_keys, supplies, name, email, email_key, phone, verified_at, verified_by, disabled_at, created_at)
    ON account TO lineproof_read; -- without the password hash

-- +goose Down
DROP TABLE access_given;
DROP TABLE account;
DROP TABLE entity;
DROP TABLE client;
