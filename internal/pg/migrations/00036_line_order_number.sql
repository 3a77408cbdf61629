-- +goose Up

-- The page of a number lists the orders about it.
CREATE INDEX line_order_number ON line_order (number, asked_at);

-- +goose Down

DROP INDEX line_order_number;
