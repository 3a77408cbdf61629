-- AccountForLogin also returns accounts that may not log in, so that the password
-- is verified, which is slow, before the attempt is rejected. It returns a row for
-- an address without an account too, so that reading it takes as long.
-- name: AccountForLogin :one
SELECT coalesce(a.id, '00000000-0000-0000-0000-000000000000')::uuid AS id, coalesce(a.kind, '')::text AS kind,
       coalesce(a.entity_id, '00000000-0000-0000-0000-000000000000')::uuid AS entity_id, coalesce(a.name, '')::text AS name,
       coalesce(a.password_hash, '')::text AS password_hash, (a.verified_at IS NOT NULL)::boolean AS verified,
       (a.id IS NOT NULL AND a.disabled_at IS NULL AND coalesce(e.status, 'Approved') = 'Approved')::boolean AS may_log_in,
       coalesce(a.has_factor, false)::boolean AS has_factor, a.row_sum, a.row_mac, e.row_sum AS entity_sum, e.row_mac AS entity_mac
FROM (SELECT @email_key::text AS key) wanted LEFT JOIN account a ON a.email_key = wanted.key
LEFT JOIN entity e ON e.id = a.entity_id;

-- name: PasswordHash :one
SELECT password_hash, email_key, row_sum, row_mac FROM account WHERE id = @id;

-- LockPassword serialises the changes of one password.
-- name: LockPassword :one
SELECT coalesce(password_hash, '')::text FROM account WHERE id = @id FOR UPDATE;

-- Counters is read first, because most attempts of an attack are rejected by it
-- alone: it locks nothing and writes nothing.
-- name: Counters :many
SELECT mac, tries, counted_at, not_before FROM login_trouble WHERE mac = ANY(@macs::bytea[]) AND counted_at > @since;

-- CountAttempt counts an attempt before it is evaluated, so that of a thousand
-- concurrent ones only the allowed number is evaluated. It changes no row if no
-- attempt is left.
-- name: CountAttempt :execrows
INSERT INTO login_trouble AS t (mac, tries, counted_at, not_before) VALUES (@mac, 1, @now, @now)
ON CONFLICT (mac) DO UPDATE SET
    tries = CASE WHEN t.counted_at > @since THEN t.tries + 1 ELSE 1 END,
    counted_at = CASE WHEN t.counted_at > @since THEN t.counted_at ELSE excluded.counted_at END,
    not_before = CASE WHEN t.counted_at > @since THEN t.not_before ELSE excluded.not_before END
WHERE t.counted_at <= @since OR (t.tries < @max_tries AND t.not_before <= @now);

-- AttemptFailed restarts the window, and makes the next attempt from the same
-- source wait until the time that the list has for this number of tries. It counts
-- the failure for the audit trail, at the source.
-- name: AttemptFailed :exec
UPDATE login_trouble t SET counted_at = @now, account_id = sqlc.narg(account_id), failed = t.failed + (t.mac = @source)::integer, not_before = CASE WHEN t.mac = @source
    THEN (SELECT u.at FROM unnest(@until::timestamptz[]) WITH ORDINALITY AS u (at, n) WHERE u.n = least(t.tries, @max_tries::integer) + 1) ELSE t.not_before END
WHERE t.mac = ANY(@macs::bytea[]);

-- TakeFailures returns the failures that are not audited yet, by account; the zero id
-- stands for all addresses without one. Another call returns only newer ones.
-- name: TakeFailures :many
WITH counted AS (
    SELECT t.mac, t.account_id, t.failed FROM login_trouble t WHERE t.failed > 0 FOR UPDATE SKIP LOCKED
), taken AS (
    UPDATE login_trouble t SET failed = 0 FROM counted c WHERE t.mac = c.mac
)
SELECT coalesce(c.account_id, '00000000-0000-0000-0000-000000000000')::uuid AS account_id,
       coalesce(a.entity_id, '00000000-0000-0000-0000-000000000000')::uuid AS entity_id, sum(c.failed)::bigint AS failures
