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

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/idempotency/internal/db"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/secret"
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
	q, now := db.New(tx), s.Now()
	locked, err := q.TryLock(ctx, lockID(t))
	if err != nil {
		return nil, false, fmt.Errorf("idempotency: lock: %w", err)
	}
	if !locked {
		return nil, false, ErrInFlight
	}
	body := string(t.Body)
	first, err := q.Find(ctx, db.FindParams{
		Caller: t.Caller, Operation: t.Operation, KeyMacs: s.Peppers.Candidates(t.Key), Since: now.Add(-Retention),
	})
	switch {
	case err == nil:
		same := slices.ContainsFunc(s.Peppers.Candidates(body), func(mac []byte) bool { return hmac.Equal(mac, first.BodyMac) })
		if !same {
			return nil, false, ErrOtherBody
		}
		err = q.MarkReplayed(ctx, db.MarkReplayedParams{At: &now, Caller: t.Caller, Operation: t.Operation, KeyMac: first.KeyMac})
		if err != nil {
			return nil, false, fmt.Errorf("idempotency: mark the replay: %w", err)
		}
		return first.Answer, true, nil
	case !errors.Is(err, pgx.ErrNoRows):
		return nil, false, fmt.Errorf("idempotency: find the first response: %w", err)
	}
	response, err := fn(tx)
	if err != nil {
		return nil, false, err
	}
	err = q.Store(ctx, db.StoreParams{
		Caller: t.Caller, Operation: t.Operation, KeyMac: s.Peppers.Sign(t.Key), BodyMac: s.Peppers.Sign(body),
		Answer: response, CreatedAt: now,
	})
	if err != nil {
		return nil, false, fmt.Errorf("idempotency: store the response: %w", err)
	}
	return response, false, nil
}

// DeleteExpired deletes responses older than Retention.
func (s *Store) DeleteExpired(ctx context.Context) (int64, error) {
	before := s.Now().Add(-Retention)
	n, err := pg.InBatches(func() (int64, error) { return db.New(s.Pool).DeleteExpired(ctx, before) })
	if err != nil {
		return n, fmt.Errorf("idempotency: delete expired responses: %w", err)
	}
	return n, nil
}

func lockID(t Ticket) int64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "lineproof idempotency\x00%s\x00%s\x00%s", t.Caller, t.Operation, t.Key))
	return int64(binary.BigEndian.Uint64(sum[:8])) //nolint:gosec // any 64 bits will do
}
