-- name: Insert :exec
INSERT INTO audit (id, at, actor_kind, actor_id, action, subject_id, entity_id, request_id)
VALUES (@id, @at, @actor_kind, @actor_id, @action, @subject_id, @entity_id, @request_id);
