-- name: InsertClient :exec
INSERT INTO client (id, name, scopes, network, vouches, sole, created_at)
VALUES (@id, @name, @scopes, @network, @vouches, @sole, @created_at);

-- name: InsertClientSecret :exec
INSERT INTO client_secret (id, client_id, mac, preview, waits, created_at)
VALUES (@id, @client_id, @mac, @preview, @waits, @created_at);

-- Clients returns one client, or all for the zero id.
-- name: Clients :many
SELECT c.id, c.name, c.scopes, c.network, c.vouches, c.sole, c.suspended_at, c.revoked_at, c.created_at,
       (SELECT count(*) FROM client_secret s WHERE s.client_id = c.id AND s.revoked_at IS NULL) AS secrets,
       coalesce((SELECT max(t.created_at) FROM access_token t WHERE t.client_id = c.id), '0001-01-01T00:00:00Z')::timestamptz AS last_token_at
FROM client c WHERE c.id = @id OR @id = '00000000-0000-0000-0000-000000000000'::uuid ORDER BY c.created_at, c.id;

-- NetworkOfClient returns no row for a client that may not supply lines now.
-- name: NetworkOfClient :one
SELECT network, row_sum, row_mac FROM client WHERE id = @id AND @scope::text = ANY(scopes) AND NOT @without::text = ANY(scopes) AND revoked_at IS NULL AND suspended_at IS NULL;

-- LockClient serialises changes of the secrets of one client, and returns what decides who may.
-- name: LockClient :one
SELECT scopes, sole, row_sum, row_mac FROM client WHERE id = @id AND revoked_at IS NULL FOR UPDATE;

-- name: ClientSecrets :many
SELECT id, preview, waits, created_at, last_used_at FROM client_secret
WHERE client_id = @client_id AND revoked_at IS NULL ORDER BY created_at;

-- name: RevokeClientSecret :execrows
UPDATE client_secret SET revoked_at = @at WHERE id = @id AND client_id = @client_id AND revoked_at IS NULL;

-- name: TouchClientSecret :exec
UPDATE client_secret SET last_used_at = @at WHERE id = @id;

-- name: RenewClientSecret :exec
UPDATE client_secret SET mac = @mac WHERE id = @id;

-- name: SuspendClient :execrows
UPDATE client SET suspended_at = @at WHERE id = @id AND suspended_at IS NULL AND revoked_at IS NULL;

-- name: ResumeClient :execrows
UPDATE client SET suspended_at = NULL WHERE id = @id AND suspended_at IS NOT NULL AND revoked_at IS NULL;

-- name: RevokeClient :execrows
UPDATE client SET revoked_at = @at WHERE id = @id AND revoked_at IS NULL;

-- name: RevokeTokensOfClient :exec
UPDATE access_token SET revoked_at = @at WHERE client_id = @client_id AND revoked_at IS NULL;

-- name: RevokeToken :one
UPDATE access_token SET revoked_at = @at WHERE mac = ANY(@macs::bytea[]) AND client_id = @client_id AND revoked_at IS NULL RETURNING id;

-- name: ClientBySecret :one
SELECT c.id, c.scopes, s.id AS secret_id, s.mac, s.last_used_at, c.row_sum, c.row_mac, s.row_sum AS secret_sum, s.row_mac AS secret_mac FROM client c JOIN client_secret s ON s.client_id = c.id
WHERE c.id = @id AND s.mac = ANY(@macs::bytea[]) AND NOT s.waits AND s.revoked_at IS NULL AND c.revoked_at IS NULL AND c.suspended_at IS NULL;

-- name: InsertToken :exec
INSERT INTO access_token (id, client_id, mac, scopes, expires_at, created_at)
VALUES (@id, @client_id, @mac, @scopes, @expires_at, @created_at);

-- name: TokenByMAC :one
SELECT t.id, t.client_id, t.scopes, t.expires_at, c.scopes AS client_scopes, c.vouches, c.sole, c.network,
       t.row_sum, t.row_mac, c.row_sum AS client_sum, c.row_mac AS client_mac FROM access_token t JOIN client c ON c.id = t.client_id
WHERE t.mac = ANY(@macs::bytea[]) AND t.expires_at > @now AND t.revoked_at IS NULL AND c.revoked_at IS NULL AND c.suspended_at IS NULL;

-- name: InsertSession :exec
INSERT INTO session (id, account_id, mac, from_addr, agent, limited, expires_at, last_seen_at, proved_at, created_at)
VALUES (@id, @account_id, @mac, @from_addr, @agent, @limited, @expires_at, @created_at, @created_at, @created_at);

-- name: SessionByMAC :one
SELECT s.id, s.account_id, s.last_seen_at, s.expires_at, s.limited, a.entity_id, a.kind, coalesce(a.role, '')::text AS role,
       s.row_sum, s.row_mac, a.row_sum AS account_sum, a.row_mac AS account_mac, e.row_sum AS entity_sum, e.row_mac AS entity_mac FROM session s
