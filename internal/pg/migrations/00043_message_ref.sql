-- +goose Up
ALTER TABLE message ADD COLUMN ref uuid;
CREATE UNIQUE INDEX message_once ON message (account_id, kind, ref) WHERE ref IS NOT NULL;
COMMENT ON COLUMN message.ref IS 'What it is about, where a job looks for it again and again: each person is told once. Null for a message that its event stores.';

-- +goose Down
ALTER TABLE message DROP COLUMN ref;
