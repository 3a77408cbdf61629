-- +goose Up

-- The page of an open event is addressed by the event, because its number must not be in
-- an address.
CREATE INDEX line_open_seq ON line_open (seq);

-- +goose Down

DROP INDEX line_open_seq;