JOIN account a ON a.id = s.account_id LEFT JOIN entity e ON e.id = a.entity_id
WHERE s.mac = ANY(@macs::bytea[]) AND s.expires_at > @now AND s.last_seen_at > @idle_since AND s.revoked_at IS NULL
  AND a.disabled_at IS NULL AND coalesce(e.status, 'Approved') = 'Approved';

-- name: TouchSession :exec
UPDATE session SET last_seen_at = @at WHERE id = @id AND last_seen_at < @at;

-- name: Sessions :many
SELECT id, coalesce(host(from_addr), '')::text AS from_addr, agent, created_at, last_seen_at, expires_at FROM session
WHERE account_id = @account_id AND expires_at > @now AND last_seen_at > @idle_since AND revoked_at IS NULL ORDER BY created_at DESC;

-- name: EndSession :execrows
UPDATE session SET revoked_at = @at WHERE id = @id AND account_id = @account_id AND revoked_at IS NULL;

-- name: EndSessions :execrows
UPDATE session SET revoked_at = @at WHERE account_id = @account_id AND id <> @but AND revoked_at IS NULL;

-- name: SessionProvedAt :one
SELECT proved_at, row_sum, row_mac FROM session WHERE id = @id AND revoked_at IS NULL;

-- name: ProveSession :execrows
UPDATE session SET proved_at = @at WHERE id = @id AND revoked_at IS NULL;

-- name: UnlockSession :execrows
UPDATE session SET limited = false WHERE id = @id AND limited AND revoked_at IS NULL;

-- name: InsertKey :exec
INSERT INTO api_key (id, entity_id, name, mode, purpose, purpose_text, mac, preview, networks, rate, burst, expires_at, created_at, created_by, replaces, rights)
VALUES (@id, @entity_id, @name, @mode, @purpose, @purpose_text, @mac, @preview, @networks, @rate, @burst, @expires_at, @created_at, @created_by, @replaces, @rights);

-- Keys lists the keys of one entity, or of all entities for the zero id. The
-- statement of KeyPage has the same columns.
-- name: Keys :many
SELECT k.id, k.entity_id, e.name AS entity, k.name, k.mode, k.purpose, k.purpose_text, k.preview, k.networks, k.rate, k.burst, k.expires_at, k.revoked_at, k.created_at,
       k.last_used_at, coalesce(host(k.last_used_from), '')::text AS last_used_from, k.created_by, k.revoked_by, k.replaces, k.rights,
       EXISTS (SELECT FROM api_key s WHERE s.replaces = k.id) AS rolled
FROM api_key k JOIN entity e ON e.id = k.entity_id
WHERE k.entity_id = @entity_id OR @entity_id = '00000000-0000-0000-0000-000000000000'::uuid ORDER BY k.created_at;

-- KeyChain returns a key of an entity, the key that it replaces, and the key
-- that replaces it.
-- name: KeyChain :many
SELECT k.id, k.entity_id, e.name AS entity, k.name, k.mode, k.purpose, k.purpose_text, k.preview, k.networks, k.rate, k.burst, k.expires_at, k.revoked_at, k.created_at,
       k.last_used_at, coalesce(host(k.last_used_from), '')::text AS last_used_from, k.created_by, k.revoked_by, k.replaces, k.rights,
       EXISTS (SELECT FROM api_key s WHERE s.replaces = k.id) AS rolled
FROM api_key k JOIN entity e ON e.id = k.entity_id
WHERE k.entity_id = @entity_id AND k.id IN (
    SELECT @id::uuid UNION ALL SELECT o.replaces FROM api_key o WHERE o.id = @id UNION ALL SELECT n.id FROM api_key n WHERE n.replaces = @id);

-- CountActiveKeys counts the keys of each entity that are neither revoked nor
-- expired. Entities without one are left out.
-- name: CountActiveKeys :many
SELECT entity_id, count(*) AS keys FROM api_key
WHERE entity_id = ANY(@entities::uuid[]) AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > @now::timestamptz) GROUP BY entity_id;

-- name: CountKeys :one
SELECT count(*) FROM api_key WHERE entity_id = @entity_id;

-- KeyPlace returns those sort values of a key that never change.
-- name: KeyPlace :one
SELECT lower(name)::text AS name, created_at FROM api_key WHERE id = @id AND entity_id = @entity_id;

-- name: KeyNames :many
SELECT id, name FROM api_key WHERE entity_id = @entity_id AND id = ANY(@ids::uuid[]);

-- name: KeyIDByMAC :one
SELECT id FROM api_key WHERE mac = ANY(@macs::bytea[]);

-- The key must belong to the entity, unless entity_id is the zero id.
-- name: RevokeKey :one
UPDATE api_key SET revoked_at = @at, revoked_by = @by
WHERE id = @id AND revoked_at IS NULL AND (entity_id = @entity_id OR @entity_id = '00000000-0000-0000-0000-000000000000'::uuid) RETURNING entity_id;

