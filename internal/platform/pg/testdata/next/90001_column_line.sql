-- +goose Up
ALTER TABLE line_now ADD COLUMN remark text;
COMMENT ON COLUMN line_now.remark IS 'A column that may be null, in a large table.';

-- +goose Down
ALTER TABLE line_now DROP COLUMN remark;
