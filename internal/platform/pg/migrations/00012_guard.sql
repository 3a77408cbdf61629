-- +goose Up
CREATE TABLE usage_day (
    day       date   NOT NULL,
    entity_id uuid   NOT NULL REFERENCES entity,
    node      text   NOT NULL,
    asked     bigint NOT NULL CHECK (asked >= 0),
    answered  bigint NOT NULL CHECK (answered >= 0),
    misses    bigint NOT NULL CHECK (misses >= 0),
    numbers   bigint NOT NULL CHECK (numbers >= 0),
    PRIMARY KEY (day, entity_id, node)
);
COMMENT ON TABLE usage_day IS 'Usage of each entity with live keys, by day (UTC) and node. A node adds its counts every few seconds; the total is the sum over the nodes.';
COMMENT ON COLUMN usage_day.asked IS 'Verifications that were admitted.';
COMMENT ON COLUMN usage_day.answered IS 'Verifications that were answered. Quotas limit these.';
COMMENT ON COLUMN usage_day.misses IS 'Answers that the number is not allocated.';
COMMENT ON COLUMN usage_day.numbers IS 'Different numbers, as the node counted them. A number that is verified on two nodes, or before and after a restart, counts twice.';

CREATE TABLE guard_seen (
    node text        NOT NULL,
    n    bigint      NOT NULL,
    at   timestamptz NOT NULL,
    seen bytea       NOT NULL,
    PRIMARY KEY (node, n)
);
CREATE INDEX guard_seen_at ON guard_seen (at);
COMMENT ON TABLE guard_seen IS 'Which numbers each entity verified on each node, for the other nodes, so that all of them judge the same. Deleted after 25 hours; read by nobody else.';
COMMENT ON COLUMN guard_seen.n IS 'Increases with each report of a node.';
COMMENT ON COLUMN guard_seen.seen IS 'For each entity: its id, that of the client that onboarded it, how many numbers follow, and each as its difference from the one before; see internal/access/guard.';

-- Every node needs the same hashes for as long as a sketch is kept, and with hashes that
-- are known one could choose numbers that no sketch counts.
CREATE TABLE guard_key (
    key bytea NOT NULL CHECK (octet_length(key) = 16)
);
COMMENT ON TABLE guard_key IS 'One row: the secret key of the hashes in guard_year.';
INSERT INTO guard_key VALUES (uuid_send(gen_random_uuid()));

CREATE TABLE guard_year (
    subject_id uuid        NOT NULL,
    year       integer     NOT NULL,
    is_sponsor boolean     NOT NULL,
    sponsor_id uuid,
    since      timestamptz,
    stored_at  timestamptz NOT NULL,
    counted    bigint      NOT NULL CHECK (counted >= 0),
    numbers    bytea       NOT NULL,
    recent     bytea       NOT NULL,
    missed     bytea       NOT NULL,
    blocks     bytea       NOT NULL,
    PRIMARY KEY (subject_id, year)
);
COMMENT ON TABLE guard_year IS 'How many different numbers each entity, and each sponsor, has verified in a year (UTC), and how much of each block of 10,000. No number is stored: sketches count them. Written about once an hour; deleted with the year.';
COMMENT ON COLUMN guard_year.subject_id IS 'The entity, or the client if is_sponsor is set.';
COMMENT ON COLUMN guard_year.sponsor_id IS 'The client that onboarded the entity.';
COMMENT ON COLUMN guard_year.since IS 'When staff last released the subject from an alert about the year; recent, missed and blocks begin there.';
COMMENT ON COLUMN guard_year.counted IS 'The estimate of different numbers in the year, within 1 %.';
COMMENT ON COLUMN guard_year.numbers IS 'A HyperLogLog sketch of the numbers, with 2^14 registers of a byte; recent and missed (those not allocated) have 2^12. See internal/access/guard/sketch/counter.go.';
COMMENT ON COLUMN guard_year.blocks IS 'For each block of 10,000 numbers its difference from the one before, and 64 bits, each of which stands for some twenty numbers; see internal/access/guard/sketch/blocks.go.';

CREATE TABLE guard_entered (
    subject_id uuid    NOT NULL,
    year       integer NOT NULL,
    is_sponsor boolean NOT NULL,
    version    bigint  NOT NULL,
    numbers    bytea   NOT NULL,
    file_day        bigint NOT NULL DEFAULT 0,
    file_spent      bigint NOT NULL DEFAULT 0,
    file_judged     bigint NOT NULL DEFAULT 0,
    file_missed     bigint NOT NULL DEFAULT 0,
    file_day_blocks bytea  NOT NULL DEFAULT '',
    file_since      timestamptz,
    file_numbers    bytea  NOT NULL DEFAULT '',
    file_blocks     bytea  NOT NULL DEFAULT '',
    lists_held      bigint NOT NULL DEFAULT 0,
    lists_deleted   bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (subject_id, year)
);
ALTER TABLE guard_entered ALTER numbers SET STORAGE EXTERNAL; -- registers of a sketch do not compress
COMMENT ON TABLE guard_entered IS 'The different numbers that each entity, and each sponsor, has put into watch-lists in a year (UTC): they spend the same yearly budget as verifications. No number is stored: a sketch counts them. Written in the transaction that changes the list; deleted with the year.';
COMMENT ON COLUMN guard_entered.subject_id IS 'The entity, or the client if is_sponsor is set.';
COMMENT ON COLUMN guard_entered.version IS 'Increases with each change, so that nodes read only what they do not know.';
COMMENT ON COLUMN guard_entered.file_day IS 'The day, counted from 1970 (UTC), of whose files file_spent, file_judged, file_missed and file_day_blocks tell.';
COMMENT ON COLUMN guard_entered.file_spent IS 'Different numbers of each file, added up; file_judged are those of files that were not held, and file_missed about how many of these are not allocated.';
COMMENT ON COLUMN guard_entered.file_day_blocks IS 'Where the numbers of the files of the day are, as in guard_year.blocks; file_numbers (a sketch with 2^12 registers) and file_blocks are those of the year since file_since, the last release.';
COMMENT ON COLUMN guard_entered.lists_held IS 'Live watch-lists of the entity that were held in the year; lists_deleted are those that it deleted.';
COMMENT ON COLUMN guard_entered.numbers IS 'A HyperLogLog sketch with 2^14 registers of a byte, with the hashes of guard_year.';

