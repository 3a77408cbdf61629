-- LockPlan serialises the transactions that set a plan: version and time of the
-- next one depend on the last one.
-- name: LockPlan :exec
SELECT pg_advisory_xact_lock(hashtextextended('lineproof numbering plan', 0));

-- LockNetworks serialises the transactions that add networks: otherwise two could
-- choose the same id.
-- name: LockNetworks :exec
SELECT pg_advisory_xact_lock(hashtextextended('lineproof networks', 0));

-- name: Networks :many
SELECT id, name FROM network ORDER BY id;

-- name: AddNetwork :one
INSERT INTO network (id, name) SELECT coalesce(max(id), 0) + 1, @name FROM network RETURNING id;

-- name: LastPlan :one
SELECT version, effective_at, digits FROM numbering_plan ORDER BY version DESC LIMIT 1;

-- name: InsertPlan :exec
INSERT INTO numbering_plan (version, id, effective_at, digits, source, created_at)
VALUES (@version, @id, @effective_at, @digits, @source, @created_at);

-- name: InsertNetworks :exec
INSERT INTO numbering_network (version, network, name) SELECT @version, unnest(@networks::smallint[]), unnest(@names::text[]);

-- name: InsertRanges :exec
INSERT INTO numbering_range (version, prefix, network, allocated, withdrawn)
SELECT @version, unnest(@prefixes::text[]), unnest(@networks::smallint[]), unnest(@allocated::date[]), unnest(@withdrawn::date[]);

-- name: PlanByVersion :one
SELECT version, effective_at, digits, source FROM numbering_plan WHERE version = @version;

-- name: CurrentPlan :one
SELECT version, effective_at, digits, source FROM numbering_plan
WHERE effective_at <= @at ORDER BY effective_at DESC, version DESC LIMIT 1;

-- name: NetworksOfPlan :many
SELECT network, name FROM numbering_network WHERE version = @version;

-- name: RangesOfPlan :many
SELECT prefix, network, allocated, withdrawn FROM numbering_range WHERE version = @version;

-- name: History :many
SELECT p.version, p.effective_at, p.source, p.created_at,
       (SELECT count(*) FROM numbering_range r WHERE r.version = p.version) AS ranges,
       (SELECT count(*) FROM numbering_network n WHERE n.version = p.version) AS networks
FROM numbering_plan p ORDER BY p.version;
