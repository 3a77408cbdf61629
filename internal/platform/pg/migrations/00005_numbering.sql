-- +goose Up
CREATE TABLE network (
    id   smallint PRIMARY KEY,
    name text     NOT NULL CONSTRAINT network_name_unique UNIQUE CHECK (char_length(name) BETWEEN 1 AND 64)
);
COMMENT ON TABLE network IS 'The mobile networks. The id of a network never changes.';

CREATE TABLE numbering_plan (
    version      integer     PRIMARY KEY CHECK (version > 0),
    id           uuid        NOT NULL CONSTRAINT numbering_plan_id_unique UNIQUE,
    effective_at timestamptz NOT NULL,
    digits       smallint    NOT NULL CHECK (digits BETWEEN 6 AND 15),
    source       text        NOT NULL CHECK (char_length(source) BETWEEN 1 AND 2000),
    created_at   timestamptz NOT NULL
);
COMMENT ON TABLE numbering_plan IS 'The versions of the numbering plan. Each is a whole plan and never changes. The current one is the version that took effect last.';
COMMENT ON COLUMN numbering_plan.id IS 'The id of the version in the audit trail.';
COMMENT ON COLUMN numbering_plan.digits IS 'The number of digits of a number, with its country code and without the plus sign.';
COMMENT ON COLUMN numbering_plan.source IS 'Where the plan comes from, in words.';

CREATE TABLE numbering_network (
    version integer  NOT NULL REFERENCES numbering_plan,
    network smallint NOT NULL,
    name    text     NOT NULL CHECK (char_length(name) BETWEEN 1 AND 64),
    PRIMARY KEY (version, network)
);
COMMENT ON TABLE numbering_network IS 'The name of each network in a version of the plan. No foreign key refers to network, so that lines and networks can move to another cluster.';

CREATE TABLE numbering_range (
    version   integer  NOT NULL,
    prefix    text     NOT NULL CHECK (prefix ~ '^[1-9][0-9]{0,14}$'),
    network   smallint NOT NULL,
    allocated date     NOT NULL,
    withdrawn date     CHECK (withdrawn > allocated),
    PRIMARY KEY (version, prefix, allocated),
    FOREIGN KEY (version, network) REFERENCES numbering_network
);
COMMENT ON TABLE numbering_range IS 'Which network holds the numbers that begin with a prefix, and from when until when. If several prefixes match, the longest one decides.';
COMMENT ON COLUMN numbering_range.prefix IS 'The first digits of the E.164 form, without the plus sign.';
COMMENT ON COLUMN numbering_range.withdrawn IS 'The first day (UTC) on which the network no longer holds the range; null while it holds it.';

CREATE TABLE numbering_draft (
    id           uuid        PRIMARY KEY,
    version      integer     NOT NULL CHECK (version > 0),
    effective_at timestamptz,
    digits       smallint    NOT NULL CHECK (digits BETWEEN 6 AND 15),
    source       text        NOT NULL CHECK (char_length(source) BETWEEN 1 AND 2000),
    ranges       text        NOT NULL,
    created_at   timestamptz NOT NULL
);
COMMENT ON TABLE numbering_draft IS 'Versions of the numbering plan that one person requested. A draft never changes; it becomes the version when a second person confirms the approval whose subject it is.';
COMMENT ON COLUMN numbering_draft.version IS 'The version that it would be: it is refused if there is another one by then.';
COMMENT ON COLUMN numbering_draft.effective_at IS 'Null: when it is confirmed.';
COMMENT ON COLUMN numbering_draft.ranges IS 'The whole plan as CSV, as lineproof plan export prints it.';

GRANT SELECT, INSERT, UPDATE ON network TO lineproof_serve;
GRANT SELECT, INSERT ON numbering_plan, numbering_network, numbering_range, numbering_draft TO lineproof_serve;
GRANT SELECT ON network, numbering_plan, numbering_network, numbering_range, numbering_draft TO lineproof_read;

-- +goose Down
DROP TABLE numbering_draft;
DROP TABLE numbering_range;
DROP TABLE numbering_network;
DROP TABLE numbering_plan;
DROP TABLE network;
