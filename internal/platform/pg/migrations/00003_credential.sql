-- +goose Up
CREATE TABLE client_secret (
    id           uuid        PRIMARY KEY,
    client_id    uuid        NOT NULL REFERENCES client,
    mac          bytea       NOT NULL CONSTRAINT client_secret_mac_unique UNIQUE,
    preview      text        NOT NULL,
    waits        boolean     NOT NULL DEFAULT false,
    last_used_at timestamptz,
    revoked_at   timestamptz,
    created_at   timestamptz NOT NULL,
    row_sum      bytea,
    row_mac      bytea
);
CREATE INDEX client_secret_client ON client_secret (client_id);
COMMENT ON TABLE client_secret IS 'The secrets of clients, as HMACs. A client can have two active secrets, so that it can rotate one.';
COMMENT ON COLUMN client_secret.waits IS 'A second person has not confirmed yet that the client may use it.';
COMMENT ON COLUMN client_secret.last_used_at IS 'Updated in coarse steps. It shows when a rotated secret is no longer in use.';
COMMENT ON COLUMN client_secret.row_sum IS 'As in account.';
COMMENT ON COLUMN client_secret.row_mac IS 'As in account.';
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON client_secret FOR EACH ROW EXECUTE FUNCTION row_summed(
    'id', 'client_id', 'mac', 'waits', 'revoked_at', 'created_at');
CREATE TRIGGER row_inserted AFTER INSERT ON client_secret FOR EACH ROW EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER row_updated AFTER UPDATE ON client_secret FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER access_changed AFTER UPDATE ON client_secret
    FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION access_changed('secret', 'id');

CREATE TABLE access_token (
    id         uuid        PRIMARY KEY,
    client_id  uuid        NOT NULL REFERENCES client,
    secret_id  uuid        NOT NULL REFERENCES client_secret,
    mac        bytea       NOT NULL CONSTRAINT access_token_mac_unique UNIQUE,
    scopes     text[]      NOT NULL,
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz,
    created_at timestamptz NOT NULL,
    row_sum    bytea,
    row_mac    bytea
);
CREATE INDEX access_token_client ON access_token (client_id);
CREATE INDEX access_token_expiry ON access_token (expires_at);
COMMENT ON TABLE access_token IS 'Access tokens of clients, as HMACs.';
COMMENT ON COLUMN access_token.secret_id IS 'The secret that the client showed to get the token. The token ends with it.';
COMMENT ON COLUMN access_token.row_sum IS 'As in account.';
COMMENT ON COLUMN access_token.row_mac IS 'As in account.';
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON access_token FOR EACH ROW EXECUTE FUNCTION row_summed(
    'id', 'client_id', 'secret_id', 'mac', 'scopes', 'expires_at', 'revoked_at', 'created_at');
CREATE TRIGGER row_inserted AFTER INSERT ON access_token FOR EACH ROW EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER row_updated AFTER UPDATE ON access_token FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER access_changed AFTER UPDATE ON access_token
    FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION access_changed('token', 'id');

CREATE TABLE session (
    id           uuid        PRIMARY KEY,
    account_id   uuid        NOT NULL REFERENCES account,
    mac          bytea       NOT NULL CONSTRAINT session_mac_unique UNIQUE,
    from_addr    inet,
    agent        text        NOT NULL DEFAULT '',
    limited      boolean     NOT NULL DEFAULT false,
    last_seen_at timestamptz NOT NULL,
    proved_at    timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL,
    revoked_at   timestamptz,
    created_at   timestamptz NOT NULL,
    row_sum      bytea,
    row_mac      bytea
);
CREATE INDEX session_account ON session (account_id);
CREATE INDEX session_expiry ON session (expires_at);
COMMENT ON TABLE session IS 'Logins of people, as HMACs of their tokens.';
COMMENT ON COLUMN session.agent IS 'The User-Agent header of the login, truncated.';
COMMENT ON COLUMN session.limited IS 'Whether the session allows only what is needed to set up two-factor authentication.';
COMMENT ON COLUMN session.proved_at IS 'When the person last entered the password, and the code where there is a second factor: at the login, or before a change that a stolen session must not allow.';
COMMENT ON COLUMN session.last_seen_at IS 'Since when the session is idle. Updated in coarse steps.';
COMMENT ON COLUMN session.row_sum IS 'As in account.';
COMMENT ON COLUMN session.row_mac IS 'As in account.';
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON session FOR EACH ROW EXECUTE FUNCTION row_summed(
    'id', 'account_id', 'mac', 'limited', 'proved_at', 'expires_at', 'revoked_at', 'created_at');
CREATE TRIGGER row_inserted AFTER INSERT ON session FOR EACH ROW EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER row_updated AFTER UPDATE ON session FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER access_changed AFTER UPDATE ON session
    FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION access_changed('session', 'id');

