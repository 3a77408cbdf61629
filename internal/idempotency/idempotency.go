// Package idempotency makes a request that is sent twice take effect once.
//
// The first answer is kept in the transaction of its effect: there is no moment
// at which one exists without the other, whatever is killed. While a request is
// in flight an advisory lock of its transaction says so, and ends with it. A
// replay commits once more before it answers, because a row that can be read
// need not have reached the standby; the commit proves that it has.
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

// Kept is how long an answer can be had again.
const Kept = 24 * time.Hour

// The ways in which a key can be refused.
var (
	ErrOtherBody = fault.New(fault.IncompatibleState,
		"This Idempotency-Key was used for a request with another content. Use a new key for a new request.")
	ErrInFlight = &fault.Error{
		Code: fault.Aborted, RetryAfter: time.Second,
		Message: "A request with this Idempotency-Key is being worked on. Ask again in a moment with the same key.",
	}
)

// Ticket names one request. Without a Key, nothing is kept.
type Ticket struct {
	Caller    uuid.UUID // keys of different callers never meet
	Operation string
	Key       string
	Body      []byte // what must be the same for a replay
}

// Store keeps first answers. All fields are required.
type Store struct {
	Pool    *pgxpool.Pool
	Peppers *secret.Peppers
	Now     func() time.Time
}

// Do runs fn in a transaction and returns its answer, or the first answer when
// the ticket's request took effect before. What fn refuses is not kept.
func (s *Store) Do(ctx context.Context, t Ticket, fn func(tx pg.Tx) ([]byte, error)) (answer []byte, replayed bool, err error) {
	err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		if t.Key == "" {
			answer, err = fn(tx)
			return err
		}
		answer, replayed, err = s.once(ctx, tx, t, fn)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	return answer, replayed, nil
}

func (s *Store) once(ctx context.Context, tx pg.Tx, t Ticket, fn func(tx pg.Tx) ([]byte, error)) ([]byte, bool, error) {
	q, now := db.New(tx), s.Now()
	mine, err := q.TryLock(ctx, lockOf(t))
	if err != nil {
		return nil, false, fmt.Errorf("idempotency: lock: %w", err)
	}
	if !mine {
		return nil, false, ErrInFlight
	}
	body := string(t.Body)
	first, err := q.Find(ctx, db.FindParams{
		Caller: t.Caller, Operation: t.Operation, KeyMacs: s.Peppers.Candidates(t.Key), Since: now.Add(-Kept),
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
		return nil, false, fmt.Errorf("idempotency: find the first answer: %w", err)
	}
	answer, err := fn(tx)
	if err != nil {
		return nil, false, err
	}
	err = q.Keep(ctx, db.KeepParams{
		Caller: t.Caller, Operation: t.Operation, KeyMac: s.Peppers.Sign(t.Key), BodyMac: s.Peppers.Sign(body),
		Answer: answer, CreatedAt: now,
	})
	if err != nil {
		return nil, false, fmt.Errorf("idempotency: keep the answer: %w", err)
	}
	return answer, false, nil
}

// Forget drops answers whose day is over.
func (s *Store) Forget(ctx context.Context) (int64, error) {
	before := s.Now().Add(-Kept)
	n, err := pg.InBites(func() (int64, error) { return db.New(s.Pool).Forget(ctx, before) })
	if err != nil {
		return n, fmt.Errorf("idempotency: forget: %w", err)
	}
	return n, nil
}

func lockOf(t Ticket) int64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "lineproof idempotency\x00%s\x00%s\x00%s", t.Caller, t.Operation, t.Key))
	return int64(binary.BigEndian.Uint64(sum[:8])) //nolint:gosec // any 64 bits will do
}
