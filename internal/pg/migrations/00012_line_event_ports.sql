-- +goose Up
CREATE INDEX line_event_ports ON line_event (kind, number) WHERE kind IN (12, 13);
COMMENT ON INDEX line_event_ports IS 'Claims and releases of ports, among which staff look for those that have no other half. Few events are any.';

-- +goose Down
DROP INDEX line_event_ports;
