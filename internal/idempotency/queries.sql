-- TryLock fails if another request with this key is in flight. The lock ends with
-- the transaction, so a crash leaves nothing to clean up.
-- name: TryLock :one
SELECT pg_try_advisory_xact_lock(@lock::bigint) AS locked;

-- name: Find :one
SELECT key_mac, body_mac, answer FROM idempotency
WHERE caller = @caller AND operation = @operation AND key_mac = ANY(@key_macs::bytea[]) AND created_at > @since;

-- name: MarkReplayed :exec
UPDATE idempotency SET replayed_at = @at WHERE caller = @caller AND operation = @operation AND key_mac = @key_mac;

-- Store replaces an expired row.
-- name: Store :exec
INSERT INTO idempotency (caller, operation, key_mac, body_mac, answer, created_at)
VALUES (@caller, @operation, @key_mac, @body_mac, @answer, @created_at)
ON CONFLICT (caller, operation, key_mac) DO UPDATE
SET body_mac = excluded.body_mac, answer = excluded.answer, created_at = excluded.created_at, replayed_at = NULL;

-- DeleteExpired deletes one batch; see pg.InBatches.
-- name: DeleteExpired :execrows
DELETE FROM idempotency WHERE (caller, operation, key_mac) IN
    (SELECT i.caller, i.operation, i.key_mac FROM idempotency i WHERE i.created_at < @before LIMIT 5000);
