-- +goose Up
CREATE TABLE login_trouble (
    mac        bytea       PRIMARY KEY,
    tries      integer     NOT NULL CHECK (tries >= 0),
    counted_at timestamptz NOT NULL,
    not_before timestamptz NOT NULL,
    failed     integer     NOT NULL DEFAULT 0 CHECK (failed >= 0),
    account_id uuid
);
CREATE INDEX login_trouble_counted ON login_trouble (counted_at);
CREATE INDEX login_trouble_failed ON login_trouble (account_id) WHERE failed > 0;
COMMENT ON TABLE login_trouble IS 'Counters of login attempts per account and network, per account, and per account and known device; and of e-mails that a person or an address can cause.';
COMMENT ON COLUMN login_trouble.mac IS 'The HMAC of what is counted. It hides the e-mail address; one without an account is counted like any other.';
COMMENT ON COLUMN login_trouble.tries IS 'Attempts that were evaluated. A correct one is subtracted again, and all expire when none was wrong for the length of the window.';
COMMENT ON COLUMN login_trouble.counted_at IS 'When the window started: at the first attempt, and again at every wrong one.';
COMMENT ON COLUMN login_trouble.not_before IS 'No further attempt is evaluated before this time.';
COMMENT ON COLUMN login_trouble.failed IS 'Wrong attempts that the audit trail does not have yet.';
COMMENT ON COLUMN login_trouble.account_id IS 'The account that the wrong attempts were for; the zero id for an address without one. It has no foreign key: checking it would take time that shows whether there is an account.';

CREATE TABLE login_device (
    id           uuid        PRIMARY KEY,
    account_id   uuid        NOT NULL REFERENCES account,
    mac          bytea       NOT NULL CONSTRAINT login_device_mac_unique UNIQUE,
    last_used_at timestamptz NOT NULL,
    created_at   timestamptz NOT NULL
);
CREATE INDEX login_device_account ON login_device (account_id, last_used_at);
CREATE INDEX login_device_used ON login_device (last_used_at);
COMMENT ON TABLE login_device IS 'Devices that have logged in to an account, as HMACs of their device tokens. Each has its own count of attempts, so that an attacker cannot lock the owner out.';

CREATE TABLE second_factor (
    account_id   uuid        PRIMARY KEY REFERENCES account,
    id           uuid        NOT NULL DEFAULT gen_random_uuid(),
    sealed       bytea       NOT NULL,
    last_step    bigint      NOT NULL DEFAULT 0,
    wrong_codes  integer     NOT NULL DEFAULT 0 CHECK (wrong_codes >= 0),
    locked_at    timestamptz,
    confirmed_at timestamptz,
    created_at   timestamptz NOT NULL
);
COMMENT ON TABLE second_factor IS 'The TOTP secret of an account, encrypted under a key that is derived from the pepper.';
COMMENT ON COLUMN second_factor.id IS 'Another at each set-up. The secret and the recovery codes are bound to it.';
COMMENT ON COLUMN second_factor.last_step IS 'The time step of the last accepted code. Codes of that step or an earlier one are rejected.';
COMMENT ON COLUMN second_factor.wrong_codes IS 'Codes that were evaluated since the last right one.';
COMMENT ON COLUMN second_factor.locked_at IS 'Since when no code is accepted, because too many were wrong; null if it is not locked.';
COMMENT ON COLUMN second_factor.confirmed_at IS 'Null during the set-up; until it is set, a login needs no code.';

-- +goose StatementBegin
CREATE FUNCTION factor_changed() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    changed uuid := coalesce(NEW.account_id, OLD.account_id);
    factor uuid := (SELECT f.id FROM second_factor f WHERE f.account_id = changed AND f.confirmed_at IS NOT NULL);
BEGIN
    UPDATE account a SET has_factor = factor IS NOT NULL, factor_id = factor WHERE a.id = changed AND a.factor_id IS DISTINCT FROM factor;
    RETURN NULL;
END $$;
-- +goose StatementEnd
COMMENT ON FUNCTION factor_changed IS 'Keeps account.has_factor and account.factor_id.';
CREATE TRIGGER factor_changed AFTER INSERT OR DELETE OR UPDATE OF account_id, id, confirmed_at ON second_factor FOR EACH ROW EXECUTE FUNCTION factor_changed();

