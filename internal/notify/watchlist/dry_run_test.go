package watchlist_test

import (
	"testing"

	"github.com/lineproof/lineproof/internal/notify/watchlist"
)

// A dry run says how many members a list would have and what its digest would be, and
// nothing that depends on lines: its answer is the same for numbers that are lines and for
// numbers that are not. It stores nothing and spends nothing.
func TestDryRunTellsNothingAboutLines(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.assign(3_000)
	o := e.bank("live", 4_000)
	id := e.create(o)
	stored, err := e.List(t.Context(), o, id)
	if err != nil {
		t.Fatal(err)
	}
	for name, from := range map[string]int{"lines": 0, "numbers that nobody has": 30_000, "numbers where nobody supplies": 900_000_000} {
		dry, err := e.Replace(t.Context(), o, id, each(numbers(from, 3_000, 1)), true)
		if err != nil || dry.Members != 3_000 || dry.Digest == stored.Digest {
			t.Errorf("%s: %+v, %v", name, dry, err)
		}
		if dry.Members, dry.Digest = stored.Members, stored.Digest; dry != stored {
			t.Errorf("%s: a dry run returns %+v, stored is %+v", name, dry, stored)
		}
	}
	if after, err := e.List(t.Context(), o, id); err != nil || after != stored {
		t.Errorf("after dry runs the list is %+v, before it was %+v; %v", after, stored, err)
	}
	if _, err := e.Replace(t.Context(), o, id, each(numbers(0, 10_000, 1)), true); err == nil {
		t.Error("a dry run of more numbers than the year has left is not refused")
	}
	l, err := e.Replace(t.Context(), o, id, each(numbers(60_000, 3_000, 1)), false)
	if err != nil || l.State != watchlist.Held {
		t.Fatalf("after dry runs: %+v, %v", l, err)
	}
	if dry, err := e.Replace(t.Context(), o, id, each(numbers(60_000, 10, 1)), true); err != nil || dry.State != watchlist.Held || dry.Members != 10 {
		t.Errorf("a dry run of a held list: %+v, %v", dry, err)
	}
}
