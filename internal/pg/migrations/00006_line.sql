-- +goose Up
CREATE TABLE network (
    id   smallint PRIMARY KEY,
    name text     NOT NULL CONSTRAINT network_name_unique UNIQUE CHECK (char_length(name) BETWEEN 1 AND 64)
);
COMMENT ON TABLE network IS 'Names of the mobile networks.';

CREATE TABLE line (
    number  bigint   PRIMARY KEY,
    version bigint   NOT NULL,
    network smallint NOT NULL,
    status  smallint NOT NULL
);
COMMENT ON TABLE line IS 'One compact row per number that was ever supplied. Joins nothing.';
COMMENT ON COLUMN line.number IS 'E.164 without the plus sign.';
COMMENT ON COLUMN line.version IS 'Counts the changes of the row; the journal names the version that answered.';
COMMENT ON COLUMN line.status IS 'Code of the status; the words are in package line.';

GRANT SELECT, INSERT, UPDATE ON network, line TO lineproof_serve;
GRANT SELECT ON network, line TO lineproof_read;

-- +goose Down
DROP TABLE line;
DROP TABLE network;
