-- +goose Up
CREATE TABLE guard_entered (
    subject_id uuid    NOT NULL,
    year       integer NOT NULL,
    is_sponsor boolean NOT NULL,
    version    bigint  NOT NULL,
    numbers    bytea   NOT NULL,
    PRIMARY KEY (subject_id, year)
);
ALTER TABLE guard_entered ALTER numbers SET STORAGE EXTERNAL; -- registers of a sketch do not compress
COMMENT ON TABLE guard_entered IS 'The different numbers that each entity, and each sponsor, has put into watch-lists in a year (UTC): they spend the same yearly budget as verifications. No number is stored: a sketch counts them. Written in the transaction that changes the list; deleted with the year.';
COMMENT ON COLUMN guard_entered.subject_id IS 'The entity, or the client if is_sponsor is set.';
COMMENT ON COLUMN guard_entered.version IS 'Increases with each change, so that nodes read only what they do not know.';
COMMENT ON COLUMN guard_entered.numbers IS 'A HyperLogLog sketch with 2^14 registers of a byte, with the hashes of guard_year.';

COMMENT ON COLUMN guard_seen.seen IS 'For each entity: its id, that of the client that onboarded it, how many numbers follow, and each as its difference from the one before; see internal/numberreport.';

CREATE TABLE outbox_mark (
    reader text   PRIMARY KEY,
    n      bigint NOT NULL
);
COMMENT ON TABLE outbox_mark IS 'Up to where each reader of the outbox has read. Whoever locks a row, reader or watch-list, is before or after a whole batch of changes.';
INSERT INTO outbox_mark (reader, n) VALUES ('feed', 0);

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
    effective_from bigint      NOT NULL DEFAULT 0,
    created_at     timestamptz NOT NULL,
    changed_at     timestamptz NOT NULL
);
ALTER SEQUENCE watch_block_list OWNED BY watch_list.blocks;
CREATE INDEX watch_list_entity ON watch_list (entity_id, mode);
COMMENT ON TABLE watch_list IS 'The lists of numbers of whose changes an entity is told.';
COMMENT ON COLUMN watch_list.blocks IS 'The number of the list in watch_block.';
COMMENT ON COLUMN watch_list.digest IS 'The XOR of SHA-256(block, members) over all blocks, the block as eight bytes, so that an entity can compare its list with ours.';
COMMENT ON COLUMN watch_list.state IS 'A held list waits for staff, and nothing is told of its numbers.';
COMMENT ON COLUMN watch_list.sampled IS 'How many numbers were sampled when they entered, since staff last released the list; missing of them had no running tenure, and uncovered no supply. For staff only: the entity must not learn which numbers are lines.';
COMMENT ON COLUMN watch_list.effective_from IS 'The place in the outbox after which changes are matched with the list as it is.';

CREATE TABLE watch_block (
    block   bigint  NOT NULL,
    list    integer NOT NULL,
    members bytea   NOT NULL CHECK (octet_length(members) BETWEEN 2 AND 125),
    PRIMARY KEY (block, list)
);
ALTER TABLE watch_block ALTER members SET STORAGE PLAIN;
CREATE INDEX watch_block_of_list ON watch_block (list, block);
COMMENT ON TABLE watch_block IS 'The members of watch-lists: one row for each list and block of 1,000 numbers. No page or command shows them to staff.';
COMMENT ON COLUMN watch_block.block IS 'The number divided by 1,000.';
COMMENT ON COLUMN watch_block.members IS 'The rests of the numbers: ascending, two bytes each, while there are at most 62; else 125 bytes with a bit for each rest, the lowest bit of the first byte for 0.';

GRANT SELECT, INSERT, UPDATE, DELETE ON guard_entered, watch_list, watch_block TO lineproof_serve;
GRANT SELECT, UPDATE ON outbox_mark TO lineproof_serve;
GRANT USAGE ON SEQUENCE watch_block_list TO lineproof_serve;

-- +goose Down
DROP TABLE watch_block;
DROP TABLE watch_list;
DROP TABLE outbox_mark;
DROP TABLE guard_entered;
