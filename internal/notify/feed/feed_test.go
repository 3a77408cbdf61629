package feed_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

type env struct {
	*feed.Service

	t    *testing.T
	url  string
	pool *pgxpool.Pool
}

func newEnv(t *testing.T) *env {
	t.Helper()
	url := pgtest.URL(t)
	pool := pgtest.Open(t, url, pg.Serve)
	return &env{&feed.Service{Pool: pool, Now: time.Now}, t, url, pool}
}

// run has a service wake its readers until the test ends, and returns when it listens.
func (e *env) run(s *feed.Service) context.Context {
	e.t.Helper()
	ctx, stop := context.WithCancel(e.t.Context())
	var running sync.WaitGroup
	listens := make(chan bool, 100)
	listener := &pg.Listener{Pool: s.Pool, Channels: []pg.Channel{s.Channel(), {Name: pg.Named("another"), Listening: func(on bool) { listens <- on }}}}
	running.Go(func() { s.Run(ctx) })
	running.Go(func() { listener.Run(ctx) })
	e.t.Cleanup(func() {
		stop()
		running.Wait()
	})
	<-listens
	return ctx
}

func (e *env) bank() feed.Owner {
	e.t.Helper()
	id := uuid.Must(uuid.NewV7())
	_, err := e.pool.Exec(e.t.Context(), `INSERT INTO entity (id, name, cac, status, document_required, asks, supplies, created_at)
		VALUES ($1, 'A Bank', 'RC 1', 'Approved', false, true, false, '2020-01-01')`, id)
	if err != nil {
		e.t.Fatal(err)
	}
	return feed.Owner{Entity: id, Mode: "live"}
}

func event(i int) feed.Event {
	n, _ := phone.FromInt(2348030000000 + int64(i))
	return feed.Event{Type: "line.v1.swapped", Number: n, Time: time.Now(), Data: map[string]any{"phoneNumber": n.E164(), "version": i, "word": "<é\u2028>"}}
}

func (e *env) add(o feed.Owner, events ...feed.Event) {
	e.t.Helper()
	if err := pg.InTx(e.t.Context(), e.pool, func(tx pg.Tx) error { return feed.Append(e.t.Context(), tx, o, events...) }); err != nil {
		e.t.Fatal(err)
	}
}

func (e *env) after(o feed.Owner, seq int64, limit int) []feed.Entry {
	e.t.Helper()
	entries, err := e.After(e.t.Context(), o, seq, limit)
	if err != nil {
		e.t.Fatal(err)
	}
	return entries
}

// follow checks entries as a stranger would who has only what is sent: numbers without
// gaps, and the chain. It returns the last hash.
func follow(t *testing.T, before [32]byte, seq int64, entries []feed.Entry) [32]byte {
	t.Helper()
	for i := range entries {
		sent := entries[i].JSON()
		body, tail, _ := strings.Cut(string(sent), `,"lpchain":"`)
		hash, err := base64.RawURLEncoding.DecodeString(strings.TrimSuffix(tail, `"}`))
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			ID   string
			Type string
			Data struct{ Digest string }
		}
		if err := json.Unmarshal(sent, &got); err != nil {
			t.Fatal(err)
		}
		if seq++; got.ID != fmt.Sprintf("%d-%d", entries[i].Epoch, seq) {
			t.Fatalf("entry %d has the id %s", seq, got.ID)
		}
		digest := sha256.Sum256([]byte(body + "}"))
		if got.Type == "org.lineproof.feed.v1.erased" {
			erased, _ := base64.RawURLEncoding.DecodeString(got.Data.Digest)
			digest = [32]byte(erased)
		}
		if before = sha256.Sum256(append(before[:], digest[:]...)); before != [32]byte(hash) {
			t.Fatalf("entry %d breaks the chain", seq)
		}
	}
	return before
}