CREATE TABLE recovery_code (
    account_id uuid        NOT NULL REFERENCES second_factor ON DELETE CASCADE,
    mac        bytea       NOT NULL,
    used_at    timestamptz,
    PRIMARY KEY (account_id, mac)
);
COMMENT ON TABLE recovery_code IS 'Recovery codes for a lost authenticator, as HMACs. Each works once.';

CREATE TABLE account_link (
    id         uuid        PRIMARY KEY,
    account_id uuid        NOT NULL REFERENCES account,
    kind       text        NOT NULL CHECK (kind IN ('confirm', 'reset', 'invite')),
    mac        bytea       NOT NULL CONSTRAINT account_link_mac_unique UNIQUE,
    expires_at timestamptz NOT NULL,
    used_at    timestamptz,
    created_at timestamptz NOT NULL,
    row_sum    bytea,
    row_mac    bytea
);
CREATE INDEX account_link_account ON account_link (account_id, kind);
CREATE INDEX account_link_expiry ON account_link (expires_at);
COMMENT ON TABLE account_link IS 'Links in e-mails, as HMACs of their tokens. Each works once, and its use also ends the others of its kind.';
COMMENT ON COLUMN account_link.row_sum IS 'As in account.';
COMMENT ON COLUMN account_link.row_mac IS 'As in account.';
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON account_link FOR EACH ROW EXECUTE FUNCTION row_summed(
    'id', 'account_id', 'kind', 'mac', 'expires_at', 'used_at', 'created_at');
CREATE TRIGGER row_inserted AFTER INSERT ON account_link FOR EACH ROW EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER row_updated AFTER UPDATE ON account_link FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('id');

CREATE TABLE message (
    id         uuid        PRIMARY KEY,
    account_id uuid        NOT NULL REFERENCES account,
    kind       text        NOT NULL,
    ref        uuid,
    about      text        NOT NULL CHECK (char_length(about) <= 300),
    detail     text        NOT NULL CHECK (char_length(detail) <= 500),
    path       text        NOT NULL CHECK (path LIKE '/portal/%'),
    created_at timestamptz NOT NULL,
    read_at    timestamptz
);
CREATE INDEX message_account ON message (account_id, id);
CREATE INDEX message_unread ON message (account_id) WHERE read_at IS NULL;
CREATE INDEX message_created ON message (created_at);
CREATE UNIQUE INDEX message_once ON message (account_id, kind, ref) WHERE ref IS NOT NULL;
COMMENT ON TABLE message IS 'What a person finds under Messages in the portal, each also sent as an e-mail unless the person has muted its kind. Deleted after 90 days. No phone number and no secret.';
COMMENT ON COLUMN message.kind IS 'The kind of the e-mail that says the same.';
COMMENT ON COLUMN message.ref IS 'What it is about, where a job looks for it again and again: each person is told once. Null for a message that its event stores.';
COMMENT ON COLUMN message.about IS 'The name of what it is about: an organisation, a file, a document.';
COMMENT ON COLUMN message.path IS 'The page of the portal where the person can act.';
COMMENT ON COLUMN message.read_at IS 'Null until the person has opened it or marked it as read.';

CREATE TABLE message_mute (
    account_id uuid NOT NULL REFERENCES account,
    kind       text NOT NULL,
    PRIMARY KEY (account_id, kind)
);
COMMENT ON TABLE message_mute IS 'Kinds of message that a person does not want as an e-mail. They stay in the portal.';

GRANT SELECT, INSERT, UPDATE, DELETE ON login_trouble, login_device, second_factor, recovery_code, account_link, message TO lineproof_serve;
GRANT SELECT, INSERT, DELETE ON message_mute TO lineproof_serve;
GRANT SELECT ON message, message_mute TO lineproof_read;
-- Every column but the HMACs and the encrypted secrets.
GRANT SELECT (tries, counted_at, not_before, failed, account_id) ON login_trouble TO lineproof_read;
GRANT SELECT (id, account_id, last_used_at, created_at) ON login_device TO lineproof_read;
GRANT SELECT (account_id, wrong_codes, locked_at, confirmed_at, created_at) ON second_factor TO lineproof_read;
GRANT SELECT (account_id, used_at) ON recovery_code TO lineproof_read;
GRANT SELECT (id, account_id, kind, expires_at, used_at, created_at) ON account_link TO lineproof_read;

-- +goose Down
DROP TABLE message_mute;
DROP TABLE message;
DROP TABLE account_link;
DROP TABLE recovery_code;
DROP TABLE second_factor;
DROP FUNCTION factor_changed;
DROP TABLE login_device;
DROP TABLE login_trouble;
