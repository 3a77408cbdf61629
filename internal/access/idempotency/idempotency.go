// Package idempotency makes a request that is sent twice take effect once.
//
// The first response is stored in the transaction of its effect: neither exists
// without the other, whatever process is killed. While a request is in flight, its
// transaction holds an advisory lock, which ends with it. A replay commits once more
// before it responds, because a row that can be read need not have reached the
// standby; the commit proves that it has.
package idempotency

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// Retention is how long a response is replayed.
const Retention = 24 * time.Hour

// The reasons for rejecting a key.
var (
	ErrOtherBody = fault.New(fault.IncompatibleState,
		"This Idempotency-Key was already used for a request with different content. Use a new key for a new request.")
	ErrInFlight = &fault.Error{
		Code: fault.Aborted, RetryAfter: time.Second,
		Message: "A request with this Idempotency-Key is being processed. Try again in a moment with the same key.",
	}
)

// Ticket identifies one request. Without a Key, nothing is stored.
type Ticket struct {
	Caller    uuid.UUID // keys of different callers are independent
	Operation string
	Key       string
	Body      []byte // must be the same for a replay
}

// parts are what the second HMAC of a row covers. The first covers the body alone: it tells
// a request with other content from a row that somebody has changed.
func (t *Ticket) parts(response []byte) []string {
	return []string{t.Caller.String(), t.Operation, t.Key, string(t.Body), string(response)}
}

// errChanged reports a stored response that the service did not store for this request.
// Nothing is done again: the first request may have taken effect.
var errChanged = errors.New("idempotency: the stored response was changed outside the service")

func isOneOf(macs [][]byte, mac []byte) bool {
	return slices.ContainsFunc(macs, func(m []byte) bool { return hmac.Equal(m, mac) })
}

// Store stores first responses. All fields are required.
type Store struct {
	Pool    *pgxpool.Pool
	Peppers *secret.Peppers
	Now     func() time.Time
}

// Do runs fn in a transaction and returns its response, or the stored response if
// the request of the ticket has already taken effect. An error of fn is not stored.
func (s *Store) Do(ctx context.Context, t Ticket, fn func(tx pg.Tx) ([]byte, error)) (response []byte, replayed bool, err error) {
	err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		if t.Key == "" {
			response, err = fn(tx)
			return err
		}
		response, replayed, err = s.once(ctx, tx, t, fn)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	return response, replayed, nil
}

func (s *Store) once(ctx context.Context, tx pg.Tx, t Ticket, fn func(tx pg.Tx) ([]byte, error)) ([]byte, bool, error) {
	// The lock ends with the transaction, so that a crash leaves nothing to clean up.
	var locked bool
	if err := tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock($1)`, lockID(t)).Scan(&locked); err != nil {
		return nil, false, fmt.Errorf("idempotency: lock: %w", err)
	}
	if !locked {
		return nil, false, ErrInFlight
	}
	now, body := s.Now(), string(t.Body)
	var keyMAC, bodyMAC, first []byte
	err := tx.QueryRow(ctx, `SELECT key_mac, body_mac, answer FROM idempotency
		WHERE caller = $1 AND operation = $2 AND key_mac = ANY($3) AND created_at > $4`,
		t.Caller, t.Operation, s.Peppers.Candidates(secret.ForIdempotencyKeys, t.Key), now.Add(-Retention)).Scan(&keyMAC, &bodyMAC, &first)
	switch {
	case err == nil:
		half := min(sha256.Size, len(bodyMAC))
		bodyMAC, responseMAC := bodyMAC[:half], bodyMAC[half:]
		if !isOneOf(s.Peppers.Candidates(secret.ForIdempotencyBodies, body), bodyMAC) {
			return nil, false, ErrOtherBody
		}
		if !isOneOf(s.Peppers.Candidates(secret.ForIdempotencyBodies, t.parts(first)...), responseMAC) {
			return nil, false, errChanged
		}
		_, err = tx.Exec(ctx, `UPDATE idempotency SET replayed_at = $1 WHERE caller = $2 AND operation = $3 AND key_mac = $4`, now, t.Caller, t.Operation, keyMAC)
		if err != nil {
			return nil, false, fmt.Errorf("idempotency: mark the replay: %w", err)
		}
		return first, true, nil
	case !errors.Is(err, pgx.ErrNoRows):
		return nil, false, fmt.Errorf("idempotency: find the first response: %w", err)
	}
	response, err := fn(tx)
	if err != nil {
		return nil, false, err
	}
	macs := slices.Concat(s.Peppers.Sign(secret.ForIdempotencyBodies, body), s.Peppers.Sign(secret.ForIdempotencyBodies, t.parts(response)...))
	// An expired row is replaced.
	_, err = tx.Exec(ctx, `INSERT INTO idempotency (caller, operation, key_mac, body_mac, answer, created_at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (caller, operation, key_mac) DO UPDATE
		SET body_mac = excluded.body_mac, answer = excluded.answer, created_at = excluded.created_at, replayed_at = NULL`,
		t.Caller, t.Operation, s.Peppers.Sign(secret.ForIdempotencyKeys, t.Key), macs, response, now)
	if err != nil {
		return nil, false, fmt.Errorf("idempotency: store the response: %w", err)
	}
	return response, false, nil
}

// DeleteExpired deletes responses older than Retention.
func (s *Store) DeleteExpired(ctx context.Context) (int64, error) {
	before := s.Now().Add(-Retention)
	n, err := pg.InBatches(func() (int64, error) {
		tag, err := s.Pool.Exec(ctx, `DELETE FROM idempotency WHERE (caller, operation, key_mac) IN
			(SELECT i.caller, i.operation, i.key_mac FROM idempotency i WHERE i.created_at < $1 LIMIT 5000)`, before)
		return tag.RowsAffected(), err
	})
	return n, fault.Wrap(err, "idempotency: delete expired responses")
}

func lockID(t Ticket) int64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "lineproof idempotency\x00%s\x00%s\x00%s", t.Caller, t.Operation, t.Key))
	return int64(binary.BigEndian.Uint64(sum[:8])) //nolint:gosec // any 64 bits will do
}