FROM counted c LEFT JOIN account a ON a.id = c.account_id GROUP BY 1, 2 ORDER BY 1;

-- AttemptSucceeded takes an attempt back.
-- name: AttemptSucceeded :exec
UPDATE login_trouble SET tries = greatest(tries - 1, 0) WHERE mac = ANY(@macs::bytea[]) AND counted_at > @since;

-- DeleteCounters, DeleteDevices and DeleteLinks delete one batch; see pg.InBatches.
-- name: DeleteCounters :execrows
DELETE FROM login_trouble WHERE mac IN (SELECT t.mac FROM login_trouble t WHERE t.counted_at < @before AND t.failed = 0 LIMIT 5000);

-- name: DeleteDevices :execrows
DELETE FROM login_device WHERE id IN (SELECT d.id FROM login_device d WHERE d.last_used_at < @before LIMIT 5000);

-- name: DeleteLinks :execrows
DELETE FROM account_link WHERE id IN (SELECT l.id FROM account_link l WHERE l.expires_at < @before LIMIT 5000);

-- name: KnownDevice :one
SELECT d.id, d.account_id FROM login_device d JOIN account a ON a.id = d.account_id
WHERE d.mac = ANY(@macs::bytea[]) AND a.email_key = @email_key AND d.last_used_at > @since;

-- name: InsertDevice :exec
INSERT INTO login_device (id, account_id, mac, last_used_at, created_at) VALUES (@id, @account_id, @mac, @created_at, @created_at);

-- name: TouchDevice :exec
UPDATE login_device SET last_used_at = @at, mac = @mac WHERE id = @id;

-- name: DeleteOldDevices :exec
DELETE FROM login_device WHERE id IN (SELECT d.id FROM login_device d WHERE d.account_id = @account_id ORDER BY d.last_used_at DESC OFFSET @max_devices);

-- name: DeleteDevicesOf :exec
DELETE FROM login_device WHERE account_id = @account_id;

-- name: Factor :one
SELECT sealed, last_step, confirmed_at FROM second_factor WHERE account_id = @account_id;

-- HasFactor reads the account's row, which is signed, and not whether there is a factor:
-- that could have been deleted.
-- name: HasFactor :one
SELECT has_factor FROM account WHERE id = @id;

-- name: FactorsOf :many
SELECT account_id, (locked_at IS NOT NULL)::boolean AS locked FROM second_factor WHERE account_id = ANY(@accounts::uuid[]) AND confirmed_at IS NOT NULL;

-- CountCode counts a code before it is evaluated, so that of many concurrent ones
-- only the allowed number is. It changes no row if none is left.
-- name: CountCode :execrows
UPDATE second_factor SET wrong_codes = wrong_codes + 1 WHERE account_id = @account_id AND wrong_codes < @max_codes::integer AND locked_at IS NULL;

-- CodeSucceeded forgets the wrong codes before a right one.
-- name: CodeSucceeded :exec
UPDATE second_factor SET wrong_codes = 0 WHERE account_id = @account_id AND locked_at IS NULL;

-- LockFactor changes no row unless as many codes were wrong as may be, and it is not
-- locked yet.
-- name: LockFactor :execrows
UPDATE second_factor SET locked_at = @at WHERE account_id = @account_id AND wrong_codes >= @max_codes::integer AND locked_at IS NULL;

-- name: UnlockFactor :execrows
UPDATE second_factor SET wrong_codes = 0, locked_at = NULL WHERE account_id = @account_id AND locked_at IS NOT NULL;

-- KeyMaker says what the account of a person who creates a live key has.
-- name: KeyMaker :one
SELECT (a.verified_at IS NOT NULL)::boolean AS verified, (a.kind <> 'member' OR a.makes_keys)::boolean AS makes_keys,
       a.has_factor, a.row_sum, a.row_mac
FROM account a WHERE a.id = @id;

