-- +goose Up
CREATE TABLE line_remark (
    number bigint PRIMARY KEY,
    remark text NOT NULL CHECK (char_length(remark) <= 100)
);
CREATE INDEX line_remark_remark ON line_remark (remark);
COMMENT ON TABLE line_remark IS 'A new table.';
GRANT SELECT, INSERT ON line_remark TO lineproof_serve;
GRANT SELECT ON line_remark TO lineproof_read;

-- +goose Down
DROP TABLE line_remark;
