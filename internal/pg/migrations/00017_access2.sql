-- +goose Up
ALTER TABLE api_key
    ADD COLUMN networks       cidr[]           NOT NULL DEFAULT '{}',
    ADD COLUMN rate           double precision NOT NULL DEFAULT 0 CHECK (rate >= 0),
    ADD COLUMN burst          integer          NOT NULL DEFAULT 0 CHECK (burst >= 0),
    ADD COLUMN last_used_at   timestamptz,
    ADD COLUMN last_used_from inet,
    ADD COLUMN created_by     uuid,
    ADD COLUMN revoked_by     uuid,
    ADD COLUMN replaces       uuid             REFERENCES api_key;
CREATE UNIQUE INDEX api_key_successor ON api_key (replaces) WHERE replaces IS NOT NULL;
COMMENT ON COLUMN api_key.networks IS 'From where the key may be used; empty means from anywhere.';
COMMENT ON COLUMN api_key.rate IS 'Requests a second; 0 means what the settings say. Burst likewise.';
COMMENT ON COLUMN api_key.last_used_at IS 'Written in coarse steps, with last_used_from.';
COMMENT ON COLUMN api_key.created_by IS 'The account that made the key; null for the operator at the command line. Revoked_by likewise.';
COMMENT ON COLUMN api_key.replaces IS 'The key whose successor this one is. A key has at most one.';

ALTER TABLE client_secret
    ADD COLUMN last_used_at timestamptz;
COMMENT ON COLUMN client_secret.last_used_at IS 'Written in coarse steps, so that it can be seen when a rotated secret is no longer in use.';

ALTER TABLE session
    ADD COLUMN from_addr inet,
    ADD COLUMN agent     text    NOT NULL DEFAULT '',
    ADD COLUMN limited   boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN session.agent IS 'What the program of the person says that it is, cut short.';
COMMENT ON COLUMN session.limited IS 'Whether it opens only what is needed to set up a second factor.';

CREATE TABLE entity_limit (
    entity_id   uuid             PRIMARY KEY REFERENCES entity,
    rate        double precision NOT NULL DEFAULT 0 CHECK (rate >= 0),
    burst       integer          NOT NULL DEFAULT 0 CHECK (burst >= 0),
    day_quota   bigint           NOT NULL DEFAULT 0 CHECK (day_quota >= 0),
    month_quota bigint           NOT NULL DEFAULT 0 CHECK (month_quota >= 0),
    day_numbers bigint           NOT NULL DEFAULT 0 CHECK (day_numbers >= 0),
    updated_at  timestamptz      NOT NULL
);
COMMENT ON TABLE entity_limit IS 'What staff allow an entity where that differs from the settings; 0 means what the settings say.';
COMMENT ON COLUMN entity_limit.day_numbers IS 'How many different numbers it may ask about in a day.';

-- Nodes remember credentials. Whatever ends or changes one is told to all of
-- them when it commits, whoever does it and by whatever means.
-- +goose StatementBegin
CREATE FUNCTION access_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('lineproof_access', TG_ARGV[0] || ':' || (to_jsonb(NEW) ->> TG_ARGV[1]));
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER access_changed AFTER UPDATE OF revoked_at, expires_at, networks, rate, burst, mode, purpose, entity_id ON api_key
    FOR EACH ROW EXECUTE FUNCTION access_changed('key', 'id');
CREATE TRIGGER access_changed AFTER UPDATE ON client
    FOR EACH ROW EXECUTE FUNCTION access_changed('client', 'id');
CREATE TRIGGER access_changed AFTER UPDATE OF revoked_at, expires_at, scopes ON access_token
    FOR EACH ROW EXECUTE FUNCTION access_changed('token', 'id');
CREATE TRIGGER access_changed AFTER UPDATE OF revoked_at, expires_at, limited ON session
    FOR EACH ROW EXECUTE FUNCTION access_changed('session', 'id');
CREATE TRIGGER access_changed AFTER UPDATE OF disabled_at, role, kind, entity_id ON account
    FOR EACH ROW EXECUTE FUNCTION access_changed('account', 'id');
CREATE TRIGGER access_changed AFTER UPDATE OF status, asks ON entity
    FOR EACH ROW EXECUTE FUNCTION access_changed('entity', 'id');
CREATE TRIGGER access_changed AFTER INSERT OR UPDATE ON entity_limit
    FOR EACH ROW EXECUTE FUNCTION access_changed('entity', 'entity_id');

GRANT SELECT, INSERT, UPDATE ON entity_limit TO lineproof_serve;
GRANT SELECT ON entity_limit TO lineproof_read;
GRANT SELECT (networks, rate, burst, last_used_at, last_used_from, created_by, revoked_by, replaces) ON api_key TO lineproof_read;
GRANT SELECT (last_used_at) ON client_secret TO lineproof_read;
GRANT SELECT (from_addr, agent, limited) ON session TO lineproof_read;

-- +goose Down
DROP TRIGGER access_changed ON entity;
DROP TRIGGER access_changed ON account;
DROP TRIGGER access_changed ON session;
DROP TRIGGER access_changed ON access_token;
DROP TRIGGER access_changed ON client;
DROP TRIGGER access_changed ON api_key;
DROP TABLE entity_limit;
DROP FUNCTION access_changed();
ALTER TABLE session DROP COLUMN limited, DROP COLUMN agent, DROP COLUMN from_addr;
ALTER TABLE client_secret DROP COLUMN last_used_at;
ALTER TABLE api_key DROP COLUMN replaces, DROP COLUMN revoked_by, DROP COLUMN created_by, DROP COLUMN last_used_from,
    DROP COLUMN last_used_at, DROP COLUMN burst, DROP COLUMN rate, DROP COLUMN networks;