CREATE TABLE api_key (
    id             uuid             PRIMARY KEY,
    entity_id      uuid             NOT NULL REFERENCES entity,
    name           text             NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    mode           text             NOT NULL CHECK (mode IN ('live', 'test')),
    purpose        text             NOT NULL DEFAULT 'other',
    purpose_text   text             NOT NULL DEFAULT '' CHECK (char_length(purpose_text) <= 100),
    mac            bytea            NOT NULL CONSTRAINT api_key_mac_unique UNIQUE,
    preview        text             NOT NULL,
    networks       cidr[]           NOT NULL DEFAULT '{}',
    rate           double precision NOT NULL DEFAULT 0 CHECK (rate >= 0),
    burst          integer          NOT NULL DEFAULT 0 CHECK (burst >= 0),
    rights         text[]           NOT NULL DEFAULT '{}',
    replaces       uuid             REFERENCES api_key,
    last_used_at   timestamptz,
    last_used_from inet,
    expires_at     timestamptz,
    expiry_notice  integer,
    leak_notice_at timestamptz,
    revoked_at     timestamptz,
    revoked_by     uuid,
    created_at     timestamptz      NOT NULL,
    created_by     uuid,
    row_sum        bytea,
    row_mac        bytea
);
CREATE INDEX api_key_entity ON api_key (entity_id);
CREATE UNIQUE INDEX api_key_successor ON api_key (replaces) WHERE replaces IS NOT NULL;
COMMENT ON TABLE api_key IS 'API keys of entities, as HMACs.';
COMMENT ON COLUMN api_key.purpose IS 'A code of the policy that was in effect when the key was created.';
COMMENT ON COLUMN api_key.purpose_text IS 'The purpose in the words that were entered, where the policy had no code for it.';
COMMENT ON COLUMN api_key.networks IS 'The networks from which the key is accepted; empty means from anywhere.';
COMMENT ON COLUMN api_key.rate IS 'Requests a second. 0 means the value in the settings; the same for burst.';
COMMENT ON COLUMN api_key.rights IS 'What the key may do beyond verifying numbers; see package keyright.';
COMMENT ON COLUMN api_key.replaces IS 'The key whose successor this one is. A key has at most one successor.';
COMMENT ON COLUMN api_key.last_used_at IS 'Updated in coarse steps, together with last_used_from.';
COMMENT ON COLUMN api_key.expiry_notice IS 'How many days before the expiry the organisation was last notified of it; null if it was not.';
COMMENT ON COLUMN api_key.leak_notice_at IS 'When the admins were last notified that somebody reported the key as leaked; null if they were not.';
COMMENT ON COLUMN api_key.created_by IS 'The account that created the key; null for the operator at the command line. The same for revoked_by.';
COMMENT ON COLUMN api_key.row_sum IS 'As in account.';
COMMENT ON COLUMN api_key.row_mac IS 'As in account.';
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON api_key FOR EACH ROW EXECUTE FUNCTION row_summed(
    'id', 'entity_id', 'mode', 'purpose', 'purpose_text', 'mac', 'networks', 'rate', 'burst', 'rights', 'replaces', 'expires_at', 'revoked_at', 'created_at', 'created_by');
CREATE TRIGGER row_inserted AFTER INSERT ON api_key FOR EACH ROW EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER row_updated AFTER UPDATE ON api_key FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER access_changed AFTER UPDATE ON api_key
    FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION access_changed('key', 'id');

-- The clock belongs to the key and not to the entity, so that two developers or
-- pipelines of one entity can test at the same time, each with its own key.
CREATE TABLE rehearsal_clock (
    key_id     uuid        PRIMARY KEY REFERENCES api_key,
    begun_at   timestamptz NOT NULL,
    ahead      bigint      NOT NULL CHECK (ahead BETWEEN 0 AND 315360000),
    updated_at timestamptz NOT NULL
);
COMMENT ON TABLE rehearsal_clock IS 'The test clocks that test keys have set. A test clock affects only the answers about test numbers.';
COMMENT ON COLUMN rehearsal_clock.begun_at IS 'Day 0 of the histories of the test numbers.';
COMMENT ON COLUMN rehearsal_clock.ahead IS 'By how many seconds the test clock is ahead of the real time; at most ten years.';

