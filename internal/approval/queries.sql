-- Expire marks an undecided request as expired, so that the same change can be
-- requested again.
-- name: Expire :exec
UPDATE approval SET state = 'lapsed' WHERE kind = @kind AND subject_id = @subject_id AND state = 'waiting' AND expires_at <= @now;

-- Insert inserts nothing if the same change already waits.
-- name: Insert :execrows
INSERT INTO approval (id, kind, subject_id, entity_id, details, reason, state, asked_kind, asked_by, asked_at, expires_at)
VALUES (@id, @kind, @subject_id, @entity_id, @details, @reason, 'waiting', @asked_kind, @asked_by, @asked_at, @expires_at)
ON CONFLICT DO NOTHING;

-- name: Lock :one
SELECT id, kind, subject_id, entity_id, details, reason, state, asked_kind, asked_by, asked_at, expires_at, decided_kind, decided_by, decided_at, rejected_for, row_sum, row_mac
FROM approval WHERE id = @id FOR UPDATE;

-- name: Decide :exec
UPDATE approval SET state = @state, decided_kind = @decided_kind::text, decided_by = @decided_by, decided_at = @decided_at::timestamptz, rejected_for = @rejected_for WHERE id = @id;

-- name: List :many
SELECT id, kind, subject_id, entity_id, details, reason, state, asked_kind, asked_by, asked_at, expires_at, decided_kind, decided_by, decided_at, rejected_for, row_sum, row_mac
FROM approval WHERE @every::boolean OR (state = 'waiting' AND expires_at > @now) ORDER BY asked_at DESC, id DESC LIMIT @max_rows::bigint;

-- name: Find :one
SELECT id, kind, subject_id, entity_id, details, reason, state, asked_kind, asked_by, asked_at, expires_at, decided_kind, decided_by, decided_at, rejected_for, row_sum, row_mac
FROM approval WHERE id = @id;

-- Rejected returns what was rejected since a time. A request is decided within its lifetime, so
-- the index by the time of the request finds it.
-- name: Rejected :many
SELECT id, kind, subject_id, entity_id, details, reason, state, asked_kind, asked_by, asked_at, expires_at, decided_kind, decided_by, decided_at, rejected_for, row_sum, row_mac
FROM approval WHERE state = 'refused' AND decided_at > @since AND asked_at > @requested_since ORDER BY asked_at;
