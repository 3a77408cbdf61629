-- +goose Up
CREATE TABLE policy (
    version                   integer     PRIMARY KEY CHECK (version > 0),
    id                        uuid        NOT NULL CONSTRAINT policy_id_unique UNIQUE,
    effective_at              timestamptz NOT NULL,
    recycled_days             integer     NOT NULL CHECK (recycled_days BETWEEN 1 AND 730),
    swapped_hours             integer     NOT NULL CHECK (swapped_hours BETWEEN 1 AND 2400),
    ported_hours              integer     NOT NULL CHECK (ported_hours BETWEEN 1 AND 2400),
    flagged_days              integer     NOT NULL CHECK (flagged_days BETWEEN 1 AND 730),
    quarantine_days           integer     NOT NULL CHECK (quarantine_days BETWEEN 1 AND 730),
    notice_days               integer     NOT NULL CHECK (notice_days BETWEEN 1 AND 180),
    lifecycle_freshness_hours integer     NOT NULL CHECK (lifecycle_freshness_hours BETWEEN 1 AND 4320),
    sim_freshness_hours       integer     NOT NULL CHECK (sim_freshness_hours BETWEEN 0 AND 2400),
    port_freshness_hours      integer     NOT NULL CHECK (port_freshness_hours BETWEEN 1 AND 2400),
    false_assurance_percent   integer     NOT NULL CHECK (false_assurance_percent BETWEEN 1 AND 100),
    sim_report_hours          integer     NOT NULL CHECK (sim_report_hours BETWEEN 1 AND 720),
    port_report_hours         integer     NOT NULL CHECK (port_report_hours BETWEEN 1 AND 720),
    bar_report_hours          integer     NOT NULL CHECK (bar_report_hours BETWEEN 1 AND 720),
    churn_report_days         integer     NOT NULL CHECK (churn_report_days BETWEEN 1 AND 90),
    backdating_days           integer     NOT NULL CHECK (backdating_days BETWEEN 1 AND 365),
    hold_percent              integer     NOT NULL CHECK (hold_percent BETWEEN 0 AND 49),
    personal_years            integer     NOT NULL CHECK (personal_years BETWEEN 1 AND 100),
    warm_up_days              integer     NOT NULL CHECK (warm_up_days BETWEEN 0 AND 365),
    warm_up_percent           integer     NOT NULL CHECK (warm_up_percent BETWEEN 1 AND 100),
    undocumented_percent      integer     NOT NULL CHECK (undocumented_percent BETWEEN 1 AND 100),
    time_zone                 text        NOT NULL CHECK (char_length(time_zone) BETWEEN 1 AND 64),
    clearing_house            text        NOT NULL CHECK (char_length(clearing_house) BETWEEN 0 AND 100),
    purposes                  text        NOT NULL CHECK (char_length(purposes) BETWEEN 1 AND 1000),
    note                      text        NOT NULL CHECK (char_length(note) BETWEEN 1 AND 500),
    created_at                timestamptz NOT NULL
);
COMMENT ON TABLE policy IS 'The versions of the policy by which statuses are derived. A version never changes. The current one is the version that took effect last.';
COMMENT ON COLUMN policy.id IS 'The id of the version in the audit trail.';
COMMENT ON COLUMN policy.lifecycle_freshness_hours IS 'How old the supply of the topic LIFECYCLE may be.';
COMMENT ON COLUMN policy.sim_freshness_hours IS 'How old the supply of the topic SIM may be. 0: the topic is not required.';
COMMENT ON COLUMN policy.port_freshness_hours IS 'How old the supply of the topic PORT may be. It is required only while clearing_house is not empty.';
COMMENT ON COLUMN policy.false_assurance_percent IS 'A topic of which a greater share of the events of the last 30 days contradicts the supplier''s own suppliedThrough is not fresh until 30 days have passed without another or two people accept it again.';
COMMENT ON COLUMN policy.backdating_days IS 'An event that took effect longer ago is held until the regulator confirms it.';
COMMENT ON COLUMN policy.hold_percent IS 'A snapshot that changes a greater share of an operator''s lines is held until staff confirm it. Below one half, so that a file with only half of the lines is always held.';
COMMENT ON COLUMN policy.personal_years IS 'For how many years the personal part of a record is kept.';
COMMENT ON COLUMN policy.warm_up_days IS 'After how many days a new organisation, or a new client, has its whole budget of numbers.';
COMMENT ON COLUMN policy.warm_up_percent IS 'The share of it on the first day.';
COMMENT ON COLUMN policy.undocumented_percent IS 'The largest share for an organisation that a client onboarded, until staff have accepted a document of it.';
COMMENT ON COLUMN policy.time_zone IS 'The zone in which a bare date that is reported is a day; its name in the IANA database.';
COMMENT ON COLUMN policy.clearing_house IS 'The name of the clearing house; empty while there is none.';
COMMENT ON COLUMN policy.purposes IS 'The purposes of API keys, and how an answer to each gives dates: code=exact, code=month or code=absent, separated by commas.';
COMMENT ON COLUMN policy.note IS 'Why the version was created.';

-- The first version, so that every answer has a policy.
INSERT INTO policy (version, id, effective_at, recycled_days, swapped_hours, ported_hours, flagged_days, quarantine_days, notice_days,
    lifecycle_freshness_hours, sim_freshness_hours, port_freshness_hours, false_assurance_percent,
    sim_report_hours, port_report_hours, bar_report_hours, churn_report_days, backdating_days, hold_percent, personal_years,
    warm_up_days, warm_up_percent, undocumented_percent,
    time_zone, clearing_house, purposes, note, created_at)
VALUES (1, gen_random_uuid(), '2000-01-01T00:00:00Z', 90, 240, 240, 90, 90, 14,
    168, 36, 72, 10,
    1, 24, 24, 7, 30, 10, 7,
    30, 10, 50,
    'Africa/Lagos', '', 'payment=month,account-opening=month,credential-reset=month,collection=absent,credit=month,other=absent',
    'the defaults', now());

GRANT SELECT, INSERT ON policy TO lineproof_serve;
GRANT SELECT ON policy TO lineproof_read;

-- +goose Down
DROP TABLE policy;
