-- +goose Up
CREATE TABLE client (
    id           uuid        PRIMARY KEY,
    name         text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    scopes       text[]      NOT NULL,
    network      text        NOT NULL DEFAULT '',
    vouches      boolean     NOT NULL DEFAULT false,
    suspended_at timestamptz,
    revoked_at   timestamptz,
    created_at   timestamptz NOT NULL
);
COMMENT ON TABLE client IS 'A program of a pre-approved telco, or of another authority, that may ask for access tokens.';
COMMENT ON COLUMN client.network IS 'The network for which the client may supply lines; empty where it supplies none.';
COMMENT ON COLUMN client.vouches IS 'Whether admins that the client brings in count as verified from the start.';

ALTER TABLE entity ADD FOREIGN KEY (client_id) REFERENCES client;

CREATE TABLE client_secret (
    id         uuid        PRIMARY KEY,
    client_id  uuid        NOT NULL REFERENCES client,
    mac        bytea       NOT NULL CONSTRAINT client_secret_mac_unique UNIQUE,
    preview    text        NOT NULL,
    revoked_at timestamptz,
    created_at timestamptz NOT NULL
);
CREATE INDEX client_secret_client ON client_secret (client_id);
COMMENT ON TABLE client_secret IS 'The secrets of a client, as HMACs; two may stand at a time so that one can be rotated.';

CREATE TABLE access_token (
    id         uuid        PRIMARY KEY,
    client_id  uuid        NOT NULL REFERENCES client,
    mac        bytea       NOT NULL CONSTRAINT access_token_mac_unique UNIQUE,
    scopes     text[]      NOT NULL,
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz,
    created_at timestamptz NOT NULL
);
CREATE INDEX access_token_client ON access_token (client_id);
CREATE INDEX access_token_expiry ON access_token (expires_at);
COMMENT ON TABLE access_token IS 'Access tokens that clients hold, as HMACs.';

CREATE TABLE session (
    id           uuid        PRIMARY KEY,
    account_id   uuid        NOT NULL REFERENCES account,
    mac          bytea       NOT NULL CONSTRAINT session_mac_unique UNIQUE,
    expires_at   timestamptz NOT NULL,
    last_seen_at timestamptz NOT NULL,
    revoked_at   timestamptz,
    created_at   timestamptz NOT NULL
);
CREATE INDEX session_account ON session (account_id);
CREATE INDEX session_expiry ON session (expires_at);
COMMENT ON TABLE session IS 'Logins of people, as HMACs of their tokens; idle since last_seen_at, which is written in coarse steps.';

CREATE TABLE api_key (
    id         uuid        PRIMARY KEY,
    entity_id  uuid        NOT NULL REFERENCES entity,
    name       text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    mode       text        NOT NULL CHECK (mode IN ('live', 'test')),
    purpose    text        NOT NULL DEFAULT '',
    mac        bytea       NOT NULL CONSTRAINT api_key_mac_unique UNIQUE,
    preview    text        NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz,
    created_at timestamptz NOT NULL
);
CREATE INDEX api_key_entity ON api_key (entity_id);
COMMENT ON TABLE api_key IS 'Keys with which the programs of an entity ask, as HMACs.';

CREATE TABLE pepper_check (
    mac        bytea       PRIMARY KEY,
    created_at timestamptz NOT NULL
);
COMMENT ON TABLE pepper_check IS 'A known text under each pepper that was ever in force, so that a wrong pepper is noticed at start and not by every caller.';

GRANT SELECT, INSERT ON pepper_check TO lineproof_serve;
GRANT SELECT, INSERT, UPDATE ON client, client_secret, api_key TO lineproof_serve;
GRANT SELECT, INSERT, UPDATE, DELETE ON access_token, session TO lineproof_serve;
GRANT SELECT ON client TO lineproof_read;
-- Everything but the HMACs.
GRANT SELECT (id, client_id, preview, revoked_at, created_at) ON client_secret TO lineproof_read;
GRANT SELECT (id, client_id, scopes, expires_at, revoked_at, created_at) ON access_token TO lineproof_read;
GRANT SELECT (id, account_id, expires_at, last_seen_at, revoked_at, created_at) ON session TO lineproof_read;
GRANT SELECT (id, entity_id, name, mode, purpose, preview, expires_at, revoked_at, created_at) ON api_key TO lineproof_read;

-- +goose Down
DROP TABLE pepper_check;
DROP TABLE api_key;
DROP TABLE session;
DROP TABLE access_token;
DROP TABLE client_secret;
ALTER TABLE entity DROP CONSTRAINT entity_client_id_fkey;
DROP TABLE client;
