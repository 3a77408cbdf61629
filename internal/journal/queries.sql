-- name: NextEpoch :one
SELECT nextval('journal_epoch')::bigint AS epoch;

-- Entries finds a record by its id and the time inside it: the time leads to the
-- partition, and there through the BRIN index to a few pages.
-- name: Entries :many
SELECT * FROM journal_entry WHERE at = @at AND request_id = @request_id;

-- name: MakePartitions :one
SELECT journal_make_partitions(@days::integer) AS made;
