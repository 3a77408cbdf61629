-- +goose Up
ALTER TABLE api_key ADD rights text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN api_key.rights IS 'What the key may do beyond verifying numbers; see package keyright.';
-- The rights are signed with the row. Keys that exist have to be signed again: lineproof rows accept api_key.
DROP TRIGGER row_updated ON api_key;
DROP TRIGGER row_summed ON api_key;
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON api_key FOR EACH ROW EXECUTE FUNCTION row_summed(
    'id', 'entity_id', 'mode', 'purpose', 'purpose_text', 'mac', 'networks', 'rate', 'burst', 'rights', 'replaces', 'expires_at', 'revoked_at', 'created_at', 'created_by');
UPDATE api_key SET row_sum = NULL;
CREATE TRIGGER row_updated AFTER UPDATE ON api_key FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('id');

-- +goose Down
DROP TRIGGER row_updated ON api_key;
DROP TRIGGER row_summed ON api_key;
ALTER TABLE api_key DROP rights;
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON api_key FOR EACH ROW EXECUTE FUNCTION row_summed(
    'id', 'entity_id', 'mode', 'purpose', 'purpose_text', 'mac', 'networks', 'rate', 'burst', 'replaces', 'expires_at', 'revoked_at', 'created_at', 'created_by');
UPDATE api_key SET row_sum = NULL;
CREATE TRIGGER row_updated AFTER UPDATE ON api_key FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('id');
