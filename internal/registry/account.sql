-- name: AccountByID :one
SELECT a.id, a.kind, a.entity_id, coalesce(e.name, '')::text AS entity, coalesce(a.role, '')::text AS role, a.makes_keys, a.name, a.email, a.email_key, a.created_at,
       (a.verified_at IS NOT NULL)::boolean AS verified, (a.password_hash IS NOT NULL)::boolean AS accepted, (a.disabled_at IS NOT NULL)::boolean AS disabled,
       (coalesce(e.status, 'Approved') = 'Approved')::boolean AS approved, a.row_sum, a.row_mac
FROM account a LEFT JOIN entity e ON e.id = a.entity_id WHERE a.id = @id;

-- name: AccountByEmail :one
SELECT a.id, a.kind, a.entity_id, coalesce(e.name, '')::text AS entity, coalesce(a.role, '')::text AS role, a.makes_keys, a.name, a.email, a.email_key, a.created_at,
       (a.verified_at IS NOT NULL)::boolean AS verified, (a.password_hash IS NOT NULL)::boolean AS accepted, (a.disabled_at IS NOT NULL)::boolean AS disabled,
       (coalesce(e.status, 'Approved') = 'Approved')::boolean AS approved, a.row_sum, a.row_mac
FROM account a LEFT JOIN entity e ON e.id = a.entity_id WHERE a.email_key = @email_key;

-- Accounts lists the people of an entity or, if entity_id is null, the staff.
-- name: Accounts :many
SELECT a.id, a.kind, a.entity_id, coalesce(e.name, '')::text AS entity, coalesce(a.role, '')::text AS role, a.makes_keys, a.name, a.email, a.email_key, a.created_at,
       (a.verified_at IS NOT NULL)::boolean AS verified, (a.password_hash IS NOT NULL)::boolean AS accepted, (a.disabled_at IS NOT NULL)::boolean AS disabled,
       (coalesce(e.status, 'Approved') = 'Approved')::boolean AS approved, a.row_sum, a.row_mac
FROM account a LEFT JOIN entity e ON e.id = a.entity_id WHERE a.entity_id IS NOT DISTINCT FROM @entity_id ORDER BY a.created_at, a.id;

-- RenewInvitation resets an account whose owner has not accepted the invitation,
-- or that was disabled, to the state after an invitation. Password, verification,
-- role and rights of before are lost.
-- name: RenewInvitation :execrows
UPDATE account SET disabled_at = NULL, password_hash = NULL, verified_at = NULL, verified_by = NULL, role = @role, makes_keys = false
WHERE email_key = @email_key AND id = @id AND (password_hash IS NULL OR disabled_at IS NOT NULL);

-- name: ClaimsAddress :one
SELECT (email_key LIKE 'claim %')::boolean AS claims FROM account WHERE id = @id;

-- LockHolder makes a claim to an address wait for its confirmation at the same time.
-- name: LockHolder :one
SELECT id, entity_id, (verified_at IS NOT NULL)::boolean AS verified FROM account WHERE email_key = @email_key FOR UPDATE;

-- GiveWay takes the address from an account and disables it.
-- name: GiveWay :exec
UPDATE account SET email_key = 'released ' || id, disabled_at = coalesce(disabled_at, @at::timestamptz) WHERE id = @id;

-- name: TakeAddress :exec
UPDATE account SET email_key = @email_key WHERE id = @id;

-- name: SetPassword :execrows
UPDATE account SET password_hash = @password_hash WHERE id = @id AND disabled_at IS NULL;

-- name: RenewHash :execrows
UPDATE account SET password_hash = @fresh::text WHERE id = @id AND password_hash = @old::text;

-- name: AcceptInvitation :execrows
UPDATE account SET name = @name, password_hash = @password_hash, verified_at = @at, verified_by = 'email'
WHERE id = @id AND password_hash IS NULL AND disabled_at IS NULL;

-- name: ConfirmEmail :execrows
UPDATE account SET verified_at = @at, verified_by = 'email' WHERE id = @id AND verified_at IS NULL;

-- name: DisableAccount :execrows
UPDATE account SET disabled_at = @at WHERE id = @id AND disabled_at IS NULL;

-- OtherAdmins returns the other active admins of an entity or, for staff, the
-- other administrators. It locks them, so that two admins cannot disable each
-- other at the same time.
-- name: OtherAdmins :many
SELECT id FROM account WHERE entity_id IS NOT DISTINCT FROM @entity_id AND (kind = 'admin' OR role = 'administrator')
  AND id <> @id AND disabled_at IS NULL AND password_hash IS NOT NULL ORDER BY id FOR UPDATE;

-- Names returns the names of accounts and entities by id.
-- name: Names :many
SELECT a.id, a.name, coalesce(a.role, '')::text AS role, coalesce(o.name, '')::text AS entity
FROM account a LEFT JOIN entity o ON o.id = a.entity_id WHERE a.id = ANY(@ids::uuid[])
UNION ALL SELECT e.id, e.name, '', '' FROM entity e WHERE e.id = ANY(@ids::uuid[]);
