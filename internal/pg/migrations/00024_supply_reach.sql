-- +goose Up
CREATE TABLE supply_reach (
    network          smallint    NOT NULL,
    day              date        NOT NULL,
    lines            bigint      NOT NULL,
    capacity         bigint      NOT NULL,
    supplied_through timestamptz,
    noted_at         timestamptz NOT NULL,
    PRIMARY KEY (network, day)
);
COMMENT ON TABLE supply_reach IS 'How far each operator''s supply reached on each day (UTC), as a job last saw it on that day. It is kept for good; a day on which nobody looked has no row.';
COMMENT ON COLUMN supply_reach.lines IS 'Numbers with a running tenure.';
COMMENT ON COLUMN supply_reach.capacity IS 'Numbers that the operator''s ranges held.';
COMMENT ON COLUMN supply_reach.supplied_through IS 'As in supply_coverage; null for an operator that never supplied.';

GRANT SELECT, INSERT, UPDATE ON supply_reach TO lineproof_serve;
GRANT SELECT ON supply_reach TO lineproof_read;

-- +goose Down
DROP TABLE supply_reach;
