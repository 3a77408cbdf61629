-- +goose Up

-- The other rows that decide access are signed like accounts and sessions; see 00019.

ALTER TABLE entity ADD row_sum bytea, ADD row_mac bytea;
COMMENT ON COLUMN entity.row_sum IS 'As in account.';
COMMENT ON COLUMN entity.row_mac IS 'As in account.';
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON entity FOR EACH ROW EXECUTE FUNCTION row_summed(
    'id', 'name', 'cac', 'status', 'document_required', 'supplies', 'asks', 'client_id', 'token_id', 'created_at');
UPDATE entity SET row_sum = NULL;
CREATE TRIGGER row_inserted AFTER INSERT ON entity FOR EACH ROW EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER row_updated AFTER UPDATE ON entity FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('id');

ALTER TABLE client ADD row_sum bytea, ADD row_mac bytea;
COMMENT ON COLUMN client.row_sum IS 'As in account.';
COMMENT ON COLUMN client.row_mac IS 'As in account.';
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON client FOR EACH ROW EXECUTE FUNCTION row_summed(
    'id', 'scopes', 'network', 'vouches', 'suspended_at', 'revoked_at', 'created_at');
UPDATE client SET row_sum = NULL;
CREATE TRIGGER row_inserted AFTER INSERT ON client FOR EACH ROW EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER row_updated AFTER UPDATE ON client FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('id');

ALTER TABLE client_secret ADD row_sum bytea, ADD row_mac bytea;
COMMENT ON COLUMN client_secret.row_sum IS 'As in account.';
COMMENT ON COLUMN client_secret.row_mac IS 'As in account.';
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON client_secret FOR EACH ROW EXECUTE FUNCTION row_summed(
    'id', 'client_id', 'mac', 'waits', 'revoked_at', 'created_at');
UPDATE client_secret SET row_sum = NULL;
CREATE TRIGGER row_inserted AFTER INSERT ON client_secret FOR EACH ROW EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER row_updated AFTER UPDATE ON client_secret FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('id');

ALTER TABLE access_token ADD row_sum bytea, ADD row_mac bytea;
COMMENT ON COLUMN access_token.row_sum IS 'As in account.';
COMMENT ON COLUMN access_token.row_mac IS 'As in account.';
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON access_token FOR EACH ROW EXECUTE FUNCTION row_summed(
    'id', 'client_id', 'mac', 'scopes', 'expires_at', 'revoked_at', 'created_at');
UPDATE access_token SET row_sum = NULL;
CREATE TRIGGER row_inserted AFTER INSERT ON access_token FOR EACH ROW EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER row_updated AFTER UPDATE ON access_token FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('id');

ALTER TABLE api_key ADD row_sum bytea, ADD row_mac bytea;
COMMENT ON COLUMN api_key.row_sum IS 'As in account.';
COMMENT ON COLUMN api_key.row_mac IS 'As in account.';
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON api_key FOR EACH ROW EXECUTE FUNCTION row_summed(
    'id', 'entity_id', 'mode', 'purpose', 'purpose_text', 'mac', 'networks', 'rate', 'burst', 'replaces', 'expires_at', 'revoked_at', 'created_at', 'created_by');
UPDATE api_key SET row_sum = NULL;
CREATE TRIGGER row_inserted AFTER INSERT ON api_key FOR EACH ROW EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER row_updated AFTER UPDATE ON api_key FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('id');

ALTER TABLE entity_limit ADD row_sum bytea, ADD row_mac bytea;
COMMENT ON COLUMN entity_limit.row_sum IS 'As in account.';
COMMENT ON COLUMN entity_limit.row_mac IS 'As in account.';
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON entity_limit FOR EACH ROW EXECUTE FUNCTION row_summed(
    'entity_id', 'rate', 'burst', 'day_quota', 'month_quota', 'day_numbers', 'year_numbers');
UPDATE entity_limit SET row_sum = NULL;
CREATE TRIGGER row_inserted AFTER INSERT ON entity_limit FOR EACH ROW EXECUTE FUNCTION row_changed('entity_id');
CREATE TRIGGER row_updated AFTER UPDATE ON entity_limit FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('entity_id');

ALTER TABLE mandate ADD row_sum bytea, ADD row_mac bytea;
COMMENT ON COLUMN mandate.row_sum IS 'As in account.';
COMMENT ON COLUMN mandate.row_mac IS 'As in account.';
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON mandate FOR EACH ROW EXECUTE FUNCTION row_summed(
    'id', 'entity_id', 'principal', 'purposes', 'until', 'document', 'created_at', 'created_by', 'ended_at');
UPDATE mandate SET row_sum = NULL;
CREATE TRIGGER row_inserted AFTER INSERT ON mandate FOR EACH ROW EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER row_updated AFTER UPDATE ON mandate FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('id');

ALTER TABLE account_link ADD row_sum bytea, ADD row_mac bytea;
COMMENT ON COLUMN account_link.row_sum IS 'As in account.';
COMMENT ON COLUMN account_link.row_mac IS 'As in account.';
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON account_link FOR EACH ROW EXECUTE FUNCTION row_summed(
    'id', 'account_id', 'kind', 'mac', 'expires_at', 'used_at', 'created_at');
