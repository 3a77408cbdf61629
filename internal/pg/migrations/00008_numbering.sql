-- +goose Up
CREATE TABLE numbering_plan (
    version      integer     PRIMARY KEY CHECK (version > 0),
    id           uuid        NOT NULL CONSTRAINT numbering_plan_id_unique UNIQUE,
    effective_at timestamptz NOT NULL,
    digits       smallint    NOT NULL CHECK (digits BETWEEN 6 AND 15),
    source       text        NOT NULL CHECK (char_length(source) BETWEEN 1 AND 2000),
    created_at   timestamptz NOT NULL
);
COMMENT ON TABLE numbering_plan IS 'The versions of the numbering plan. Each is a whole plan; a version never changes. In force is the one that took effect last.';
COMMENT ON COLUMN numbering_plan.id IS 'What the audit trail calls the version.';
COMMENT ON COLUMN numbering_plan.digits IS 'How many digits a number of the plan has, with its country code and without the plus sign.';
COMMENT ON COLUMN numbering_plan.source IS 'Where the plan comes from, in words.';

CREATE TABLE numbering_network (
    version integer  NOT NULL REFERENCES numbering_plan,
    network smallint NOT NULL,
    name    text     NOT NULL CHECK (char_length(name) BETWEEN 1 AND 64),
    PRIMARY KEY (version, network)
);
COMMENT ON TABLE numbering_network IS 'What each network of a version is called. The network itself, whose code never changes, is in network; there is no foreign key, for lines and their networks must be able to move.';

CREATE TABLE numbering_range (
    version   integer  NOT NULL,
    prefix    text     NOT NULL CHECK (prefix ~ '^[1-9][0-9]{0,14}$'),
    network   smallint NOT NULL,
    allocated date     NOT NULL,
    withdrawn date     CHECK (withdrawn > allocated),
    PRIMARY KEY (version, prefix, allocated),
    FOREIGN KEY (version, network) REFERENCES numbering_network
);
COMMENT ON TABLE numbering_range IS 'Which network holds the numbers that begin with a prefix, from one date until another. Of several prefixes the longest counts.';
COMMENT ON COLUMN numbering_range.prefix IS 'The first digits of the E.164 form, without the plus sign.';
COMMENT ON COLUMN numbering_range.withdrawn IS 'The first day, in UTC, on which the range is no longer held; null while it is.';

GRANT SELECT, INSERT ON numbering_plan, numbering_network, numbering_range TO lineproof_serve;
GRANT SELECT ON numbering_plan, numbering_network, numbering_range TO lineproof_read;

-- +goose Down
DROP TABLE numbering_range;
DROP TABLE numbering_network;
DROP TABLE numbering_plan;
