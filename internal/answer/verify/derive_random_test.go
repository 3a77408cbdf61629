package verify_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/lineproof/lineproof/internal/answer/verify"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// Every answer that was given while events and files were reported is derived again as it
// was given, from the database and from archives; and when the history of lines, the
// policy or the history of the coverage is altered, answers differ.
// LINEPROOF_E2E_DERIVED_ANSWERS sets the size.
func TestEveryAnswerIsDerivedAgain(t *testing.T) {
	t.Parallel()
	answers := fromEnv(t, "LINEPROOF_E2E_DERIVED_ANSWERS", 1_200)
	r := newImpactRun(t, max(answers/12, 100))
	r.live(answers)
	start := time.Now()
	got := r.verdicts(t.Context())
	t.Logf("%d answers were derived again in %v: %v", len(r.records), time.Since(start).Round(time.Second), got)
	if got[verify.Agrees] != len(r.records) || len(got) != 1 {
		t.Errorf("of %d answers the verdicts are %v", len(r.records), got)
	}
	super := pgtest.Open(t, r.pool.Config().ConnString(), "")
	for _, plant := range []struct{ name, alter, undo string }{
		{"an event took effect at another time", `UPDATE line_event SET effective = effective - 86400`, `UPDATE line_event SET effective = effective + 86400`},
		{"the policy has other windows", `UPDATE policy SET swapped_hours = swapped_hours + 500`, `UPDATE policy SET swapped_hours = swapped_hours - 500`},
		{
			"the coverage was another one", `UPDATE supply_coverage_history SET supplied_through = supplied_through - interval '1 hour'`,
			`UPDATE supply_coverage_history SET supplied_through = supplied_through + interval '1 hour'`,
		},
	} {
		if answers > 20_000 {
			break // shown at a small size
		}
		for _, sql := range []string{plant.alter, plant.undo} {
			if _, err := super.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
			if sql == plant.alter {
				if got := r.verdicts(t.Context()); got[verify.Differs] == 0 {
					t.Errorf("%s, and the verdicts are %v", plant.name, got)
				}
			}
		}
	}
	if got := r.verdicts(t.Context()); answers <= 20_000 && got[verify.Differs] != 0 {
		t.Errorf("everything is as it was, and the verdicts are %v", got)
	}
}

// verdicts derives every answer again, and counts the verdicts.
func (r *impactRun) verdicts(ctx context.Context) map[verify.Verdict]int {
	r.t.Helper()
	counts := make(map[verify.Verdict]int)
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(4)
	lines := &linestore.Resolver{}
	everything := journal.Search{Pool: r.pool, Files: r.files, To: time.Now(), Match: func(int64, int64) bool { return true }}
	err := everything.Run(ctx, func(e *record.Entry) error {
		given := *e
		group.Go(func() error {
			d, err := verify.Derive(ctx, r.pool, lines, &given)
			mu.Lock()
			defer mu.Unlock()
			if counts[d.Verdict]++; d.Verdict != verify.Agrees && counts[d.Verdict] == 1 {
				r.t.Logf("%s: %+v", given.RequestID, d)
			}
			return err
		})
		return nil
	})
	if waitErr := group.Wait(); err == nil {
		err = waitErr
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return counts
}
