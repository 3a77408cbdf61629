-- name: Insert :exec
INSERT INTO document (id, entity_id, type, label, file_name, media_type, size, sha256, state, uploader, uploader_id, created_at)
VALUES (@id, @entity_id, @type, @label, @file_name, @media_type, @size, @sha256, @state, @uploader, @uploader_id, @created_at);

-- name: ByID :one
SELECT id, entity_id, type, label, file_name, media_type, size, sha256, state, created_at FROM document WHERE id = @id;