UPDATE account_link SET row_sum = NULL;
CREATE TRIGGER row_inserted AFTER INSERT ON account_link FOR EACH ROW EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER row_updated AFTER UPDATE ON account_link FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('id');

ALTER TABLE approval ADD row_sum bytea, ADD row_mac bytea;
COMMENT ON COLUMN approval.row_sum IS 'As in account.';
COMMENT ON COLUMN approval.row_mac IS 'As in account.';
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON approval FOR EACH ROW EXECUTE FUNCTION row_summed(
    'id', 'kind', 'subject_id', 'entity_id', 'details', 'reason', 'state', 'asked_kind', 'asked_by', 'asked_at', 'expires_at', 'decided_kind', 'decided_by', 'decided_at');
UPDATE approval SET row_sum = NULL;
CREATE TRIGGER row_inserted AFTER INSERT ON approval FOR EACH ROW EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER row_updated AFTER UPDATE ON approval FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('id');

ALTER TABLE break_glass ADD row_sum bytea, ADD row_mac bytea;
COMMENT ON COLUMN break_glass.row_sum IS 'As in account.';
COMMENT ON COLUMN break_glass.row_mac IS 'As in account.';
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON break_glass FOR EACH ROW EXECUTE FUNCTION row_summed(
    'approval_id', 'reason', 'at');
UPDATE break_glass SET row_sum = NULL;
CREATE TRIGGER row_inserted AFTER INSERT ON break_glass FOR EACH ROW EXECUTE FUNCTION row_changed('approval_id');
CREATE TRIGGER row_updated AFTER UPDATE ON break_glass FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('approval_id');

ALTER TABLE access_given ADD id uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT access_given_id_unique UNIQUE, ADD row_sum bytea, ADD row_mac bytea;
COMMENT ON COLUMN access_given.row_sum IS 'As in account.';
COMMENT ON COLUMN access_given.row_mac IS 'As in account.';
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON access_given FOR EACH ROW EXECUTE FUNCTION row_summed(
    'id', 'subject_id', 'by_id', 'how', 'before_staff', 'at');
UPDATE access_given SET row_sum = NULL;
CREATE TRIGGER row_inserted AFTER INSERT ON access_given FOR EACH ROW EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER row_updated AFTER UPDATE ON access_given FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('id');

COMMENT ON COLUMN access_given.id IS 'Names the row in reports; the rows are never changed.';
-- Rows that are never changed are signed, too.
GRANT UPDATE (row_mac) ON mandate, break_glass, access_given TO lineproof_serve;

-- +goose Down
REVOKE UPDATE (row_mac) ON mandate, break_glass, access_given FROM lineproof_serve;
DROP TRIGGER row_updated ON access_given;
DROP TRIGGER row_inserted ON access_given;
DROP TRIGGER row_summed ON access_given;
ALTER TABLE access_given DROP row_mac, DROP row_sum, DROP id;
DROP TRIGGER row_updated ON break_glass;
DROP TRIGGER row_inserted ON break_glass;
DROP TRIGGER row_summed ON break_glass;
ALTER TABLE break_glass DROP row_mac, DROP row_sum;
DROP TRIGGER row_updated ON approval;
DROP TRIGGER row_inserted ON approval;
DROP TRIGGER row_summed ON approval;
ALTER TABLE approval DROP row_mac, DROP row_sum;
DROP TRIGGER row_updated ON account_link;
DROP TRIGGER row_inserted ON account_link;
DROP TRIGGER row_summed ON account_link;
ALTER TABLE account_link DROP row_mac, DROP row_sum;
DROP TRIGGER row_updated ON mandate;
DROP TRIGGER row_inserted ON mandate;
DROP TRIGGER row_summed ON mandate;
ALTER TABLE mandate DROP row_mac, DROP row_sum;
DROP TRIGGER row_updated ON entity_limit;
DROP TRIGGER row_inserted ON entity_limit;
DROP TRIGGER row_summed ON entity_limit;
ALTER TABLE entity_limit DROP row_mac, DROP row_sum;
DROP TRIGGER row_updated ON api_key;
DROP TRIGGER row_inserted ON api_key;
DROP TRIGGER row_summed ON api_key;
ALTER TABLE api_key DROP row_mac, DROP row_sum;
DROP TRIGGER row_updated ON access_token;
DROP TRIGGER row_inserted ON access_token;
DROP TRIGGER row_summed ON access_token;
ALTER TABLE access_token DROP row_mac, DROP row_sum;
DROP TRIGGER row_updated ON client_secret;
DROP TRIGGER row_inserted ON client_secret;
DROP TRIGGER row_summed ON client_secret;
ALTER TABLE client_secret DROP row_mac, DROP row_sum;
DROP TRIGGER row_updated ON client;
DROP TRIGGER row_inserted ON client;
DROP TRIGGER row_summed ON client;
ALTER TABLE client DROP row_mac, DROP row_sum;
DROP TRIGGER row_updated ON entity;
DROP TRIGGER row_inserted ON entity;
DROP TRIGGER row_summed ON entity;
ALTER TABLE entity DROP row_mac, DROP row_sum;
