-- +goose Up
ALTER TABLE supply_import VALIDATE CONSTRAINT supply_import_kind_check;

-- +goose Down
