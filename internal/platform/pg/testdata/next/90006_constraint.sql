-- +goose Up
ALTER TABLE line_now ADD CONSTRAINT line_now_version_check CHECK (version >= 0) NOT VALID;

-- +goose Down
ALTER TABLE line_now DROP CONSTRAINT line_now_version_check;