CREATE TABLE entity_limit (
    entity_id    uuid             PRIMARY KEY REFERENCES entity,
    rate         double precision NOT NULL DEFAULT 0 CHECK (rate >= 0),
    burst        integer          NOT NULL DEFAULT 0 CHECK (burst >= 0),
    day_quota    bigint           NOT NULL DEFAULT 0 CHECK (day_quota >= 0),
    month_quota  bigint           NOT NULL DEFAULT 0 CHECK (month_quota >= 0),
    day_numbers  bigint           NOT NULL DEFAULT 0 CHECK (day_numbers >= 0),
    year_numbers bigint           NOT NULL DEFAULT 0 CHECK (year_numbers >= 0),
    updated_at   timestamptz      NOT NULL,
    row_sum      bytea,
    row_mac      bytea
);
COMMENT ON TABLE entity_limit IS 'Limits that staff set for an entity. 0 means the value in the settings.';
COMMENT ON COLUMN entity_limit.day_numbers IS 'How many different numbers the entity may verify in a day.';
COMMENT ON COLUMN entity_limit.year_numbers IS 'How many different numbers the entity may verify in a year: its licensed size.';
COMMENT ON COLUMN entity_limit.row_sum IS 'As in account.';
COMMENT ON COLUMN entity_limit.row_mac IS 'As in account.';
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON entity_limit FOR EACH ROW EXECUTE FUNCTION row_summed(
    'entity_id', 'rate', 'burst', 'day_quota', 'month_quota', 'day_numbers', 'year_numbers');
CREATE TRIGGER row_inserted AFTER INSERT ON entity_limit FOR EACH ROW EXECUTE FUNCTION row_changed('entity_id');
CREATE TRIGGER row_updated AFTER UPDATE ON entity_limit FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('entity_id');
CREATE TRIGGER access_changed AFTER INSERT OR UPDATE ON entity_limit
    FOR EACH ROW EXECUTE FUNCTION access_changed('entity', 'entity_id');

CREATE TABLE mandate (
    id         uuid        PRIMARY KEY,
    entity_id  uuid        NOT NULL REFERENCES entity,
    principal  text        NOT NULL CHECK (char_length(principal) BETWEEN 1 AND 100),
    purposes   text[]      NOT NULL,
    until      timestamptz NOT NULL,
    document   text        NOT NULL CHECK (char_length(document) BETWEEN 1 AND 200),
    created_at timestamptz NOT NULL,
    created_by uuid,
    ended_at   timestamptz,
    ended_by   uuid,
    row_sum    bytea,
    row_mac    bytea
);
CREATE INDEX mandate_entity ON mandate (entity_id);
COMMENT ON TABLE mandate IS 'For whom an entity may verify numbers as an agent.';
COMMENT ON COLUMN mandate.entity_id IS 'The agent.';
COMMENT ON COLUMN mandate.principal IS 'For whom the agent asks, as its requests name it.';
COMMENT ON COLUMN mandate.purposes IS 'The purposes of keys with which it may ask, codes of the policy; empty means all.';
COMMENT ON COLUMN mandate.document IS 'Where the mandate is written down, such as the reference of a letter.';
COMMENT ON COLUMN mandate.created_by IS 'The account that recorded the mandate; null for the operator at the command line. The same for ended_by.';
COMMENT ON COLUMN mandate.row_sum IS 'As in account.';
COMMENT ON COLUMN mandate.row_mac IS 'As in account.';
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON mandate FOR EACH ROW EXECUTE FUNCTION row_summed(
    'id', 'entity_id', 'principal', 'purposes', 'until', 'document', 'created_at', 'created_by', 'ended_at');
CREATE TRIGGER row_inserted AFTER INSERT ON mandate FOR EACH ROW EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER row_updated AFTER UPDATE ON mandate FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER access_changed AFTER INSERT OR UPDATE ON mandate
    FOR EACH ROW EXECUTE FUNCTION access_changed('entity', 'entity_id');

GRANT SELECT, INSERT, UPDATE ON client_secret, api_key, rehearsal_clock, entity_limit TO lineproof_serve;
GRANT SELECT, INSERT, UPDATE, DELETE ON access_token, session TO lineproof_serve;
GRANT SELECT, INSERT ON mandate TO lineproof_serve;
GRANT UPDATE (ended_at, ended_by, row_mac) ON mandate TO lineproof_serve;
GRANT SELECT ON rehearsal_clock, entity_limit, mandate TO lineproof_read;
-- Every column but the HMACs.
GRANT SELECT (id, client_id, preview, waits, last_used_at, revoked_at, created_at) ON client_secret TO lineproof_read;
GRANT SELECT (id, client_id, secret_id, scopes, expires_at, revoked_at, created_at) ON access_token TO lineproof_read;
GRANT SELECT (id, account_id, from_addr, agent, limited, last_seen_at, proved_at, expires_at, revoked_at, created_at) ON session TO lineproof_read;
GRANT SELECT (id, entity_id, name, mode, purpose, purpose_text, preview, networks, rate, burst, replaces, last_used_at, last_used_from, expires_at,
    expiry_notice, leak_notice_at, revoked_at, revoked_by, created_at, created_by) ON api_key TO lineproof_read;

-- +goose Down
DROP TABLE mandate;
DROP TABLE entity_limit;
DROP TABLE rehearsal_clock;
DROP TABLE api_key;
DROP TABLE session;
DROP TABLE access_token;
DROP TABLE client_secret;
