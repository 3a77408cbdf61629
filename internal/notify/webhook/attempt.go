package webhook

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Kind is the kind of request that was sent. The values are stored and part of the contract.
type Kind string

// The kinds.
const (
	KindEvents    Kind = "events"
	KindTest      Kind = "test"
	KindAgain     Kind = "again" // events that were sent before, on request
	KindChallenge Kind = "challenge"
)

// Attempt is one request to an endpoint.
type Attempt struct {
	N           int64 // counts the attempts of the endpoint
	At          time.Time
	Kind        Kind
	Message     string // the header webhook-id
	First, Last int64  // seq of its events; 0 if they are not of the feed
	Events      int
	Status      int    // 0 without an answer
	Error       string // why there was no answer
	Took        time.Duration
	Answer      []byte // its first 1,024 bytes
}

// Succeeded reports whether the endpoint accepted what it got.
func (a *Attempt) Succeeded() bool { return a.Status >= 200 && a.Status <= 299 }

// Dead is an event that an endpoint refused for good.
type Dead struct {
	Seq      int64
	Type     string // of the event, without its prefix
	Refusals int
	DiedAt   time.Time
	Status   int
	Answer   []byte
	SentAt   time.Time // when it was accepted after all; zero if it was not
}

const (
	keptAttempts = 1000 // of an endpoint
	tidyEvery    = 100  // attempts
)

// Attempts returns the last attempts of an endpoint, newest first, up to limit and before
// the attempt with a number; 0 for the newest.
func (s *Service) Attempts(ctx context.Context, o feed.Owner, id uuid.UUID, before int64, limit int) ([]Attempt, error) {
	list, err := pg.Collect(ctx, s.Pool, func(row pgx.CollectableRow) (a Attempt, err error) {
		var ms int32
		err = row.Scan(&a.N, &a.At, &a.Kind, &a.Message, &a.First, &a.Last, &a.Events, &a.Status, &a.Error, &ms, &a.Answer)
		a.At, a.Took = a.At.UTC(), time.Duration(ms)*time.Millisecond
		return a, err
	}, `SELECT a.n, a.at, a.kind, a.message, coalesce(a.first_seq, 0), coalesce(a.last_seq, 0), a.events, coalesce(a.status, 0), a.error, a.took_ms, a.answer
		FROM hook_attempt a JOIN hook_endpoint e ON e.id = a.endpoint_id WHERE e.id = $1 AND e.entity_id = $2 AND (e.mode = $3 OR $3 = '') AND (a.n < $4 OR $4 = 0) ORDER BY a.n DESC LIMIT $5`,
		id, o.Entity, o.Mode, before, limit)
	return list, fault.Wrap(err, "webhook: read attempts")
}

// Dead returns the events that an endpoint refused for good, newest first, up to limit.
func (s *Service) Dead(ctx context.Context, o feed.Owner, id uuid.UUID, limit int) ([]Dead, error) {
	list, err := pg.Collect(ctx, s.Pool, func(row pgx.CollectableRow) (d Dead, err error) {
		var sentAt *time.Time
		err = row.Scan(&d.Seq, &d.Type, &d.Refusals, &d.DiedAt, &d.Status, &d.Answer, &sentAt)
		d.DiedAt, d.SentAt = d.DiedAt.UTC(), orZero(sentAt)
		return d, err
	}, `SELECT d.seq, d.type, d.refusals, d.died_at, d.status, d.answer, d.sent_at
		FROM hook_dead d JOIN hook_endpoint e ON e.id = d.endpoint_id WHERE e.id = $1 AND e.entity_id = $2 AND (e.mode = $3 OR $3 = '') ORDER BY d.seq DESC LIMIT $4`, id, o.Entity, o.Mode, limit)
	return list, fault.Wrap(err, "webhook: read dead events")
}

// errLeaseLost reports that another node, or somebody who changed the cursor, took the
// endpoint over.
var errLeaseLost = errors.New("webhook: the endpoint is no longer leased to this sender")

const insertAttempt = ` INSERT INTO hook_attempt (endpoint_id, n, at, kind, message, first_seq, last_seq, events, status, error, took_ms, answer)
	SELECT $1, attempts, $2, $3, $4, nullif($5::bigint, 0), nullif($6::bigint, 0), $7, nullif($8::integer, 0), $9, $10, $11 FROM c RETURNING n`

func (a *Attempt) arguments(endpoint uuid.UUID) []any {
	answer := a.Answer
	if answer == nil {
		answer = []byte{}
	}
	return []any{endpoint, a.At, a.Kind, a.Message, a.First, a.Last, a.Events, a.Status, a.Error, milliseconds(a.Took), answer}
}

// move records an attempt of the sender, and where the endpoint is now.
func move(ctx context.Context, on pg.DB, e *Endpoint, a *Attempt, o *outcome, seq int64) error {
	arguments := append(a.arguments(e.ID), e.lease, seq, o.failures, orNull(o.failingSince), orNull(o.nextAt), o.notified, o.refusals, orNull(o.refusedSince), o.accepted)
	var n int64
	err := on.QueryRow(ctx, `WITH c AS (UPDATE hook_cursor SET attempts = attempts + 1, seq = $13, failures = $14, failing_since = $15, next_at = $16,
		notified_at = CASE WHEN $17 THEN coalesce(notified_at, $2) END, refusals = $18, refused_since = $19, delivered_at = CASE WHEN $20 THEN $2 ELSE delivered_at END
		WHERE endpoint_id = $1 AND lease = $12 RETURNING attempts)`+insertAttempt, arguments...).Scan(&n)
	if errors.Is(err, pgx.ErrNoRows) {
		return errLeaseLost
	}
	if err == nil {
		err = tidy(ctx, on, e.ID, n)
	}
	return fault.Wrap(err, "webhook: record an attempt")
}

// record records an attempt that does not move the cursor.
func record(ctx context.Context, on pg.DB, id uuid.UUID, a *Attempt) error {
	err := on.QueryRow(ctx, `WITH c AS (UPDATE hook_cursor SET attempts = attempts + 1 WHERE endpoint_id = $1 RETURNING attempts)`+insertAttempt, a.arguments(id)...).Scan(&a.N)
	if err == nil {
		err = tidy(ctx, on, id, a.N)
	}
	return fault.Wrap(err, "webhook: record an attempt")
}

// tidy deletes all but the last attempts of an endpoint, from time to time.
func tidy(ctx context.Context, on pg.DB, id uuid.UUID, n int64) error {
	if n%tidyEvery != 0 {
		return nil
	}
	_, err := on.Exec(ctx, `DELETE FROM hook_attempt WHERE endpoint_id = $1 AND n <= $2`, id, n-keptAttempts)
	return err
}
