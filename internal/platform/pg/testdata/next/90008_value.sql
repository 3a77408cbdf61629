-- +goose Up
ALTER TABLE supply_import DROP CONSTRAINT supply_import_kind_check,
    ADD CONSTRAINT supply_import_kind_check CHECK (kind IN ('snapshot', 'events', 'correction')) NOT VALID;

-- +goose Down
