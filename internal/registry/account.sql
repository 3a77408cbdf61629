-- name: AccountByID :one
SELECT a.id, a.kind, a.entity_id, coalesce(e.name, '')::text AS entity, coalesce(a.role, '')::text AS role, a.name, a.email, a.email_key, a.created_at,
       (a.verified_at IS NOT NULL)::boolean AS verified, (a.password_hash IS NOT NULL)::boolean AS accepted, (a.disabled_at IS NOT NULL)::boolean AS disabled,
       (coalesce(e.status, 'Approved') = 'Approved')::boolean AS approved
FROM account a LEFT JOIN entity e ON e.id = a.entity_id WHERE a.id = @id;

-- name: AccountByEmail :one
SELECT a.id, a.kind, a.entity_id, coalesce(e.name, '')::text AS entity, coalesce(a.role, '')::text AS role, a.name, a.email, a.email_key, a.created_at,
       (a.verified_at IS NOT NULL)::boolean AS verified, (a.password_hash IS NOT NULL)::boolean AS accepted, (a.disabled_at IS NOT NULL)::boolean AS disabled,
       (coalesce(e.status, 'Approved') = 'Approved')::boolean AS approved
FROM account a LEFT JOIN entity e ON e.id = a.entity_id WHERE a.email_key = @email_key;

-- Accounts lists the people of an entity or, where none is named, the staff.
-- name: Accounts :many
SELECT a.id, a.kind, a.entity_id, coalesce(e.name, '')::text AS entity, coalesce(a.role, '')::text AS role, a.name, a.email, a.email_key, a.created_at,
       (a.verified_at IS NOT NULL)::boolean AS verified, (a.password_hash IS NOT NULL)::boolean AS accepted, (a.disabled_at IS NOT NULL)::boolean AS disabled,
       (coalesce(e.status, 'Approved') = 'Approved')::boolean AS approved
FROM account a LEFT JOIN entity e ON e.id = a.entity_id WHERE a.entity_id IS NOT DISTINCT FROM @entity_id ORDER BY a.created_at, a.id;

-- ReviveInvited lets an invitation be sent again to somebody who has not
-- accepted it, or was let go. Whatever they had before is gone.
-- name: ReviveInvited :execrows
UPDATE account SET disabled_at = NULL, password_hash = NULL, verified_at = NULL, verified_by = NULL, role = @role
WHERE email_key = @email_key AND id = @id AND (password_hash IS NULL OR disabled_at IS NOT NULL);

-- name: SetPassword :execrows
UPDATE account SET password_hash = @password_hash WHERE id = @id AND disabled_at IS NULL;

-- name: AcceptInvited :execrows
UPDATE account SET name = @name, password_hash = @password_hash, verified_at = @at, verified_by = 'email'
WHERE id = @id AND password_hash IS NULL AND disabled_at IS NULL;

-- name: ConfirmEmail :execrows
UPDATE account SET verified_at = @at, verified_by = 'email' WHERE id = @id AND verified_at IS NULL;

-- name: DisableAccount :execrows
UPDATE account SET disabled_at = @at WHERE id = @id AND disabled_at IS NULL;

-- OthersWhoManage counts those who could still look after an entity or, among
-- the staff, after everything. It locks them, so that two cannot let each
-- other go at once.
-- name: OthersWhoManage :many
SELECT id FROM account WHERE entity_id IS NOT DISTINCT FROM @entity_id AND (kind = 'admin' OR role = 'administrator')
  AND id <> @id AND disabled_at IS NULL AND password_hash IS NOT NULL ORDER BY id FOR UPDATE;

-- Names returns what accounts and entities with these ids are called.
-- name: Names :many
SELECT a.id, a.name, coalesce(a.role, '')::text AS role, coalesce(o.name, '')::text AS entity
FROM account a LEFT JOIN entity o ON o.id = a.entity_id WHERE a.id = ANY(@ids::uuid[])
UNION ALL SELECT e.id, e.name, '', '' FROM entity e WHERE e.id = ANY(@ids::uuid[]);
