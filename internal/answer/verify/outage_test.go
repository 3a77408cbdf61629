package verify_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/answer/verify"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// A failed batch opens the breaker. While the database is down, a request is
// refused at once instead of at its deadline; afterwards requests are answered.
func TestRequestsAreRefusedAtOnceWhileTheDatabaseIsDown(t *testing.T) {
	t.Parallel()
	a := newVerifier(t, now)
	restored := make(chan struct{})
	b := &pg.Breaker{Warm: func(ctx context.Context, tx pg.Tx) error {
		<-restored
		return a.Warm(ctx, tx)
	}}
	behind, err := pg.Open(t.Context(), a.pool.Config().ConnString(), pg.Options{Role: pg.Serve, Breaker: b})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(behind.Close)
	t.Cleanup(b.Close)
	if a.Journal, err = journal.Open(t.Context(), behind, "test", 2); err != nil {
		t.Fatal(err)
	}
	a.Breaker, a.Timeout = b, 800*time.Millisecond
	a.Now = func() time.Time { return now }
	request := verify.Request{Entity: uuid.New(), Key: uuid.New(), RawNumber: "as sent", Mode: "live"}
	request.Number, _ = phone.FromInt(normal)

	locked, err := a.super.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := locked.Exec(t.Context(), "LOCK TABLE journal_batch"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Verify(t.Context(), request); !errors.Is(err, journal.ErrNotRecorded) || errors.Is(err, pg.ErrDatabaseDown) {
		t.Fatalf("a request whose batch failed: %v", err)
	}
	start := time.Now()
	if _, err := a.Verify(t.Context(), request); !errors.Is(err, journal.ErrNotRecorded) || !errors.Is(err, pg.ErrDatabaseDown) {
		t.Errorf("a request during the outage: %v", err)
	}
	if took := time.Since(start); took >= a.Timeout {
		t.Errorf("a request during the outage was refused after %s", took)
	}
	if err := locked.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(restored)
	b.Wait(t.Context())
	a.Timeout = time.Minute
	if _, err := a.Verify(t.Context(), request); err != nil {
		t.Errorf("a request after the outage: %v", err)
	}
}
