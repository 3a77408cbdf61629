-- name: Insert :exec
INSERT INTO document (id, entity_id, type, label, file_name, media_type, size, sha256, state, uploader, uploader_id, created_at)
VALUES (@id, @entity_id, @type, @label, @file_name, @media_type, @size, @sha256, @state, @uploader, @uploader_id, @created_at);

-- Replace links a new document to the newest one of its label that was rejected,
-- refused or infected and is not replaced yet. Of two uploads at the same time the
-- second waits for the lock, and then finds that document replaced.
-- name: Replace :exec
UPDATE document SET replaced_by = @id::uuid
WHERE id = (
    SELECT d.id FROM document d
    WHERE d.entity_id = @entity_id AND d.label = @label AND d.state IN ('rejected', 'refused', 'infected') AND d.replaced_by IS NULL
    ORDER BY d.created_at DESC, d.id DESC LIMIT 1 FOR UPDATE);

-- name: Find :one
SELECT d.id, d.entity_id, e.name AS entity_name, d.type, d.label, d.file_name, d.media_type, d.size, d.sha256, d.state, d.reason, d.note,
    d.uploader, d.uploader_id, d.created_at, d.moved_at, d.held_at, d.held_for, o.id AS replaces, d.replaced_by
FROM document d JOIN entity e ON e.id = d.entity_id LEFT JOIN document o ON o.replaced_by = d.id
WHERE d.id = @id;

-- name: Moves :many
SELECT at, from_state, to_state, actor_kind, actor_id, reason, note FROM document_move WHERE document_id = @document_id ORDER BY seq;

-- name: Lock :one
SELECT id, entity_id, state, (held_at IS NOT NULL)::boolean AS held, held_for, (replaced_by IS NOT NULL)::boolean AS replaced
FROM document WHERE id = @id FOR UPDATE;

-- name: SetState :execrows
UPDATE document SET state = @to_state, reason = @reason, note = @note, moved_at = @at WHERE id = @id AND state = @from_state;

-- AddMove relies on the lock of the document's row for the next seq.
-- name: AddMove :exec
INSERT INTO document_move (document_id, seq, at, from_state, to_state, actor_kind, actor_id, reason, note)
SELECT @document_id, coalesce(max(seq), 0) + 1, @at, @from_state, @to_state, @actor_kind, sqlc.narg('actor_id'), @reason, @note
FROM document_move WHERE document_id = @document_id;

-- name: SetHold :exec
UPDATE document SET held_at = @at, held_for = @reason WHERE id = @id;

-- Waiting lists the documents whose scan is not finished, with the time since when
-- they wait: that of the upload, or of the last rescan.
-- name: Waiting :many
SELECT d.id, coalesce((SELECT max(m.at) FROM document_move m WHERE m.document_id = d.id AND m.to_state = 'received'), d.created_at)::timestamptz AS since
FROM document d WHERE d.state IN ('received', 'scanning') ORDER BY d.id;

-- name: Required :one
SELECT document_required FROM entity WHERE id = @id;

-- ForRequirements lists the documents that may meet a requirement, newest first.
-- name: ForRequirements :many
SELECT id, label, state FROM document
WHERE entity_id = @entity_id AND label = ANY(@labels::text[]) AND state <> 'deleted' ORDER BY created_at DESC, id DESC;

-- Known returns which of the ids are documents whose content must exist, and which
-- are deleted documents.
-- name: Known :many
SELECT id, (state <> 'deleted')::boolean AS existing FROM document WHERE id = ANY(@ids::uuid[]);

-- Expired lists documents whose retention has passed: that of their label, or of
-- their type if the label has none. It leaves out documents under a legal hold,
-- and those that meet a requirement of an entity that is not revoked: the newest
-- accepted one of each required label.
-- name: Expired :many
SELECT d.id FROM document d JOIN entity e ON e.id = d.entity_id
WHERE d.state IN ('accepted', 'rejected', 'refused', 'infected') AND d.held_at IS NULL AND d.moved_at < @before
  AND (d.label = @kind::text OR (d.type = @kind::text AND NOT d.label = ANY(@kinds::text[])))
  AND NOT (d.state = 'accepted' AND d.label = ANY(@required::text[]) AND e.document_required AND e.status <> 'Revoked'
           AND NOT EXISTS (SELECT 1 FROM document n WHERE n.entity_id = d.entity_id AND n.label = d.label AND n.state = 'accepted'
                           AND (n.created_at, n.id) > (d.created_at, d.id)))
ORDER BY d.id LIMIT @page_size;

-- name: CountExisting :one
SELECT count(*) FROM document WHERE state <> 'deleted';

-- name: Existing :many
SELECT id, size, sha256 FROM document WHERE state <> 'deleted' AND (sqlc.narg('after')::uuid IS NULL OR id > sqlc.narg('after')) ORDER BY id LIMIT @page_size;
