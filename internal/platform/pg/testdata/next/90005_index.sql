-- +goose NO TRANSACTION
-- +goose Up
DROP INDEX CONCURRENTLY IF EXISTS line_now_state_since;
CREATE INDEX CONCURRENTLY line_now_state_since ON line_now (state_since);

-- +goose Down
DROP INDEX line_now_state_since;
