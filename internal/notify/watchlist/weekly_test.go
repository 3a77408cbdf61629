package watchlist_test

import (
	"log/slog"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/notify/watchlist"
)

// A list that is replaced every week of a year by other numbers, and by as few as one at a
// time when it is refused, never shows more numbers than the budget of the year, within
// three standard errors of the count (0.8 % each). In the new year it goes on.
// LINEPROOF_E2E_WEEKLY is how many numbers the list has (2,000); the budget is ten lists.
func TestWeeklyListsNeverShowMoreThanTheYear(t *testing.T) {
	t.Parallel()

	size := 2_000
	if n, err := strconv.Atoi(os.Getenv("LINEPROOF_E2E_WEEKLY")); err == nil {
		size = n
	}
	e := newEnv(t)
	at := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	e.Now = func() time.Time { return at }
	e.Guard = guard.New(&guard.Guard{Pool: e.pool, Node: "two", Mode: guard.Stop, Now: e.Now, Log: slog.New(slog.DiscardHandler)})
	e.assign(75 * size) // as many as are offered
	budget := 10 * size
	o := e.bank("live", int64(budget))
	id := e.create(o)
	next, shown, refused := 0, 0, 0
	replace := func(count int) bool {
		l, err := e.Replace(t.Context(), o, id, each(numbers(next, count, 1)), false)
		next += count
		if err != nil {
			refused++
			return false
		}
		if l.State == watchlist.Active {
			shown += count
		}
		return true
	}
	for range 52 {
		for count := size; count > 0 && !replace(count); count /= 4 {
		}
		at = at.AddDate(0, 0, 7)
	}
	t.Logf("%d numbers were shown of a budget of %d, %d lists were refused", shown, budget, refused)
	if shown > budget+budget*24/1000 || shown < budget*9/10 || refused < 40 {
		t.Errorf("%d numbers were shown of a budget of %d, %d lists were refused", shown, budget, refused)
	}
	at = time.Date(2027, 1, 2, 9, 0, 0, 0, time.UTC)
	if next = 0; !replace(size) {
		t.Error("a list of the new year is refused")
	}
}
