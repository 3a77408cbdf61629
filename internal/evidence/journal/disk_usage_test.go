package journal_test

import (
	"math"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/evidence/journal"
)

// The daily growth of the journal is that of yesterday, or that of today so far,
// extrapolated, if that is more.
func TestMeasureTellsHowFastTheJournalGrows(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	today := time.Now().UTC().Truncate(24 * time.Hour)
	measure := func(now time.Time) journal.Usage {
		u, err := journal.Measure(t.Context(), p.serve, now)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	calm := measure(today.Add(12 * time.Hour))
	p.fill(t, today.AddDate(0, 0, -1), 200, 10)
	grown := measure(today.Add(12 * time.Hour))
	size := int64(p.count(t, `SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c WHERE relname LIKE 'journal_%' || to_char($1::timestamptz, 'YYYYMMDD') AND relkind = 'r'`,
		today.AddDate(0, 0, -1)))
	if grown.Daily != size || grown.Journal <= calm.Journal || grown.Database <= grown.Journal {
		t.Errorf("it grows by %d, and yesterday has %d; %+v after %+v", grown.Daily, size, grown, calm)
	}
	p.fill(t, today, 200, 10)
	if noon, evening := measure(today.Add(6*time.Hour)), measure(today.Add(24*time.Hour)); noon.Daily <= 3*evening.Daily {
		t.Errorf("as much by 6 o'clock as by midnight is %d in a day, and was %d", noon.Daily, evening.Daily)
	}
	if early := measure(today.Add(time.Minute)); early.Daily != size {
		t.Errorf("the first minute of a day makes it %d a day, want yesterday's %d", early.Daily, size)
	}
}

// The days left are the free space divided by the daily growth.
func TestDaysLeft(t *testing.T) {
	t.Parallel()
	u := journal.Usage{Journal: 500, Database: 1000, Daily: 100}
	for limit, want := range map[int64]float64{2000: 10, 1050: 0.5, 1000: 0, 900: 0} {
		if got := u.DaysLeft(limit); got != want {
			t.Errorf("with %d bytes there are %v days, want %v", limit, got, want)
		}
	}
	if still := (&journal.Usage{Database: 1}).DaysLeft(2); !math.IsInf(still, 1) {
		t.Errorf("a journal that does not grow has %v days", still)
	}
}
