package idempotency_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access/idempotency"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/secret"
)

const (
	oldPepper secret.Text = "the pepper of last year, long enough."
	newPepper secret.Text = "the pepper of this year, long enough."
)

func store(t *testing.T, pool *pgxpool.Pool, peppers ...secret.Text) *idempotency.Store {
	t.Helper()
	p, err := secret.NewPeppers(peppers)
	if err != nil {
		t.Fatal(err)
	}
	return &idempotency.Store{Pool: pool, Peppers: p, Now: time.Now}
}

// effect inserts one row, so that effects can be counted.
func effect(ctx context.Context, tx pg.Tx) ([]byte, error) {
	id := uuid.New()
	_, err := tx.Exec(ctx, `INSERT INTO audit (id, at, actor_kind, action, subject_id) VALUES ($1, now(), 'operator', 'test', $1)`, id)
	return []byte(id.String()), err
}

func effects(t *testing.T, pool *pgxpool.Pool) (n int) {
	t.Helper()
	if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM audit`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// However often and however concurrently a request is sent, it takes effect
// once, and every response is the first one.
func TestManyCopiesOfARequestTakeEffectOnce(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	s := store(t, pool, newPepper)
	ticket := idempotency.Ticket{Caller: uuid.New(), Operation: "x", Key: "k", Body: []byte("b")}
	var mu sync.Mutex
	answers := map[string]int{}
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			for {
				answer, _, err := s.Do(t.Context(), ticket, func(tx pg.Tx) ([]byte, error) { return effect(t.Context(), tx) })
				if errors.Is(err, idempotency.ErrInFlight) {
					continue
				}
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				answers[string(answer)]++
				return
			}
		})
	}
	wg.Wait()
	if len(answers) != 1 || effects(t, pool) != 1 {
		t.Errorf("%d answers and %d effects, want 1 of each", len(answers), effects(t, pool))
	}
}

func TestWhatMakesAKeyAnother(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	s := store(t, pool, newPepper)
	base := idempotency.Ticket{Caller: uuid.New(), Operation: "x", Key: "k", Body: []byte("b")}
	do := func(s *idempotency.Store, change func(*idempotency.Ticket)) (bool, error) {
		ticket := base
		if change != nil {
			change(&ticket)
		}
		_, replayed, err := s.Do(t.Context(), ticket, func(tx pg.Tx) ([]byte, error) { return effect(t.Context(), tx) })
		return replayed, err
	}
	if _, err := do(s, nil); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		change   func(*idempotency.Ticket)
		replayed bool
		err      error
	}{
		"the same":          {nil, true, nil},
		"another body":      {func(x *idempotency.Ticket) { x.Body = []byte("c") }, false, idempotency.ErrOtherBody},
		"another caller":    {func(x *idempotency.Ticket) { x.Caller = uuid.New() }, false, nil},
		"another operation": {func(x *idempotency.Ticket) { x.Operation = "y" }, false, nil},
		"no key":            {func(x *idempotency.Ticket) { x.Key = "" }, false, nil},
	} {
		if replayed, err := do(s, tc.change); replayed != tc.replayed || !errors.Is(err, tc.err) {
			t.Errorf("%s: replayed %v, %v; want %v, %v", name, replayed, err, tc.replayed, tc.err)
		}
	}

	late := store(t, pool, newPepper)
	late.Now = func() time.Time { return time.Now().Add(idempotency.Retention + time.Minute) }
	if replayed, err := do(late, func(x *idempotency.Ticket) { x.Body = []byte("c") }); replayed || err != nil {
		t.Errorf("after a day the key is not free: %v, %v", replayed, err)
	}
	if n, err := late.DeleteExpired(t.Context()); err != nil || n != 2 {
		t.Errorf("forgot %d, %v; want the two that are a day old", n, err)
	}
}

// A request of before is still recognised when a new pepper is put in front of
// the old one.
func TestResponsesAreReplayedUnderANewPepper(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	ticket := idempotency.Ticket{Caller: uuid.New(), Operation: "x", Key: "k", Body: []byte("b")}
	for i, s := range []*idempotency.Store{store(t, pool, oldPepper), store(t, pool, newPepper, oldPepper)} {
		_, replayed, err := s.Do(t.Context(), ticket, func(tx pg.Tx) ([]byte, error) { return effect(t.Context(), tx) })
		if err != nil || replayed != (i == 1) {
			t.Errorf("store %d: replayed %v, %v", i, replayed, err)
		}
	}
}

// An error is not stored: the caller corrects the request and uses the same
// key.
func TestErrorIsNotStored(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	s := store(t, pool, newPepper)
	ticket := idempotency.Ticket{Caller: uuid.New(), Operation: "x", Key: "k", Body: []byte("b")}
	refused := errors.New("refused")
	if _, _, err := s.Do(t.Context(), ticket, func(pg.Tx) ([]byte, error) { return nil, refused }); !errors.Is(err, refused) {
		t.Errorf("Do = %v, want the refusal", err)
	}
	ticket.Body = []byte("corrected")
	if _, replayed, err := s.Do(t.Context(), ticket, func(tx pg.Tx) ([]byte, error) { return effect(t.Context(), tx) }); replayed || err != nil {
		t.Errorf("the corrected request: %v, %v", replayed, err)
	}
}

// Whoever can write to the database, and has no pepper, cannot let a request be answered
// otherwise than it was, nor as that of another caller or key was.
func TestResponseThatWasChangedIsNotReplayed(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	s := store(t, pool, newPepper)
	for name, sql := range map[string]string{
		"another response":             `UPDATE idempotency SET answer = 'forged' WHERE caller = $1`,
		"the row of another caller":    `UPDATE idempotency i SET answer = o.answer, body_mac = o.body_mac FROM idempotency o WHERE i.caller = $1 AND o.caller <> $1 AND o.operation = i.operation`,
		"without the second HMAC":      `UPDATE idempotency SET body_mac = substring(body_mac FOR 32) WHERE caller = $1`,
		"an HMAC of the content alone": `UPDATE idempotency SET body_mac = substring(body_mac FOR 32) || substring(body_mac FOR 32) WHERE caller = $1`,
	} {
		mine := idempotency.Ticket{Caller: uuid.New(), Operation: name, Key: "k", Body: []byte("b")}
		other := mine
		other.Caller = uuid.New()
		for _, ticket := range []idempotency.Ticket{mine, other} {
			if _, _, err := s.Do(t.Context(), ticket, func(tx pg.Tx) ([]byte, error) { return effect(t.Context(), tx) }); err != nil {
				t.Fatal(err)
			}
		}
		if tag, err := pool.Exec(t.Context(), sql, mine.Caller); err != nil || tag.RowsAffected() != 1 {
			t.Fatal(tag, err)
		}
		if answer, replayed, err := s.Do(t.Context(), mine, func(pg.Tx) ([]byte, error) { return nil, nil }); err == nil {
			t.Errorf("%s: answered %q, replayed %v", name, answer, replayed)
		}
	}
}
