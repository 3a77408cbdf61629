package verify_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/verify"
)

// While the database does not answer, a question is refused at once and not when
// its time is up; a lost batch is what says so; afterwards questions are answered.
func TestQuestionsAreRefusedAtOnceWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	a := newAsking(t, now)
	back := make(chan struct{})
	b := &pg.Breaker{Warm: func(ctx context.Context, tx pg.Tx) error {
		<-back
		return a.Warm(ctx, tx)
	}}
	behind, err := pg.Open(t.Context(), a.pool.Config().ConnString(), pg.Options{Role: pg.Serve, Breaker: b})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(behind.Close)
	t.Cleanup(b.Close)
	if a.Journal, err = journal.Open(t.Context(), behind, "test"); err != nil {
		t.Fatal(err)
	}
	a.Breaker, a.Patience = b, 800*time.Millisecond
	a.Now = func() time.Time { return now }
	question := verify.Question{Entity: uuid.New(), Key: uuid.New(), Sent: "as sent", Mode: "live"}
	question.Number, _ = phone.FromInt(normal)

	locked, err := a.super.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := locked.Exec(t.Context(), "LOCK TABLE journal_batch"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Ask(t.Context(), question); !errors.Is(err, journal.ErrNotRecorded) || errors.Is(err, pg.ErrAway) {
		t.Fatalf("a question whose batch is lost: %v", err)
	}
	began := time.Now()
	if _, err := a.Ask(t.Context(), question); !errors.Is(err, journal.ErrNotRecorded) || !errors.Is(err, pg.ErrAway) {
		t.Errorf("a question during the outage: %v", err)
	}
	if took := time.Since(began); took > 300*time.Millisecond {
		t.Errorf("a question during the outage was refused after %s", took)
	}
	if err := locked.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(back)
	b.Wait(t.Context())
	a.Patience = time.Minute
	if _, err := a.Ask(t.Context(), question); err != nil {
		t.Errorf("a question after the outage: %v", err)
	}
}
