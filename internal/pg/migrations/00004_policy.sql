-- +goose Up
CREATE TABLE policy (
    version           integer     PRIMARY KEY CHECK (version > 0),
    id                uuid        NOT NULL CONSTRAINT policy_id_unique UNIQUE,
    effective_at      timestamptz NOT NULL,
    recycled_days     integer     NOT NULL CHECK (recycled_days BETWEEN 1 AND 730),
    swapped_hours     integer     NOT NULL CHECK (swapped_hours BETWEEN 1 AND 2400),
    ported_hours      integer     NOT NULL CHECK (ported_hours BETWEEN 1 AND 2400),
    flagged_days      integer     NOT NULL CHECK (flagged_days BETWEEN 1 AND 730),
    quarantine_days   integer     NOT NULL CHECK (quarantine_days BETWEEN 1 AND 730),
    notice_days       integer     NOT NULL CHECK (notice_days BETWEEN 1 AND 180),
    freshness_days    integer     NOT NULL CHECK (freshness_days BETWEEN 1 AND 180),
    churn_report_days integer     NOT NULL CHECK (churn_report_days BETWEEN 1 AND 90),
    hold_percent      integer     NOT NULL CHECK (hold_percent BETWEEN 0 AND 49),
    note              text        NOT NULL CHECK (char_length(note) BETWEEN 1 AND 500),
    created_at        timestamptz NOT NULL
);
COMMENT ON TABLE policy IS 'The versions of the policy by which statuses are derived. A version never changes. The current one is the version that took effect last.';
COMMENT ON COLUMN policy.id IS 'The id of the version in the audit trail.';
COMMENT ON COLUMN policy.hold_percent IS 'A snapshot that changes a greater share of an operator''s lines is held until staff confirm it. Below one half, so that a file with only half of the lines is always held.';
COMMENT ON COLUMN policy.note IS 'Why the version was created.';

-- The first version, so that every answer has a policy.
INSERT INTO policy (version, id, effective_at, recycled_days, swapped_hours, ported_hours, flagged_days, quarantine_days, notice_days,
    freshness_days, churn_report_days, hold_percent, note, created_at)
VALUES (1, gen_random_uuid(), '2000-01-01T00:00:00Z', 90, 240, 240, 90, 90, 14, 14, 7, 10, 'the defaults', now());

GRANT SELECT, INSERT ON policy TO lineproof_serve;
GRANT SELECT ON policy TO lineproof_read;

-- +goose Down
DROP TABLE policy;
