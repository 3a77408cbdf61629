-- name: InsertClient :exec
INSERT INTO client (id, name, scopes, network, vouches, created_at)
VALUES (@id, @name, @scopes, @network, @vouches, @created_at);

-- name: InsertClientSecret :exec
INSERT INTO client_secret (id, client_id, mac, preview, created_at)
VALUES (@id, @client_id, @mac, @preview, @created_at);

-- name: Clients :many
SELECT c.id, c.name, c.scopes, c.network, c.vouches, c.suspended_at, c.revoked_at, c.created_at,
       coalesce((SELECT max(t.created_at) FROM access_token t WHERE t.client_id = c.id), '0001-01-01T00:00:00Z')::timestamptz AS last_token_at
FROM client c ORDER BY c.created_at;

-- name: RevokeClient :execrows
UPDATE client SET revoked_at = @at WHERE id = @id AND revoked_at IS NULL;

-- name: RevokeTokensOfClient :exec
UPDATE access_token SET revoked_at = @at WHERE client_id = @client_id AND revoked_at IS NULL;

-- name: ClientBySecret :one
SELECT c.id, c.scopes FROM client c JOIN client_secret s ON s.client_id = c.id
WHERE c.id = @id AND s.mac = ANY(@macs::bytea[]) AND s.revoked_at IS NULL AND c.revoked_at IS NULL AND c.suspended_at IS NULL;

-- name: InsertToken :exec
INSERT INTO access_token (id, client_id, mac, scopes, expires_at, created_at)
VALUES (@id, @client_id, @mac, @scopes, @expires_at, @created_at);

-- name: TokenByMAC :one
SELECT t.id, t.client_id, t.scopes, c.vouches, c.network FROM access_token t JOIN client c ON c.id = t.client_id
WHERE t.mac = ANY(@macs::bytea[]) AND t.expires_at > @now AND t.revoked_at IS NULL AND c.revoked_at IS NULL AND c.suspended_at IS NULL;

-- AccountForLogin also finds accounts that may not log in, so that the password
-- is checked, at its cost, before anything is said about them.
-- name: AccountForLogin :one
SELECT a.id, a.kind, a.entity_id, a.name, a.password_hash, a.verified_at,
       (a.disabled_at IS NULL AND coalesce(e.status, 'Approved') = 'Approved')::boolean AS standing
FROM account a LEFT JOIN entity e ON e.id = a.entity_id WHERE a.email_key = @email_key;

-- name: InsertSession :exec
INSERT INTO session (id, account_id, mac, expires_at, last_seen_at, created_at)
VALUES (@id, @account_id, @mac, @expires_at, @created_at, @created_at);

-- name: SessionByMAC :one
SELECT s.id, s.account_id, s.last_seen_at, a.entity_id, coalesce(a.role, '')::text AS role FROM session s
JOIN account a ON a.id = s.account_id LEFT JOIN entity e ON e.id = a.entity_id
WHERE s.mac = ANY(@macs::bytea[]) AND s.expires_at > @now AND s.last_seen_at > @idle_since AND s.revoked_at IS NULL
  AND a.disabled_at IS NULL AND coalesce(e.status, 'Approved') = 'Approved';

-- name: TouchSession :exec
UPDATE session SET last_seen_at = @at WHERE id = @id AND last_seen_at < @at;

-- name: InsertKey :exec
INSERT INTO api_key (id, entity_id, name, mode, purpose, mac, preview, expires_at, created_at)
VALUES (@id, @entity_id, @name, @mode, @purpose, @mac, @preview, @expires_at, @created_at);

-- Keys lists the keys of one entity, or of all when none is named.
-- name: Keys :many
SELECT k.id, k.entity_id, e.name AS entity, k.name, k.mode, k.purpose, k.preview, k.expires_at, k.revoked_at, k.created_at
FROM api_key k JOIN entity e ON e.id = k.entity_id
WHERE k.entity_id = @entity_id OR @entity_id = '00000000-0000-0000-0000-000000000000'::uuid ORDER BY k.created_at;

-- name: KeyIDByMAC :one
SELECT id FROM api_key WHERE mac = ANY(@macs::bytea[]);

-- name: RevokeKey :one
UPDATE api_key SET revoked_at = @at WHERE id = @id AND revoked_at IS NULL RETURNING entity_id;

-- name: KeyByMAC :one
SELECT k.id, k.entity_id, k.mode, k.purpose, k.expires_at FROM api_key k JOIN entity e ON e.id = k.entity_id
WHERE k.mac = ANY(@macs::bytea[]) AND (k.expires_at IS NULL OR k.expires_at > @now::timestamptz) AND k.revoked_at IS NULL
  AND e.status = 'Approved' AND e.asks;

-- ForgetTokens and ForgetSessions take a bite at a time; see pg.InBites.
-- name: ForgetTokens :execrows
DELETE FROM access_token WHERE id IN (SELECT t.id FROM access_token t WHERE t.expires_at < @before LIMIT 5000);

-- name: ForgetSessions :execrows
DELETE FROM session WHERE id IN (SELECT s.id FROM session s WHERE s.expires_at < @before LIMIT 5000);

-- name: PepperChecks :many
SELECT mac FROM pepper_check;

-- name: LockPeppers :exec
SELECT pg_advisory_xact_lock(hashtextextended('lineproof peppers', 0));

-- name: InsertPepperCheck :exec
INSERT INTO pepper_check (mac, created_at) VALUES (@mac, @created_at) ON CONFLICT DO NOTHING;
