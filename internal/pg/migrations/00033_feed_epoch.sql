-- +goose Up
CREATE TABLE feed_epoch (
    one        boolean     PRIMARY KEY DEFAULT true CHECK (one),
    epoch      integer     NOT NULL CHECK (epoch > 0),
    changed_at timestamptz NOT NULL
);
INSERT INTO feed_epoch (epoch, changed_at) VALUES (1, now());
COMMENT ON TABLE feed_epoch IS 'One row: the epoch of every feed. Only the owner raises it, after a restore from a backup.';
COMMENT ON COLUMN feed_epoch.epoch IS 'After a restore: the time in seconds since 2020-01-01 UTC, so that two restores of the same backup give two epochs.';
GRANT SELECT ON feed_epoch TO lineproof_serve;

-- +goose Down
DROP TABLE feed_epoch;
