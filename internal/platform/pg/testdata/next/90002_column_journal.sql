-- +goose Up
ALTER TABLE journal_entry ADD COLUMN channel smallint NOT NULL DEFAULT 0;
COMMENT ON COLUMN journal_entry.channel IS 'A column with a constant default, in a partitioned table.';

-- +goose Down
ALTER TABLE journal_entry DROP COLUMN channel;
