-- +goose Up
-- The home page of staff shows how the requests of all entities ended today.
CREATE INDEX usage_pace_day ON usage_pace (day);

-- +goose Down
DROP INDEX usage_pace_day;
