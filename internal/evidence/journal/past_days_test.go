package journal_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/journaltest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// past is a database whose journal has days of the past.
type past struct {
	serve, owner, super *pgxpool.Pool
	files               blob.Store
	dir                 string
	journal             *journal.Journal
}

func newPast(t *testing.T) *past {
	t.Helper()
	return newPastAt(t, pgtest.URL(t))
}

// newPastAt is newPast with a database of its own server.
func newPastAt(t *testing.T, url string) *past {
	t.Helper()
	p := &past{serve: pgtest.Open(t, url, pg.Serve), owner: pgtest.Open(t, url, pg.Owner), super: pgtest.Open(t, url, ""), dir: t.TempDir()}
	p.journal = open(t, p.owner) // the service cannot write records of the past
	var err error
	if p.files, err = blob.OpenDir(p.dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.files.Close() })
	return p
}

// exec runs a statement as superuser.
func (p *past) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := p.super.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// day creates the partitions of a day in the past and returns the day.
func (p *past) day(t *testing.T, ago int) time.Time {
	t.Helper()
	day := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -ago)
	if err := journaltest.MakeDay(t.Context(), p.super, day); err != nil {
		t.Fatal(err)
	}
	return day
}

// fill writes batches of that size to a day, and returns the records.
func (p *past) fill(t *testing.T, day time.Time, batches, size int) []record.Entry {
	t.Helper()
	var all []record.Entry
	for i := range batches {
		at := day.Add(time.Duration(i+1) * 24 * time.Hour / time.Duration(batches+2)).Truncate(time.Millisecond)
		batch := make([]record.Entry, size)
		for k := range batch {
			batch[k] = entry(at)
			batch[k].Correlator = "a \"quoted\" <word> \u2028 Ωmega"
		}
		batch[0].Options, batch[0].Extra = "include=signals", `{"signals":[]}`
		if err := p.journal.Append(t.Context(), batch...); err != nil {
			t.Fatal(err)
		}
		all = append(all, batch...)
	}
	return all
}

func (p *past) check(t *testing.T, from, to time.Time) journal.Report {
	t.Helper()
	r, err := (&journal.Checker{Pool: p.serve, Limit: 100}).Check(t.Context(), from, to)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (p *past) archivist() *journal.Archiver {
	return &journal.Archiver{Pool: p.owner, Files: p.files, Now: time.Now}
}

func (p *past) count(t *testing.T, sql string, args ...any) (n int) {
	t.Helper()
	if err := p.super.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return n
}
