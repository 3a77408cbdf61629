-- +goose Up
ALTER TABLE account ADD COLUMN title text NOT NULL DEFAULT '';
COMMENT ON COLUMN account.title IS 'A column in a table whose rows are signed.';
ALTER TABLE entity ADD COLUMN region text;
COMMENT ON COLUMN entity.region IS 'A column in a table that other tables refer to.';

-- +goose Down
ALTER TABLE entity DROP COLUMN region;
ALTER TABLE account DROP COLUMN title;