// Many writers add to few feeds, some roll back: each feed has no gap, one order and a
// chain, and nothing of those that rolled back.
func TestFeedsHaveNoGapsAndAChain(t *testing.T) {
	t.Parallel()

	e := newEnv(t)
	banks := []feed.Owner{e.bank(), e.bank(), e.bank()}
	test := feed.Owner{Entity: banks[0].Entity, Mode: "test"}
	errAborted := errors.New("rolled back")
	var writers sync.WaitGroup
	for w := range 6 {
		writers.Go(func() {
			for i := range 20 {
				err := pg.InTx(t.Context(), e.pool, func(tx pg.Tx) error {
					// In another order each time, to see that nobody waits in a circle.
					events := map[feed.Owner][]feed.Event{banks[(w+i)%3]: {event(i), event(i + 1)}, banks[(w+i+1)%3]: {event(i)}}
					if err := feed.AppendAll(t.Context(), tx, events); err != nil {
						return err
					}
					if i%5 == 4 {
						return errAborted
					}
					return nil
				})
				if err != nil && !errors.Is(err, errAborted) {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	e.add(test, event(1))

	var total int
	for _, o := range banks {
		first := e.after(o, 0, 7)
		hash := follow(t, [32]byte{}, 0, first)
		rest := e.after(o, 7, 1000)
		follow(t, hash, 7, rest)
		total += len(first) + len(rest)
	}
	if want := 6 * 16 * 3; total != want {
		t.Errorf("%d entries, want %d", total, want)
	}
	if own := e.after(test, 0, 10); len(own) != 1 {
		t.Errorf("the feed of the test keys has %d entries", len(own))
	}
}

// A cursor leads on exactly where it was given, and one of another feed, of lost entries or
// of deleted ones is refused.
func TestCursors(t *testing.T) {
	t.Parallel()

	e := newEnv(t)
	o, other := e.bank(), e.bank()
	e.add(o, event(1), event(2), event(3))
	e.add(other, event(1), event(2), event(3))
	entries, others := e.after(o, 0, 10), e.after(other, 0, 10)
	for _, entry := range entries {
		if seq, err := e.Resume(t.Context(), o, entry.Cursor()); seq != entry.Seq || err != nil {
			t.Errorf("cursor after %d: %d, %v", entry.Seq, seq, err)
		}
	}
	if end, err := e.CursorAt(t.Context(), o); end != entries[2].Cursor() || err != nil {
		t.Errorf("the cursor of the end is %q, %v", end, err)
	}
	if seq, err := e.Resume(t.Context(), o, ""); seq != 0 || err != nil {
		t.Errorf("without a cursor: %d, %v", seq, err)
	}
	beyond := entries[2]
	beyond.Seq = 4
	raised := entries[1]
	raised.Epoch = 2
	for name, cursor := range map[string]string{"of another feed": others[1].Cursor(), "at another end": others[2].Cursor(), "beyond the end": beyond.Cursor(), "of another epoch": raised.Cursor()} {
		if _, err := e.Resume(t.Context(), o, cursor); !errors.Is(err, feed.ErrOtherChain) {
			t.Errorf("a cursor %s: %v", name, err)
		}
	}
	for _, text := range []string{"x", "1-2", "1-02-0123456789abcdef", "1-2-0123456789ABCDEF", "1-2-0123456789abcde", "0-2-0123456789abcdef", "1--2-0123456789abcdef", "-"} {
		if _, err := e.Resume(t.Context(), o, text); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("cursor %q: %v", text, err)
		}
	}

	owner := pgtest.Open(t, e.url, pg.Owner)
	if _, err := owner.Exec(t.Context(), `DELETE FROM feed_entry WHERE entity_id = $1 AND seq <= 2`, o.Entity); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Resume(t.Context(), o, entries[0].Cursor()); !errors.Is(err, feed.ErrCursorTooOld) {
		t.Errorf("a cursor before deleted entries: %v", err)
	}
	if seq, err := e.Resume(t.Context(), o, entries[1].Cursor()); seq != 2 || err != nil {
		t.Errorf("a cursor right before the oldest entry: %d, %v", seq, err)
	}
	if seq, err := e.Resume(t.Context(), o, ""); seq != 2 || err != nil {
		t.Errorf("without a cursor, after a deletion: %d, %v", seq, err)
	}
}

// Readers that wait are woken by whatever node adds, and not by other feeds; also when the
// node cannot listen.
func TestWaitingReadersAreWoken(t *testing.T) {
	t.Parallel()

	e := newEnv(t)
	ctx := e.run(e.Service)

	o, other := e.bank(), e.bank()
	e.add(o, event(1))
	if err := e.Wait(t.Context(), o, 0); err != nil {
		t.Fatal(err)
	}
	woken := make(chan error, 20)
	for range cap(woken) {
		go func() { woken <- e.Wait(ctx, o, 1) }()
	}
	e.add(other, event(1))
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := e.Wait(short, o, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("nothing was added: %v", err)
	}
	e.add(o, event(2))
	begun := time.Now()
	for range cap(woken) {
		if err := <-woken; err != nil {
			t.Error(err)
		}
	}
	if took := time.Since(begun); took > time.Second {
		t.Errorf("woken after %v", took)
	}
	// Without the connection for notifications, the poll wakes them.
	go func() { woken <- e.Wait(ctx, o, 2) }()
	owner := pgtest.Open(t, e.url, "")
	if _, err := owner.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lineproof-listen' AND datname = current_database()`); err != nil {
		t.Fatal(err)
	}
	e.add(o, event(3))
	if err := <-woken; err != nil {
		t.Error(err)
	}
}
