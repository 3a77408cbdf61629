package tally_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/tally"
)

func (b *bench) entity(tb testing.TB) uuid.UUID {
	tb.Helper()
	id := uuid.Must(uuid.NewV7())
	_, err := b.super.Exec(context.Background(), `INSERT INTO entity (id, name, cac, status, document_required, supplies, asks, created_at)
		VALUES ($1, 'A Bank', 'RC 1', 'Approved', 1 = 2, false, true, now())`, id)
	if err != nil {
		tb.Fatal(err)
	}
	return id
}

func (b *bench) meter(node string) *tally.Meter {
	return tally.NewMeter(b.Pool, node, b.now, slog.New(slog.DiscardHandler))
}

func flush(tb testing.TB, m *tally.Meter) {
	tb.Helper()
	if err := m.Flush(context.Background()); err != nil {
		tb.Fatal(err)
	}
}

// The counts of several nodes for one entity are added up, by day and mode, and
// every request counts once.
func TestNodesAddUpWhatTheyCount(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bank, other := b.entity(t), b.entity(t)
	var all sync.WaitGroup
	for _, name := range []string{"one", "two"} {
		m := b.meter(name)
		all.Go(func() {
			for i := range 300 {
				m.Record(bank, "live", tally.Answered, time.Duration(i)*time.Millisecond/3+time.Microsecond)
				m.Record(other, "live", tally.Answered, time.Second)
				if i%3 == 0 {
					m.Record(bank, "live", tally.Refused, 0)
				}
				if i%10 == 0 {
					m.Record(bank, "live", tally.Failed, 0)
					m.Record(bank, "test", tally.Answered, 0)
				}
				if i%50 == 0 {
					if err := m.Flush(context.Background()); err != nil {
						t.Error(err)
					}
				}
			}
			flush(t, m)
		})
	}
	all.Wait()
	days, err := b.DailyUsage(t.Context(), bank, "live", b.now().AddDate(0, 0, -1), b.now())
	if err != nil || len(days) != 2 {
		t.Fatalf("Paces = %v, %v", days, err)
	}
	if p := days[1]; p.Requests != 2*(300+100+30) || p.Refused != 200 || p.Failed != 60 {
		t.Errorf("%+v", p)
	}
	if days[0].Requests != 0 {
		t.Errorf("yesterday: %+v", days[0])
	}
	if p95 := days[1].Times.Quantile(0.95); p95 < 90*time.Millisecond || p95 > 100*time.Millisecond {
		t.Errorf("p95 = %s, want about 95ms", p95)
	}
	if both, err := b.DailyUsage(t.Context(), bank, "", b.now(), b.now()); err != nil || both[0].Requests != 2*(300+100+30+30) {
		t.Errorf("both modes: %+v, %v", both, err)
	}
}

// What could not be stored is stored later.
func TestWhatCouldNotBeStoredIsNotLost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bank := b.entity(t)
	m := b.meter("one")
	m.Record(bank, "live", tally.Answered, time.Millisecond)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Flush(gone); err == nil {
		t.Fatal("stored without a database")
	}
	m.Record(bank, "live", tally.Answered, 2*time.Millisecond)
	flush(t, m)
	flush(t, m)
	days, err := b.DailyUsage(t.Context(), bank, "live", b.now(), b.now())
	if err != nil || days[0].Requests != 2 || days[0].Times.Quantile(1) != 2*time.Millisecond {
		t.Errorf("Paces = %+v, %v", days, err)
	}
}

// A quantile lies in the bucket in which the share is reached.
func TestQuantileLiesInItsBucket(t *testing.T) {
	t.Parallel()
	if q := (tally.Times{}).Quantile(0.95); q != 0 {
		t.Errorf("of nothing: %s", q)
	}
	var h tally.Times
	h[3], h[len(h)-1] = 95, 5 // 0.75 to 1 ms, and longer than 5 s
	for q, want := range map[float64]time.Duration{0: 750 * time.Microsecond, 0.95: time.Millisecond, 0.96: 5 * time.Second, 1: 5 * time.Second} {
		if got := h.Quantile(q); got != want {
			t.Errorf("quantile %v = %s, want %s", q, got, want)
		}
	}
}
