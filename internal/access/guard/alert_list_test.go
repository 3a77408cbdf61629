package guard_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

// alert stores an alert as a node would.
func (b *bench) alert(tb testing.TB, entity uuid.UUID, kind, level string, since time.Time, ends *time.Time) uuid.UUID {
	tb.Helper()
	id := uuid.Must(uuid.NewV7())
	_, err := b.pool.Exec(tb.Context(), `INSERT INTO guard_alert (id, entity_id, kind, level, since, ends_at, node, numbers, misses, dense, block, budget)
		VALUES ($1, $2, $3, $4, $5, $6, 'one', 5000, 10, 4000, 10000, 0)`, id, entity, kind, level, since, ends)
	if err != nil {
		tb.Fatal(err)
	}
	return id
}

// Active and ended alerts are two lists, each of all organisations or of one,
// and the pages list every alert once.
func TestAlertsAreFilteredByWhetherTheyAreActive(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one, two := b.entity(t), b.entity(t)
	over, tonight := morning.Add(-time.Hour), morning.Add(time.Hour)
	ended := b.alert(t, one, "budget", "stopped", morning.Add(-5*time.Hour), &over)
	released := b.alert(t, one, "density", "slowed", morning.Add(-4*time.Hour), nil)
	if _, err := guard.Release(t.Context(), b.pool, morning, guard.ReleaseForm{Entity: one, Reason: "checked", By: audit.Actor{Kind: audit.Operator}}); err != nil {
		t.Fatal(err)
	}
	holds := b.alert(t, one, "misses", "stopped", morning.Add(-3*time.Hour), nil)
	today := b.alert(t, two, "budget", "stopped", morning.Add(-3*time.Hour), &tonight)
	for name, c := range map[string]struct {
		guard.AlertFilter
		want []uuid.UUID
	}{
		"what holds":          {guard.AlertFilter{}, []uuid.UUID{today, holds}},
		"what holds of one":   {guard.AlertFilter{Entity: one}, []uuid.UUID{holds}},
		"what is over":        {guard.AlertFilter{Past: true}, []uuid.UUID{released, ended}},
		"what is over of two": {guard.AlertFilter{Past: true, Entity: two}, nil},
	} {
		var got []uuid.UUID
		s := c.AlertFilter
		s.Limit = 1
		for {
			page, err := guard.Find(t.Context(), b.pool, morning, s)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			if f := page[0]; f.Active(morning) == s.Past {
				t.Errorf("%s: %+v", name, f)
			}
			got, s.Before = append(got, page[0].ID), page[0].ID
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: %d alerts, want %d", name, len(got), len(c.want))
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: alert %d is another", name, i)
			}
		}
	}
}