-- No phone number is stored here, only how many there were.
CREATE TABLE guard_alert (
    id          uuid        PRIMARY KEY,
    entity_id   uuid        REFERENCES entity,
    sponsor_id  uuid        REFERENCES client,
    kind        text        NOT NULL CHECK (kind IN ('budget', 'density', 'misses', 'year', 'year-nearly', 'harvest', 'harvest-misses', 'file', 'lists')),
    level       text        NOT NULL CHECK (level IN ('told', 'slowed', 'stopped')),
    since       timestamptz NOT NULL,
    ends_at     timestamptz,
    node        text        NOT NULL,
    numbers     bigint      NOT NULL,
    misses      bigint      NOT NULL,
    dense       bigint      NOT NULL,
    block       bigint      NOT NULL,
    budget      bigint      NOT NULL,
    released_at timestamptz,
    released_by uuid,
    reason      text        CHECK (char_length(reason) BETWEEN 1 AND 500),
    quiet_until timestamptz,
    CHECK (num_nonnulls(entity_id, sponsor_id) = 1),
    CHECK ((released_at IS NULL) = (reason IS NULL)),
    CHECK ((kind IN ('budget', 'year', 'year-nearly', 'file', 'lists')) = (ends_at IS NOT NULL))
);
-- If several nodes raise the same alert, the first one stores it.
CREATE UNIQUE INDEX guard_alert_open ON guard_alert (coalesce(entity_id, sponsor_id), kind, level) WHERE released_at IS NULL AND ends_at IS NULL;
CREATE UNIQUE INDEX guard_alert_budget ON guard_alert (coalesce(entity_id, sponsor_id), kind, ends_at) WHERE ends_at IS NOT NULL;
CREATE INDEX guard_alert_since ON guard_alert (since);
CREATE INDEX guard_alert_entity ON guard_alert (entity_id, since);
CREATE INDEX guard_alert_ends ON guard_alert (ends_at) WHERE ends_at IS NOT NULL;
CREATE INDEX guard_alert_released ON guard_alert (released_at) WHERE kind IN ('harvest', 'harvest-misses');
CREATE INDEX guard_alert_quiet ON guard_alert (quiet_until) WHERE quiet_until IS NOT NULL;
COMMENT ON TABLE guard_alert IS 'Entities whose requests look like number scanning, or that used up their budget of different numbers, with the figures and how the alert ended.';
COMMENT ON COLUMN guard_alert.sponsor_id IS 'The client, if the alert is about all entities that it onboarded.';
COMMENT ON COLUMN guard_alert.level IS 'The consequence: told, staff are notified; slowed, a tenth of the rate; stopped, no answers. The last two remain until staff release the entity.';
COMMENT ON COLUMN guard_alert.ends_at IS 'When the alert ends by itself. Only an alert about a budget, a held file or watch-lists does: at the end of the day, or of the month for a year''s budget that is nearly used up.';
COMMENT ON COLUMN guard_alert.numbers IS 'Different numbers, as the node counted them: within a day, or within the year for the kinds year, year-nearly, harvest and harvest-misses.';
COMMENT ON COLUMN guard_alert.dense IS 'How many of them are in blocks that are denser than chance allows; block is the size of those blocks, 0 if none was dense.';
COMMENT ON COLUMN guard_alert.released_by IS 'The account that released the entity; null for the operator at the command line.';
COMMENT ON COLUMN guard_alert.quiet_until IS 'Until then the entity is not slowed or stopped again.';

GRANT SELECT, INSERT, UPDATE ON usage_day, guard_alert TO lineproof_serve;
GRANT SELECT, INSERT, DELETE ON guard_seen TO lineproof_serve;
GRANT SELECT, INSERT, UPDATE, DELETE ON guard_year, guard_entered TO lineproof_serve;
GRANT SELECT ON guard_key TO lineproof_serve;
GRANT SELECT ON usage_day, guard_alert TO lineproof_read;

-- +goose Down
DROP TABLE guard_alert;
DROP TABLE guard_entered;
DROP TABLE guard_year;
DROP TABLE guard_key;
DROP TABLE guard_seen;
DROP TABLE usage_day;
