-- +goose Up
ALTER TABLE log_key DROP CONSTRAINT log_key_role_check;
ALTER TABLE log_key ADD CONSTRAINT log_key_role_check CHECK (role IN ('log', 'next', 'post-quantum', 'promise', 'witnesses'));

-- +goose Down
DELETE FROM log_key WHERE role IN ('next', 'post-quantum');
ALTER TABLE log_key DROP CONSTRAINT log_key_role_check;
ALTER TABLE log_key ADD CONSTRAINT log_key_role_check CHECK (role IN ('log', 'promise', 'witnesses'));
