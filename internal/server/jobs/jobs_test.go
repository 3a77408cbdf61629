package jobs_test

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/idempotency"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/tally"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/server/jobs"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// The jobs run in the serving role as soon as a node starts: they create
// partitions in advance, count answers, record how far the supply reaches, and
// delete expired rows.
func TestPeriodicJobsRunAtStartInTheServingRole(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	if _, err := pool.Exec(t.Context(), `INSERT INTO idempotency VALUES (gen_random_uuid(), 'x', 'k', 'b', 'a', now() - interval '2 days')`); err != nil {
		t.Fatal(err)
	}
	rows, source, _ := numbering.Shipped("NG")
	plan, err := (&numbering.Service{Pool: pool, Now: time.Now}).Set(t.Context(), rows, source, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	ahead, counted := make(chan int, 8), make(chan time.Time, 100)
	worked := func(kind string, err error) {
		if !slices.Contains(jobs.Kinds(), kind) || err != nil && t.Context().Err() == nil {
			t.Errorf("the job %s is not among all kinds, or failed: %v", kind, err)
		}
	}
	c, err := jobs.New(&jobs.Jobs{
		Pool: pool, Access: &access.Service{Pool: pool, Now: time.Now}, Answers: &idempotency.Store{Pool: pool, Now: time.Now},
		People: &people.People{Pool: pool, Now: time.Now}, DaysAhead: 11, Ahead: func(n int) { ahead <- n }, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Documents: emptyDocuments(t, pool), Removed: func(string, int) {}, Tally: &tally.Tally{Pool: pool, Now: time.Now}, Counted: func(at time.Time) { counted <- at },
		Supply: emptySupply(pool), Worked: worked,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case n := <-ahead:
		if n != 11 {
			t.Errorf("%d days ahead, want 11", n)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the job did not run")
	}
	select {
	case <-counted:
	case <-time.After(30 * time.Second):
		t.Fatal("the answers were not counted")
	}
	for deadline := time.Now().Add(30 * time.Second); ; {
		var left, recorded int
		if err := pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM idempotency), (SELECT count(*) FROM supply_reach)`).Scan(&left, &recorded); err != nil {
			t.Fatal(err)
		}
		if left == 0 && recorded == len(plan.Networks()) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d answers of two days ago are still kept, and the reach of %d networks is noted", left, recorded)
		}
		<-time.After(20 * time.Millisecond)
	}
	if err := jobs.Stop(t.Context(), c); err != nil {
		t.Error(err)
	}
	if n, err := journal.DaysAhead(t.Context(), pool, time.Now()); err != nil || n != 11 {
		t.Errorf("the journal has %d days ahead, %v", n, err)
	}
}

// emptyDocuments is a document store without documents.
func emptyDocuments(t *testing.T, pool *pgxpool.Pool) *document.Store {
	t.Helper()
	files, err := blob.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &document.Store{Pool: pool, Files: files, Now: time.Now}
}

// emptySupply is a supply service without any supply.
func emptySupply(pool *pgxpool.Pool) *supply.Service {
	return &supply.Service{Pool: pool, Lines: &linestore.Resolver{}, Now: time.Now}
}

// The kinds are stored with every queued job: with a new name, no worker would
// run the old jobs.
func TestKindsNeverChange(t *testing.T) {
	t.Parallel()
	want := []string{
		"send_letter", "scan_document", "make_partitions", "forget_expired", "scan_waiting", "sweep_documents", "count_answers",
		"note_reach", "chain_audit", "record_failures", "notify_expiry", "renew_rows", "notify_work",
	}
	if got := jobs.Kinds(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
