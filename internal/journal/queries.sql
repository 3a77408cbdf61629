-- name: MakePartitions :one
SELECT journal_make_partitions(@days::integer) AS made;
