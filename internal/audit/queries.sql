-- name: Insert :exec
INSERT INTO audit (id, at, actor_kind, actor_id, action, subject_id, entity_id, request_id, from_addr, before, after)
VALUES (@id, @at, @actor_kind, @actor_id, @action, @subject_id, @entity_id, @request_id, @from_addr, @before, @after);

-- name: At :one
SELECT at FROM audit WHERE id = @id;

-- List reads backwards from the cursor. A filter that is null or empty lets
-- everything pass.
-- name: List :many
SELECT id, at, actor_kind, actor_id, action, subject_id, entity_id, request_id, from_addr, before, after FROM audit
WHERE (sqlc.narg('entity_id')::uuid IS NULL OR entity_id = sqlc.narg('entity_id'))
  AND (sqlc.narg('actor_id')::uuid IS NULL OR actor_id = sqlc.narg('actor_id'))
  AND (sqlc.narg('subject_id')::uuid IS NULL OR subject_id = sqlc.narg('subject_id'))
  AND (@actor_kind::text = '' OR actor_kind = @actor_kind)
  AND starts_with(action, @action::text)
  AND (sqlc.narg('since')::timestamptz IS NULL OR at >= sqlc.narg('since'))
  AND (sqlc.narg('until')::timestamptz IS NULL OR at < sqlc.narg('until'))
  AND (sqlc.narg('before_at')::timestamptz IS NULL OR (at, id) < (sqlc.narg('before_at')::timestamptz, sqlc.narg('before_id')::uuid))
ORDER BY at DESC, id DESC LIMIT @most::bigint;
