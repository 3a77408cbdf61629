-- +goose Up
CREATE TABLE usage_key (
    entity_id uuid   NOT NULL REFERENCES entity,
    day       date   NOT NULL,
    key_id    uuid   NOT NULL,
    mode      text   NOT NULL,
    node      text   NOT NULL,
    outcome   text   NOT NULL,
    n         bigint NOT NULL CHECK (n > 0),
    PRIMARY KEY (entity_id, day, key_id, mode, node, outcome)
);
COMMENT ON TABLE usage_key IS 'What each API key got, by day (UTC) and node: numbers by the status of their answer, and refused or failed requests by the code of their error. A node adds its counts every few seconds; the total is the sum over the nodes.';
COMMENT ON COLUMN usage_key.outcome IS 'The status of an answer, or the code of an error.';

GRANT SELECT, INSERT, UPDATE ON usage_key TO lineproof_serve;
GRANT SELECT ON usage_key TO lineproof_read;

-- +goose Down
DROP TABLE usage_key;