-- BeginFactor replaces only a factor that was never confirmed.
-- name: BeginFactor :execrows
INSERT INTO second_factor (account_id, sealed, created_at) VALUES (@account_id, @sealed, @created_at)
ON CONFLICT (account_id) DO UPDATE SET sealed = excluded.sealed, last_step = 0, created_at = excluded.created_at
WHERE second_factor.confirmed_at IS NULL;

-- name: ConfirmFactor :execrows
UPDATE second_factor SET confirmed_at = @at, last_step = @step WHERE account_id = @account_id AND confirmed_at IS NULL AND last_step < @step;

-- UseStep accepts a code once: of two concurrent uses, one changes no row.
-- name: UseStep :execrows
UPDATE second_factor SET last_step = @step, sealed = @sealed WHERE account_id = @account_id AND confirmed_at IS NOT NULL AND last_step < @step;

-- name: DeleteFactor :execrows
DELETE FROM second_factor WHERE account_id = @account_id;

-- name: InsertRecoveryCodes :exec
INSERT INTO recovery_code (account_id, mac) SELECT @account_id, unnest(@macs::bytea[]);

-- name: UseRecoveryCode :execrows
UPDATE recovery_code SET used_at = @at WHERE account_id = @account_id AND mac = ANY(@macs::bytea[]) AND used_at IS NULL;

-- name: RecoveryCodesLeft :one
SELECT count(*) FROM recovery_code WHERE account_id = @account_id AND used_at IS NULL;

-- name: InsertLink :exec
INSERT INTO account_link (id, account_id, kind, mac, expires_at, created_at) VALUES (@id, @account_id, @kind, @mac, @expires_at, @created_at);

-- name: LinkOwner :one
SELECT id, account_id, row_sum, row_mac FROM account_link WHERE mac = ANY(@macs::bytea[]) AND kind = @kind AND used_at IS NULL AND expires_at > @now;

-- LockLink makes concurrent uses of a link wait for each other.
-- name: LockLink :one
SELECT id, account_id, row_sum, row_mac FROM account_link WHERE mac = ANY(@macs::bytea[]) AND kind = @kind AND used_at IS NULL AND expires_at > @now FOR UPDATE;

-- EndLinks ends every unused link of an account, or those of one kind.
-- name: EndLinks :exec
UPDATE account_link SET used_at = @now WHERE account_id = @account_id AND used_at IS NULL AND (kind = @kind OR @kind = '');

-- AdminsOf returns the active admins of entities.
-- name: AdminsOf :many
SELECT id FROM account WHERE kind = 'admin' AND entity_id = ANY(@entities::uuid[]) AND disabled_at IS NULL AND password_hash IS NOT NULL ORDER BY created_at;

-- AdminsOfSponsored returns the active admins of the entities that a client onboarded, the
-- newest first, up to a number.
-- name: AdminsOfSponsored :many
SELECT a.id FROM account a JOIN entity e ON e.id = a.entity_id
WHERE e.client_id = @client::uuid AND e.status = 'Approved' AND a.kind = 'admin' AND a.disabled_at IS NULL AND a.password_hash IS NOT NULL
ORDER BY e.created_at DESC LIMIT @most::integer;

-- AdminsOfNetwork returns the active admins of the entities whose client supplies for a
-- network.
-- name: AdminsOfNetwork :many
SELECT a.id FROM account a JOIN entity e ON e.id = a.entity_id JOIN client c ON c.id = e.client_id
WHERE c.network = @network::text AND c.revoked_at IS NULL AND e.status = 'Approved' AND a.kind = 'admin' AND a.disabled_at IS NULL AND a.password_hash IS NOT NULL
ORDER BY a.created_at LIMIT @most::integer;

-- StaffIn returns the active staff with one of the roles, but for one account.
-- name: StaffIn :many
SELECT id FROM account WHERE kind = 'staff' AND role = ANY(@roles::text[]) AND id <> @but::uuid AND disabled_at IS NULL AND password_hash IS NOT NULL ORDER BY created_at;
