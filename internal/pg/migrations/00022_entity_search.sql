-- +goose Up
-- Staff page through all entities in three orders. The names are compared byte by
-- byte, so that the order does not change with the libraries of the machine.
CREATE INDEX entity_name ON entity ((lower(name) COLLATE "C"), id);
CREATE INDEX entity_created ON entity (created_at, id);
CREATE INDEX entity_status ON entity (status, (lower(name) COLLATE "C"), id);
COMMENT ON INDEX entity_name IS 'The list of entities by name, from any point of it.';
COMMENT ON INDEX entity_created IS 'The list of entities by age, from any point of it.';
COMMENT ON INDEX entity_status IS 'The list of entities by state and then by name, and those of one state by name.';

-- +goose Down
DROP INDEX entity_status;
DROP INDEX entity_created;
DROP INDEX entity_name;
