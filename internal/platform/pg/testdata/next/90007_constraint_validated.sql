-- +goose Up
ALTER TABLE line_now VALIDATE CONSTRAINT line_now_version_check;

-- +goose Down
