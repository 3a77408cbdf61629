-- +goose Up
CREATE SEQUENCE watch_block_list;
COMMENT ON SEQUENCE watch_block_list IS 'The numbers under which blocks of watch-lists are stored. A list that is replaced gets a new one.';

CREATE TABLE watch_list (
    id             uuid        PRIMARY KEY,
    entity_id      uuid        NOT NULL REFERENCES entity,
    mode           text        NOT NULL CHECK (mode IN ('live', 'test')),
    name           text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    blocks         integer     NOT NULL UNIQUE DEFAULT nextval('watch_block_list'),
    members        bigint      NOT NULL DEFAULT 0,
    digest         bytea       NOT NULL DEFAULT decode(repeat('00', 32), 'hex') CHECK (octet_length(digest) = 32),
    state          text        NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'held')),
    sampled        bigint      NOT NULL DEFAULT 0,
    missing        bigint      NOT NULL DEFAULT 0,
    uncovered      bigint      NOT NULL DEFAULT 0,
    judge_at       timestamptz,
    to_hold        boolean     NOT NULL DEFAULT false,
    effective_from bigint      NOT NULL DEFAULT 0,
    created_at     timestamptz NOT NULL,
    changed_at     timestamptz NOT NULL
);
ALTER SEQUENCE watch_block_list OWNED BY watch_list.blocks;
CREATE INDEX watch_list_judge ON watch_list (judge_at) WHERE judge_at IS NOT NULL;
CREATE INDEX watch_list_entity ON watch_list (entity_id, mode);
COMMENT ON TABLE watch_list IS 'The lists of numbers of whose changes an entity is told.';
COMMENT ON COLUMN watch_list.blocks IS 'The number of the list in watch_block.';
COMMENT ON COLUMN watch_list.digest IS 'The XOR of SHA-256(block, members) over all blocks, the block as eight bytes, so that an entity can compare its list with ours.';
COMMENT ON COLUMN watch_list.state IS 'A held list waits for staff, and nothing is told of its numbers.';
COMMENT ON COLUMN watch_list.judge_at IS 'When the verdict about the numbers that have entered takes effect; null if none waits. Then the list is held if to_hold is set.';
COMMENT ON COLUMN watch_list.sampled IS 'How many numbers were sampled when they entered, since staff last released the list; missing of them had no running tenure, and uncovered no supply. For staff only: the entity must not learn which numbers are lines.';
COMMENT ON COLUMN watch_list.effective_from IS 'The place in the outbox after which changes are matched with the list as it is.';

CREATE TABLE watch_block (
    block   bigint  NOT NULL,
    list    integer NOT NULL,
    members bytea   NOT NULL CHECK (octet_length(members) BETWEEN 2 AND 125)
);
ALTER TABLE watch_block ALTER members SET STORAGE PLAIN;
-- Two indexes of one column, whose equal values PostgreSQL stores once: a key of both columns took more than the members.
CREATE INDEX watch_block_block ON watch_block (block);
CREATE INDEX watch_block_of_list ON watch_block (list);
COMMENT ON TABLE watch_block IS 'The members of watch-lists: one row for each list and block of 1,000 numbers that it has; the lock of the row in watch_list keeps it one. No page or command shows them to staff.';
COMMENT ON COLUMN watch_block.block IS 'The number divided by 1,000.';
COMMENT ON COLUMN watch_block.members IS 'The rests of the numbers: a byte with their count, and their differences in a Rice code; or, if that is not shorter, 125 bytes with a bit for each rest, the lowest bit of the first byte for 0. See internal/notify/watchlist/block.go.';

GRANT SELECT, INSERT, UPDATE, DELETE ON watch_list, watch_block TO lineproof_serve;
GRANT USAGE ON SEQUENCE watch_block_list TO lineproof_serve;

-- +goose Down
DROP TABLE watch_block;
DROP TABLE watch_list;
