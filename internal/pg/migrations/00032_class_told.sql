-- +goose Up
CREATE TABLE class_told (
    subject text PRIMARY KEY,
    value   text NOT NULL
);
COMMENT ON TABLE class_told IS 'What was last told to everybody who watches: the version of the policy and of the numbering plan, and whether the supply of each network is fresh or stale. Written with the entries of the feeds, so that a change is told once.';
COMMENT ON COLUMN class_told.subject IS 'policy, plan, or supply and the code of a network.';
GRANT SELECT, INSERT, UPDATE ON class_told TO lineproof_serve;

-- +goose Down
DROP TABLE class_told;
