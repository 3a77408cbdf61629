-- name: NextEpoch :one
SELECT nextval('journal_epoch')::bigint AS epoch;

-- name: InsertBatch :exec
INSERT INTO journal_batch (node, epoch, n, at, count, root) VALUES (@node, @epoch, @n, @at, @count, @root);

-- name: InsertEntry :exec
INSERT INTO journal_entry (request_id, at, epoch, n, idx, entity_id, key_id, mode, purpose, correlator, number, phone_number, options,
    status, mobile_network, line_version, policy_version, plan_version, nonce, hash, extra)
VALUES (@request_id, @at, @epoch, @n, @idx, @entity_id, @key_id, @mode, @purpose, @correlator, @number, @phone_number, @options,
    @status, @mobile_network, @line_version, @policy_version, @plan_version, @nonce, @hash, @extra);

-- Entries finds a record by its id and the time inside it: the time leads to the
-- partition, and there through the BRIN index to a few pages.
-- name: Entries :many
SELECT * FROM journal_entry WHERE at = @at AND request_id = @request_id;

-- name: MakePartitions :one
SELECT journal_make_partitions(@days::integer) AS made;
