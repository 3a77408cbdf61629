-- Lookup names the network in the same round trip; the table of names is tiny.
-- name: Lookup :one
SELECT l.version, l.status, n.name AS network FROM line l JOIN network n ON n.id = l.network WHERE l.number = @number;

-- name: Networks :many
SELECT id, name FROM network;

-- name: AddNetwork :one
INSERT INTO network (id, name) SELECT coalesce(max(id), 0) + 1, @name FROM network RETURNING id;

-- Store writes rows of one chunk; a row that says the same again is left alone.
-- name: Store :execrows
INSERT INTO line (number, version, network, status)
SELECT unnest(@numbers::bigint[]), 1, unnest(@networks::smallint[]), unnest(@statuses::smallint[])
ON CONFLICT (number) DO UPDATE SET version = line.version + 1, network = excluded.network, status = excluded.status
WHERE (line.network, line.status) IS DISTINCT FROM (excluded.network, excluded.status);

-- name: AnyLine :one
SELECT EXISTS (SELECT FROM line) AS found;