-- LockKey serialises the rolling of one key. Whether the key has a successor must be
-- asked afterwards, with HasSuccessor: a statement that waits for a lock still sees
-- the other rows as they were before the wait.
-- name: LockKey :one
SELECT id, entity_id, name, mode, purpose, purpose_text, networks, rate, burst, rights, expires_at, created_at, row_sum, row_mac FROM api_key
WHERE id = @id AND revoked_at IS NULL AND (entity_id = @entity_id OR @entity_id = '00000000-0000-0000-0000-000000000000'::uuid) FOR UPDATE;

-- name: HasSuccessor :one
SELECT EXISTS (SELECT FROM api_key WHERE replaces = @id::uuid);

-- TakeExpiring returns the entity of each live key for which a notice is due that was
-- not given yet. Of two concurrent calls, one returns it.
-- name: TakeExpiring :many
WITH due AS (
    SELECT e.id, min(d.days)::integer AS days FROM api_key e JOIN unnest(@days::integer[]) AS d (days)
        ON e.expires_at - d.days * interval '1 day' BETWEEN e.created_at AND @now::timestamptz
    WHERE e.mode = 'live' AND e.revoked_at IS NULL AND e.expires_at > @now::timestamptz
      AND NOT EXISTS (SELECT FROM api_key s WHERE s.replaces = e.id) GROUP BY e.id
)
UPDATE api_key k SET expiry_notice = due.days FROM due
WHERE k.id = due.id AND (k.expiry_notice IS NULL OR k.expiry_notice > due.days) RETURNING k.entity_id;

-- name: ExpireKey :exec
UPDATE api_key SET expires_at = @at WHERE id = @id;

-- KeyByMAC finds a key by one of its HMACs or, for work that it has started, by its id.
-- name: KeyByMAC :one
SELECT k.id, k.entity_id, k.mode, k.purpose, k.purpose_text, k.expires_at, k.networks, k.rate, k.burst, k.rights, k.mac, k.last_used_at,
       coalesce(l.rate, 0)::double precision AS entity_rate, coalesce(l.burst, 0)::integer AS entity_burst,
       coalesce(l.day_quota, 0)::bigint AS day_quota, coalesce(l.month_quota, 0)::bigint AS month_quota, coalesce(l.day_numbers, 0)::bigint AS day_numbers,
       coalesce(l.year_numbers, 0)::bigint AS year_numbers,
       e.client_id AS sponsor_id, k.row_sum, k.row_mac, e.row_sum AS entity_sum, e.row_mac AS entity_mac,
       l.entity_id AS limited_id, l.row_sum AS limit_sum, l.row_mac AS limit_mac,
       coalesce((SELECT jsonb_agg(jsonb_build_object('id', m.id, 'principal', m.principal, 'purposes', m.purposes, 'until', m.until,
                    'sum', encode(m.row_sum, 'base64'), 'mac', encode(m.row_mac, 'base64'))) FROM mandate m
                 WHERE m.entity_id = e.id AND m.ended_at IS NULL AND m.until > @now::timestamptz), '[]')::jsonb AS mandates
FROM api_key k JOIN entity e ON e.id = k.entity_id LEFT JOIN entity_limit l ON l.entity_id = e.id
WHERE (k.mac = ANY(@macs::bytea[]) OR k.id = @id) AND (k.expires_at IS NULL OR k.expires_at > @now::timestamptz) AND k.revoked_at IS NULL
  AND e.status = 'Approved' AND e.asks;

-- name: TouchKey :exec
UPDATE api_key SET last_used_at = @at, last_used_from = @used_from WHERE id = @id;

-- name: RenewKey :exec
UPDATE api_key SET mac = @mac WHERE id = @id;

-- name: Channel :one
SELECT name FROM access_channel;

-- name: InsertMandate :exec
INSERT INTO mandate (id, entity_id, principal, purposes, until, document, created_at, created_by)
VALUES (@id, @entity_id, @principal, @purposes, @until, @document, @created_at, @created_by);

-- Mandates lists the mandates of one entity, or of all entities for the zero id.
-- name: Mandates :many
SELECT m.id, m.entity_id, e.name AS entity, m.principal, m.purposes, m.until, m.document, m.created_at, m.created_by, m.ended_at, m.ended_by
FROM mandate m JOIN entity e ON e.id = m.entity_id
WHERE m.entity_id = @entity_id OR @entity_id = '00000000-0000-0000-0000-000000000000'::uuid ORDER BY m.created_at, m.id;

-- name: EndMandate :one
UPDATE mandate SET ended_at = @at, ended_by = @by WHERE id = @id AND ended_at IS NULL RETURNING entity_id;

-- DeleteTokens and DeleteSessions delete one batch; see pg.InBatches.
-- name: DeleteTokens :execrows
DELETE FROM access_token WHERE id IN (SELECT t.id FROM access_token t WHERE t.expires_at < @before LIMIT 5000);

-- name: DeleteSessions :execrows
DELETE FROM session WHERE id IN (SELECT s.id FROM session s WHERE s.expires_at < @before LIMIT 5000);
