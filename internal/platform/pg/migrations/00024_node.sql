-- +goose Up
CREATE TABLE pepper_check (
    mac        bytea       PRIMARY KEY,
    created_at timestamptz NOT NULL
);
COMMENT ON TABLE pepper_check IS 'The HMAC of a known text under each pepper that was ever used, so that a node with a wrong pepper fails at its start and not at every request.';

CREATE TABLE running_node (
    name        text        PRIMARY KEY,
    seen_at     timestamptz NOT NULL,
    version     text        NOT NULL,
    connections int         NOT NULL CHECK (connections > 0),
    peppers     bytea[]     NOT NULL,
    files       text        NOT NULL,
    settings    jsonb       NOT NULL
);
COMMENT ON TABLE running_node IS 'The nodes that run, so that each can be compared with the others. A node writes its row at its start, renews seen_at, and deletes the row when it stops; one that ended otherwise is deleted by the others after a day.';
COMMENT ON COLUMN running_node.connections IS 'How many connections the node may open.';
COMMENT ON COLUMN running_node.peppers IS 'The HMAC of a known text under each of its peppers, newest first.';
COMMENT ON COLUMN running_node.files IS 'Where it stores documents: the bucket, or the id that stands in its directory.';
COMMENT ON COLUMN running_node.settings IS 'The HMAC of each setting that all nodes should share, under the newest pepper, by its name.';

GRANT SELECT, INSERT ON pepper_check TO lineproof_serve;
GRANT SELECT, INSERT, UPDATE, DELETE ON running_node TO lineproof_serve;
GRANT SELECT ON running_node TO lineproof_read;

-- +goose Down
DROP TABLE running_node;
DROP TABLE pepper_check;
