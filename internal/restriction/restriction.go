// Package restriction says in words what the guard found about an organisation and what
// it did, and which restriction is in force.
package restriction

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/guard"
	"github.com/lineproof/lineproof/internal/pg"
)

// Of returns the strictest active alert that slows or stops an organisation, the oldest
// of those; nil if there is none.
func Of(ctx context.Context, from pg.DB, entity uuid.UUID, now time.Time) (*guard.AlertRow, error) {
	active, err := guard.Find(ctx, from, now, guard.AlertFilter{Entity: entity, Limit: maxAlerts})
	if err != nil {
		return nil, err
	}
	var worst *guard.AlertRow
	for i := range active {
		if a := &active[i]; a.Level >= guard.Slowed && (worst == nil || a.Level >= worst.Level) {
			worst = a
		}
	}
	return worst, nil
}

// maxAlerts is more than the active alerts of one organisation and its sponsor: one for
// each kind and level.
const maxAlerts = 50

// Finding describes in a sentence without a full stop what was found.
func Finding(a *guard.Alert) string {
	switch a.Kind {
	case guard.Density:
		return fmt.Sprintf("%s of %s different numbers are in dense blocks of %s", withCommas(a.Dense), withCommas(a.Numbers), withCommas(a.Block))
	case guard.Misses:
		return fmt.Sprintf("%s of %s different numbers are not allocated", withCommas(a.Misses), withCommas(a.Numbers))
	case guard.BudgetUsed:
		return fmt.Sprintf("All %s different numbers of the day are used up", withCommas(a.Budget))
	case guard.YearUsed:
		return fmt.Sprintf("All %s different numbers of the year are used up", withCommas(a.Budget))
	case guard.YearNearlyUsed:
		return fmt.Sprintf("%s of %s different numbers of the year are used", withCommas(a.Numbers), withCommas(a.Budget))
	case guard.Harvest:
		return fmt.Sprintf("Over this year, %s of %s different numbers are in dense blocks of %s", withCommas(a.Dense), withCommas(a.Numbers), withCommas(a.Block))
	case guard.HarvestMisses:
		return fmt.Sprintf("Over this year, %s of %s different numbers are not allocated", withCommas(a.Misses), withCommas(a.Numbers))
	}
	return string(a.Kind)
}

// Consequence says in words what the alert did to the organisation.
func Consequence(a *guard.Alert) string {
	switch a.Level {
	case guard.Slowed:
		return "slowed to a tenth of its rate"
	case guard.Stopped:
		return "stopped"
	case guard.None, guard.Notified:
	}
	return "not restricted"
}

// withCommas formats a number with commas between thousands.
func withCommas(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
