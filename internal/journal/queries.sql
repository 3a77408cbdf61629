-- name: NextEpoch :one
SELECT nextval('journal_epoch')::bigint AS epoch;

-- name: MakePartitions :one
SELECT journal_make_partitions(@days::integer) AS made;
