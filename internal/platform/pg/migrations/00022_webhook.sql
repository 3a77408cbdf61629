-- +goose Up
CREATE TABLE hook_endpoint (
    id             uuid        PRIMARY KEY,
    entity_id      uuid        NOT NULL REFERENCES entity,
    mode           text        NOT NULL CHECK (mode IN ('live', 'test')),
    name           text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    url            text        NOT NULL CHECK (octet_length(url) <= 2000),
    form           text        NOT NULL CHECK (form IN ('batch', 'single')),
    algorithm      text        NOT NULL CHECK (algorithm IN ('ed25519', 'hmac')),
    state          text        NOT NULL CHECK (state IN ('unconfirmed', 'active', 'paused', 'disabled')),
    reason         text        NOT NULL DEFAULT '' CHECK (reason IN ('', 'gone', 'failing')),
    key            bytea       NOT NULL,
    previous_key   bytea,
    previous_until timestamptz,
    version        bigint      NOT NULL DEFAULT 1,
    made_by_key    uuid        REFERENCES api_key,
    created_at     timestamptz NOT NULL,
    changed_at     timestamptz NOT NULL
);
CREATE INDEX hook_endpoint_entity ON hook_endpoint (entity_id, mode);
CREATE INDEX hook_endpoint_key ON hook_endpoint (made_by_key) WHERE made_by_key IS NOT NULL;
COMMENT ON TABLE hook_endpoint IS 'The addresses to which the feeds of entities are sent.';
COMMENT ON COLUMN hook_endpoint.state IS 'Only an active endpoint gets events. A new one is unconfirmed until it has answered a challenge; the service disables one that is gone or fails for days.';
COMMENT ON COLUMN hook_endpoint.reason IS 'Why it is disabled: gone, it answered 410; failing, it accepted nothing for three days.';
COMMENT ON COLUMN hook_endpoint.key IS 'The key that signs, encrypted under a key that is derived from the pepper, together with id, entity, mode and URL: in a row that was changed elsewhere it cannot be decrypted.';
COMMENT ON COLUMN hook_endpoint.previous_key IS 'The key before the last roll, which also signs until previous_until.';
COMMENT ON COLUMN hook_endpoint.made_by_key IS 'The API key that created it; null if a person did, or resumed or confirmed it after that key was revoked. An endpoint whose key is revoked gets no events, whatever its state.';
COMMENT ON COLUMN hook_endpoint.version IS 'Increases with each change, so that senders notice it.';

CREATE TABLE hook_cursor (
    endpoint_id   uuid        PRIMARY KEY REFERENCES hook_endpoint ON DELETE CASCADE,
    seq           bigint      NOT NULL,
    lease         bigint      NOT NULL DEFAULT 0,
    node          text        NOT NULL DEFAULT '',
    leased_until  timestamptz,
    attempts      bigint      NOT NULL DEFAULT 0,
    delivered_at  timestamptz,
    failures      integer     NOT NULL DEFAULT 0,
    failing_since timestamptz,
    next_at       timestamptz,
    notified_at   timestamptz,
    refusals      integer     NOT NULL DEFAULT 0,
    refused_since timestamptz,
    manual_at     timestamptz
) WITH (fillfactor = 50);
COMMENT ON TABLE hook_cursor IS 'How far each endpoint has got in its feed, which node sends to it, and how it fails.';
COMMENT ON COLUMN hook_cursor.seq IS 'Of the last entry of the feed that the endpoint has accepted, or that was put aside.';
COMMENT ON COLUMN hook_cursor.lease IS 'Counts the leases. Only the sender with the last one may move the cursor.';
COMMENT ON COLUMN hook_cursor.notified_at IS 'When the admins were told that the endpoint fails.';
COMMENT ON COLUMN hook_cursor.refusals IS 'How often the endpoint refused the entry after seq as malformed.';
COMMENT ON COLUMN hook_cursor.manual_at IS 'When somebody last asked for a request to the endpoint.';

CREATE TABLE hook_attempt (
    endpoint_id uuid        NOT NULL REFERENCES hook_endpoint ON DELETE CASCADE,
    n           bigint      NOT NULL,
    at          timestamptz NOT NULL,
    kind        text        NOT NULL CHECK (kind IN ('events', 'test', 'again', 'challenge')),
    message     text        NOT NULL,
    first_seq   bigint,
    last_seq    bigint,
    events      integer     NOT NULL,
    status      integer,
    error       text        NOT NULL,
    took_ms     integer     NOT NULL,
    answer      bytea       NOT NULL CHECK (octet_length(answer) <= 1024),
    PRIMARY KEY (endpoint_id, n)
);
COMMENT ON TABLE hook_attempt IS 'The last requests to each endpoint, about 1,000, for its owner. What was sent is not stored.';
COMMENT ON COLUMN hook_attempt.status IS 'Of the answer; null if there was none.';
COMMENT ON COLUMN hook_attempt.answer IS 'The first 1,024 bytes of the answer.';

CREATE TABLE hook_dead (
    endpoint_id uuid        NOT NULL REFERENCES hook_endpoint ON DELETE CASCADE,
    seq         bigint      NOT NULL,
    type        text        NOT NULL,
    refusals    integer     NOT NULL,
    died_at     timestamptz NOT NULL,
    status      integer     NOT NULL,
    answer      bytea       NOT NULL CHECK (octet_length(answer) <= 1024),
    sent_at     timestamptz,
    PRIMARY KEY (endpoint_id, seq)
);
COMMENT ON TABLE hook_dead IS 'Entries of feeds that an endpoint refused as malformed so often that the sender went on without them. They can be sent again.';
COMMENT ON COLUMN hook_dead.sent_at IS 'When the endpoint accepted the entry after all.';

GRANT SELECT, INSERT, UPDATE, DELETE ON hook_endpoint, hook_cursor, hook_attempt, hook_dead TO lineproof_serve;

-- +goose Down
DROP TABLE hook_dead;
DROP TABLE hook_attempt;
DROP TABLE hook_cursor;
DROP TABLE hook_endpoint;
