-- name: Insert :exec
INSERT INTO audit (id, at, actor_kind, actor_id, action, subject_id, entity_id, request_id, from_addr, before, after)
VALUES (@id, @at, @actor_kind, @actor_id, @action, @subject_id, @entity_id, @request_id, @from_addr, @before, @after);

-- name: At :one
SELECT at FROM audit WHERE id = @id;

-- List reads backwards from the cursor. A filter that is null or empty selects
-- everything. Each id has an index that includes the time; see ListByAction for the
-- filters without one.
-- name: List :many
SELECT id, at, actor_kind, actor_id, action, subject_id, entity_id, request_id, from_addr, before, after FROM audit
WHERE (sqlc.narg('entity_id')::uuid IS NULL OR entity_id = sqlc.narg('entity_id'))
  AND (sqlc.narg('actor_id')::uuid IS NULL OR actor_id = sqlc.narg('actor_id'))
  AND (sqlc.narg('subject_id')::uuid IS NULL OR subject_id = sqlc.narg('subject_id'))
  AND (sqlc.narg('request_id')::uuid IS NULL OR request_id = sqlc.narg('request_id'))
  AND (@actor_kind::text = '' OR actor_kind = @actor_kind)
  AND (@action::text = '' OR starts_with(action, @action))
  AND (sqlc.narg('since')::timestamptz IS NULL OR at >= sqlc.narg('since'))
  AND (sqlc.narg('until')::timestamptz IS NULL OR at < sqlc.narg('until'))
  AND (sqlc.narg('before_at')::timestamptz IS NULL OR (at, id) < (sqlc.narg('before_at')::timestamptz, sqlc.narg('before_id')::uuid))
ORDER BY at DESC, id DESC LIMIT @max_rows::bigint;

-- ListByAction is List by action and kind of actor alone. A rare combination would
-- make List read the whole table. There are few combinations: the recursive query
-- finds them one by one with one index step each, and each selected combination is
-- then read backwards from the cursor.
-- name: ListByAction :many
WITH RECURSIVE combination AS (
    (SELECT f.action, f.actor_kind FROM audit f ORDER BY f.action, f.actor_kind LIMIT 1)
    UNION ALL
    SELECT n.action, n.actor_kind FROM combination s CROSS JOIN LATERAL (
        SELECT a.action, a.actor_kind FROM audit a WHERE (a.action, a.actor_kind) > (s.action, s.actor_kind) ORDER BY a.action, a.actor_kind LIMIT 1) n
)
SELECT e.id, e.at, e.actor_kind, e.actor_id, e.action, e.subject_id, e.entity_id, e.request_id, e.from_addr, e.before, e.after
FROM combination s CROSS JOIN LATERAL (
    SELECT * FROM audit a WHERE a.action = s.action AND a.actor_kind = s.actor_kind
      AND (sqlc.narg('since')::timestamptz IS NULL OR a.at >= sqlc.narg('since'))
      AND (sqlc.narg('until')::timestamptz IS NULL OR a.at < sqlc.narg('until'))
      AND (sqlc.narg('before_at')::timestamptz IS NULL OR (a.at, a.id) < (sqlc.narg('before_at')::timestamptz, sqlc.narg('before_id')::uuid))
    ORDER BY a.at DESC, a.id DESC LIMIT @max_rows::bigint) e
WHERE starts_with(s.action, @action::text) AND (@actor_kind::text = '' OR s.actor_kind = @actor_kind)
ORDER BY e.at DESC, e.id DESC LIMIT @max_rows::bigint;
