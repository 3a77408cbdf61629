package requestlog_test

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/requestlog"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

const number = "+2348031234567"

func peppers(t *testing.T, texts ...secret.Text) *secret.Peppers {
	t.Helper()
	p, err := secret.NewPeppers(texts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// An organisation finds its own refused requests, by key, error, number and correlator,
// also after the pepper was changed. No number is stored, and nobody finds those of
// another organisation.
func TestOrganisationFindsItsRefusedRequests(t *testing.T) {
	t.Parallel()
	ctx, pool := t.Context(), pgtest.New(t)
	old, both := secret.Text("a pepper for tests, thirty-two bytes long"), peppers(t, "another pepper for tests, 32 bytes long", "a pepper for tests, thirty-two bytes long")
	l := requestlog.New(pool, peppers(t, old), time.Now, slog.New(slog.DiscardHandler), nil)
	bank, other, key := uuid.New(), uuid.New(), uuid.New()
	with := requestlog.Refused{
		ID: uuid.Must(uuid.NewV7()), Entity: bank, Key: key, Mode: "live", Route: "POST /verify", Status: 429, Code: "QUOTA_EXCEEDED", Number: number, Correlator: "order-7", Violations: []string{"phoneNumber: NOT_ALLOWED"},
	}
	without := requestlog.Refused{ID: uuid.Must(uuid.NewV7()), Entity: bank, Key: uuid.New(), Mode: "test", Route: "POST /verify", Status: 400, Code: "INVALID_ARGUMENT"}
	theirs := with
	theirs.ID, theirs.Entity = uuid.Must(uuid.NewV7()), other
	for _, r := range []requestlog.Refused{with, without, theirs} {
		l.Add(r)
	}
	if err := l.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		f    requestlog.Filter
		want uuid.UUID
	}{
		"by key":        {requestlog.Filter{Key: key}, with.ID},
		"by code":       {requestlog.Filter{Codes: []fault.Code{fault.InvalidArgument}}, without.ID},
		"by codes":      {requestlog.Filter{Codes: []fault.Code{fault.InvalidArgument, fault.NotFound}}, without.ID},
		"by all":        {requestlog.Filter{Key: key, Codes: []fault.Code{fault.QuotaExceeded}, Correlator: "order-7", Number: number}, with.ID},
		"by number":     {requestlog.Filter{Number: number}, with.ID},
		"by correlator": {requestlog.Filter{Correlator: "order-7"}, with.ID},
	} {
		c.f.Entity, c.f.Limit = bank, 10
		found, err := requestlog.Find(ctx, pool, both, time.Now(), c.f)
		if err != nil || len(found) != 1 || found[0].ID != c.want {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
	if got, err := requestlog.Get(ctx, pool, bank, with.ID); err != nil || got.Code != with.Code || got.Violations[0] != with.Violations[0] || got.Number != "" {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, id := range []uuid.UUID{theirs.ID, uuid.New(), uuid.Nil} {
		if _, err := requestlog.Get(ctx, pool, bank, id); !errors.Is(err, requestlog.ErrNone) {
			t.Errorf("%s: %v, want none", id, err)
		}
	}
	var rows, macs int
	var all string
	err := pool.QueryRow(ctx, `SELECT count(*), count(DISTINCT number_mac), string_agg(r::text, ' ') FROM refused_request r`).Scan(&rows, &macs, &all)
	if err != nil || rows != 3 || macs != 2 || strings.Contains(all, "8031234567") {
		t.Errorf("%d rows, %d different HMACs of one number, %v: %s", rows, macs, err, all)
	}
}

// Above the rate of an organisation requests are counted and not stored, the next stored
// one says how many are missing, and other organisations are not affected.
func TestRefusedRequestsAreSampledAboveARate(t *testing.T) {
	t.Parallel()
	ctx, pool, now, dropped := t.Context(), pgtest.New(t), time.Now(), 0
	l := requestlog.New(pool, peppers(t, "a pepper for tests, thirty-two bytes long"), func() time.Time { return now }, slog.New(slog.DiscardHandler), func(n int) { dropped += n })
	busy, calm := uuid.New(), uuid.New()
	refused := func(entity uuid.UUID) requestlog.Refused {
		return requestlog.Refused{ID: uuid.Must(uuid.NewV7()), Entity: entity, Mode: "live", Code: "TOO_MANY_REQUESTS", Status: 429}
	}
	for range 1000 {
		l.Add(refused(busy))
	}
	l.Add(refused(calm))
	now = now.Add(time.Second) // two more
	l.Add(refused(busy))
	if err := l.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	var stored, of, skipped int
	err := pool.QueryRow(ctx, `SELECT count(*), count(*) FILTER (WHERE entity_id = $1), sum(skipped) FROM refused_request`, busy).Scan(&stored, &of, &skipped)
	if err != nil || stored != 302 || of != 301 || skipped != 700 || dropped != 700 {
		t.Errorf("%d stored, %d of the busy one, %d missing, %d dropped, %v", stored, of, skipped, dropped, err)
	}
}

// While the database does not answer, the queue holds a bounded number of requests, and
// adding one does not wait for it. Afterwards they are written.
func TestQueueIsBoundedWhileTheDatabaseIsDown(t *testing.T) {
	t.Parallel()
	ctx, pool := t.Context(), pgtest.New(t)
	var mu sync.Mutex
	dropped := 0
	l := requestlog.New(pool, peppers(t, "a pepper for tests, thirty-two bytes long"), time.Now, slog.New(slog.DiscardHandler), func(n int) {
		mu.Lock()
		defer mu.Unlock()
		dropped += n
	})
	down, cancel := context.WithCancel(ctx)
	cancel()
	began := time.Now()
	for i := range 6_000 { // of many organisations, so that none is above its rate
		l.Add(requestlog.Refused{ID: uuid.Must(uuid.NewV7()), Entity: uuid.MustParse("00000000-0000-4000-8000-" + strconv.Itoa(100_000_000_000+i%100)), Mode: "live", Code: "UNAVAILABLE", Status: 503})
		if i%1_000 == 0 {
			if err := l.Flush(down); err == nil {
				t.Fatal("a cancelled flush succeeded")
			}
		}
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("adding 6,000 took %s", took)
	}
	if err := l.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	var stored int
	if err := pool.QueryRow(ctx, `SELECT count(*) FROM refused_request`).Scan(&stored); err != nil || stored != 4_096 || stored+dropped != 6_000 {
		t.Errorf("%d stored and %d dropped of 6,000, %v", stored, dropped, err)
	}
}

// Days older than 30 days are dropped, and those before stay.
func TestOldRefusedRequestsAreDropped(t *testing.T) {
	t.Parallel()
	ctx, pool := t.Context(), pgtest.New(t)
	owner := pgtest.Open(t, pool.Config().ConnString(), "")
	defer owner.Close()
	for _, ago := range []int{29, 31} {
		_, err := owner.Exec(ctx, `DO $$ DECLARE d date := (now() AT TIME ZONE 'UTC')::date - `+strconv.Itoa(ago)+`; BEGIN
			EXECUTE format('CREATE TABLE refused_request_%s PARTITION OF refused_request FOR VALUES FROM (%L) TO (%L)', to_char(d, 'YYYYMMDD'), d || ' 00:00:00+00', d + 1 || ' 00:00:00+00');
			EXECUTE format('ALTER TABLE refused_request_%s OWNER TO lineproof_owner', to_char(d, 'YYYYMMDD')); END $$`)
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []int{5, 0} { // four days are created, one is dropped
		if n, err := requestlog.MakePartitions(ctx, pool); err != nil || n != want {
			t.Errorf("%d changed, %v; want %d", n, err, want)
		}
	}
}

// When the database stops answering in the middle of a commit, the rows are written again, and
// those that are there stay as they are: an error would stop the log for ever.
func TestRowsOfAnUnconfirmedCommitAreWrittenAgain(t *testing.T) {
	t.Parallel()
	pool, now := pgtest.New(t), time.Now()
	l := requestlog.New(pool, peppers(t, "a pepper for tests, thirty-two bytes long"), func() time.Time { return now }, slog.New(slog.DiscardHandler), nil)
	first := requestlog.Refused{ID: uuid.Must(uuid.NewV7()), Entity: uuid.New(), Key: uuid.New(), Mode: "live", Route: "POST /verify", Status: 429, Code: "QUOTA_EXCEEDED"}
	second := first
	second.ID = uuid.Must(uuid.NewV7())
	for _, list := range [][]requestlog.Refused{{first}, {first, second}} {
		for _, r := range list {
			l.Add(r)
		}
		if err := l.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var stored int
	if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM refused_request`).Scan(&stored); err != nil || stored != 2 {
		t.Errorf("%d rows are stored, %v", stored, err)
	}
}
