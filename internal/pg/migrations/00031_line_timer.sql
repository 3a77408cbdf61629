-- +goose Up
CREATE TABLE line_timer (
    number bigint  PRIMARY KEY,
    due    integer NOT NULL,
    told   boolean NOT NULL DEFAULT false
);
CREATE INDEX line_timer_due ON line_timer (due) WHERE NOT told;
COMMENT ON TABLE line_timer IS 'The announced churn dates of lines, written in the transaction that stores the announcement, so that watchers are told when one is reached. Whether it still holds is decided then. Kept for some days after it was told.';
COMMENT ON COLUMN line_timer.due IS 'The announced churn date, in seconds since 2020-01-01 UTC (line_time).';
COMMENT ON COLUMN line_timer.told IS 'It was reached and passed on: the same date is not told again.';
GRANT SELECT, INSERT, UPDATE, DELETE ON line_timer TO lineproof_serve;

-- +goose Down
DROP TABLE line_timer;
