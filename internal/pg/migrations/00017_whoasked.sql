-- +goose Up
-- The number is here and not in approval, because rows of approval are never deleted.
CREATE TABLE who_asked (
    id         uuid        PRIMARY KEY,
    number     bigint      NOT NULL,
    first_day  date        NOT NULL,
    last_day   date        NOT NULL,
    allowed    boolean     NOT NULL,
    expires_at timestamptz NOT NULL,
    CHECK (last_day >= first_day)
);
CREATE INDEX who_asked_expires ON who_asked (expires_at);
COMMENT ON TABLE who_asked IS 'Requested searches of all answers about one number. A second person allows each; a row is deleted when it expires.';
COMMENT ON COLUMN who_asked.id IS 'The subject of the approval.';
COMMENT ON COLUMN who_asked.expires_at IS 'Seven days after the request; after the confirmation, seven days after that.';

GRANT SELECT, INSERT, UPDATE, DELETE ON who_asked TO lineproof_serve;
GRANT SELECT (id, first_day, last_day, allowed, expires_at) ON who_asked TO lineproof_read;

-- +goose Down
DROP TABLE who_asked;
