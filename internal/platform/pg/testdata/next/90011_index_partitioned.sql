-- +goose Up
CREATE INDEX journal_entry_correlator ON ONLY journal_entry (correlator);

-- +goose Down
DROP INDEX journal_entry_correlator;
