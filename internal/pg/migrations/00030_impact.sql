-- +goose Up
CREATE TABLE impact_notice (
    request_id      uuid        NOT NULL,
    events          bigint      NOT NULL,
    entity_id       uuid        NOT NULL REFERENCES entity,
    event_id        text        NOT NULL,
    told_at         timestamptz NOT NULL,
    acknowledged_at timestamptz,
    digest          bytea       CHECK (octet_length(digest) = 32),
    PRIMARY KEY (request_id, events),
    UNIQUE (entity_id, event_id)
);
CREATE INDEX impact_notice_told ON impact_notice USING brin (told_at);
COMMENT ON TABLE impact_notice IS 'The answers of which an entity was told that they would be different now, with the entry of its feed. The last notice of an answer is the one that counts. Has no number, so that erasing a number leaves nothing here.';
COMMENT ON COLUMN impact_notice.events IS 'How many events about the number the answer was recomputed by. It orders the notices of an answer, also when two passes find the same answer at once.';
COMMENT ON COLUMN impact_notice.event_id IS 'The id of the event in the feed of the live keys, which the entity acknowledges.';
COMMENT ON COLUMN impact_notice.digest IS 'SHA-256 of what the answer would say, so that it is told once; null if it would again say what it said.';
COMMENT ON COLUMN impact_notice.acknowledged_at IS 'When the entity confirmed that it has dealt with the notice.';

INSERT INTO outbox_mark (reader, n) SELECT reader, coalesce((SELECT max(n) FROM line_change), 0) FROM unnest(ARRAY['impact', 'impact-recent']) AS reader;

GRANT SELECT, INSERT, DELETE ON impact_notice TO lineproof_serve;
GRANT UPDATE (acknowledged_at) ON impact_notice TO lineproof_serve;

-- +goose Down
DELETE FROM outbox_mark WHERE reader IN ('impact', 'impact-recent');
DROP TABLE impact_notice;
