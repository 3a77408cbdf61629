-- name: InsertEntity :exec
INSERT INTO entity (id, name, cac, cac_class, cac_digits, status, document_required, supplies, asks, client_id, token_id, created_at)
VALUES (@id, @name, @cac, @cac_class, @cac_digits, @status, @document_required, @supplies, @asks, @client_id, @token_id, @created_at);

-- InsertAccount is the only statement that creates accounts. A conflict inserts
-- nothing and keeps the transaction usable, so that AccountsHolding can find out,
-- on the same connection, which of the two unique values it was.
-- name: InsertAccount :execrows
INSERT INTO account (id, kind, entity_id, role, name, email, email_key, phone, password_hash, verified_at, verified_by, created_at)
VALUES (@id, @kind, @entity_id, @role, @name, @email, @email_key, @phone, @password_hash, @verified_at, @verified_by, @created_at)
ON CONFLICT DO NOTHING;

-- name: AccountsHolding :one
SELECT EXISTS (SELECT FROM account WHERE account.email_key = @email_key) AS email,
       EXISTS (SELECT FROM account WHERE account.phone = @phone) AS phone;

-- LockCAC serialises applications with one CAC number, if a setting makes that
-- number unique.
-- name: LockCAC :exec
SELECT pg_advisory_xact_lock(hashtextextended('lineproof cac ' || @cac::text, 0));

-- name: EntityWithCAC :one
SELECT EXISTS (SELECT FROM entity WHERE upper(cac) = upper(@cac::text)
    OR (cac_class = @cac_class::text AND cac_digits = @cac_digits::text)) AS found;

-- OthersWithCAC lists other entities with the number of one, in any spelling.
-- name: OthersWithCAC :many
SELECT o.id, o.name, o.cac, o.status, o.document_required, o.created_at FROM entity e JOIN entity o
    ON upper(o.cac) = upper(e.cac) OR (o.cac_class = e.cac_class AND o.cac_digits = e.cac_digits)
WHERE e.id = @id AND o.id <> e.id ORDER BY o.created_at, o.id LIMIT 10;

-- LockEntity serialises changes of the status of one entity.
-- WithCAC lists the entities with a number, in any spelling.
-- name: WithCAC :many
SELECT id, name, cac, status, document_required, created_at FROM entity WHERE upper(cac) = upper(@cac::text)
    OR (cac_class = @cac_class::text AND cac_digits = @cac_digits::text)
ORDER BY created_at LIMIT 10;

-- name: LockEntity :one
SELECT id, name, cac, status, document_required, created_at FROM entity WHERE id = @id FOR UPDATE;

-- name: SetStatus :exec
UPDATE entity SET status = @status, status_reason = @reason, status_since = @since::timestamptz WHERE id = @id;

-- name: SetDocumentRequired :exec
UPDATE entity SET document_required = @required WHERE id = @id;

-- name: EntityDetails :one
SELECT e.id, e.name, e.cac, e.status, e.document_required, e.supplies, e.asks, e.client_id, e.status_reason, e.status_since, e.created_at,
       (SELECT count(*) FROM account a WHERE a.entity_id = e.id AND a.disabled_at IS NULL) AS accounts
FROM entity e WHERE e.id = @id;

-- Entities lists the entities with one status, or all if the status is empty.
-- name: Entities :many
SELECT e.id, e.name, e.cac, e.status, e.document_required, e.supplies, e.asks, e.client_id, e.status_reason, e.status_since, e.created_at,
       (SELECT count(*) FROM account a WHERE a.entity_id = e.id AND a.disabled_at IS NULL) AS accounts
FROM entity e WHERE @status::text = '' OR e.status = @status ORDER BY e.created_at DESC, e.id DESC LIMIT @max_rows::bigint;

-- LastEntityOfToken returns the entity that an access token onboarded last.
-- name: LastEntityOfToken :one
SELECT id FROM entity WHERE token_id = @token_id ORDER BY created_at DESC, id DESC LIMIT 1;

-- EntitiesOfClient returns at most two, which is enough to know whether there is
-- exactly one.
-- name: EntitiesOfClient :many
SELECT id FROM entity WHERE client_id = @client_id ORDER BY created_at LIMIT 2;

-- name: EntityOfClient :one
SELECT EXISTS (SELECT FROM entity WHERE id = @id AND client_id = @client_id) AS found;

-- LockOnboardings serialises the onboardings of one client.
-- name: LockOnboardings :exec
SELECT pg_advisory_xact_lock(hashtextextended('lineproof onboardings ' || @client::text, 0));

-- name: CountOnboarded :one
SELECT count(*) FROM entity WHERE client_id = @client_id AND created_at >= @since;

-- LockStaff serialises transactions that count administrators and then create
-- one.
-- name: LockStaff :exec
SELECT pg_advisory_xact_lock(hashtextextended('lineproof staff', 0));

-- name: HasFounders :one
SELECT EXISTS (SELECT FROM access_given WHERE how = 'founder') AS found;

-- name: CountAdministrators :one
SELECT count(*) FROM account WHERE kind = 'staff' AND role = 'administrator' AND disabled_at IS NULL;

-- name: LockRole :one
SELECT coalesce(role, '')::text AS role FROM account WHERE id = @id AND kind = 'staff' FOR UPDATE;

-- name: SetRole :exec
UPDATE account SET role = @role::text WHERE id = @id AND kind = 'staff';

-- name: CountStaff :one
SELECT count(*) FROM account WHERE kind = 'staff';

-- name: AnyEntity :one
SELECT EXISTS (SELECT FROM entity) AS found;

-- StaffRole returns the role of an active member of staff. FOR SHARE keeps the
-- account from being changed until the transaction ends.
-- name: StaffRole :one
SELECT coalesce(role, '')::text AS role, row_sum, row_mac FROM account WHERE id = @id AND kind = 'staff' AND disabled_at IS NULL FOR SHARE;

-- name: InsertAccess :exec
INSERT INTO access_given (subject_id, by_id, how, before_staff, at) VALUES (@subject_id, @by_id, @how, @before_staff, @at);

-- Cosignatures returns who was confirmed by a second person.
-- name: Cosignatures :many
SELECT id, row_sum, row_mac FROM access_given WHERE how = 'cosigned' AND at > @since;

-- SameOrigin reports whether somebody stands behind both actors: one of them is the
-- other, or gave access to the other, or a third gave it to both, directly or through
-- further accounts.
-- name: SameOrigin :one
WITH RECURSIVE behind (side, who) AS (
    SELECT CASE WHEN s = @one::uuid THEN 1 ELSE 2 END, s FROM unnest(ARRAY[@one::uuid, @other::uuid]) s
    UNION
    SELECT b.side, g.by_id FROM behind b JOIN access_given g ON g.subject_id = b.who
    WHERE g.at > @since AND g.how NOT IN ('founder', 'cosigned') AND (NOT g.before_staff OR g.by_id IN (@one::uuid, @other::uuid))
      AND (g.how = 'reset' OR NOT EXISTS (SELECT FROM access_given c WHERE c.subject_id = g.subject_id AND c.how = 'cosigned' AND c.id = ANY(@cosignatures::uuid[]) AND c.at >= g.at))
)
SELECT EXISTS (SELECT FROM behind x JOIN behind y ON x.who = y.who WHERE x.side = 1 AND y.side = 2) AS shared;
