-- +goose Up
ALTER TABLE journal_entry ADD COLUMN extra text NOT NULL DEFAULT '';
COMMENT ON COLUMN journal_entry.extra IS 'What the answer said beyond its five fields, as said; empty when nothing more was asked.';

-- +goose Down
ALTER TABLE journal_entry DROP COLUMN extra;
