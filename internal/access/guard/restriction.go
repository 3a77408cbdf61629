// This part of the package says in words what the guard found about an organisation and what
// it did, and which restriction is in force.

package guard

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
)

// RestrictionOf returns the strictest active alert that slows or stops an organisation, the oldest
// of those; nil if there is none.
func RestrictionOf(ctx context.Context, from pg.DB, entity uuid.UUID, now time.Time) (*AlertRow, error) {
	active, err := Find(ctx, from, now, AlertFilter{Entity: entity, Limit: maxAlerts})
	if err != nil {
		return nil, err
	}
	var worst *AlertRow
	for i := range active {
		if a := &active[i]; a.Level >= Slowed && (worst == nil || a.Level >= worst.Level) {
			worst = a
		}
	}
	return worst, nil
}

// maxAlerts is more than the active alerts of one organisation and its sponsor: one for
// each kind and level.
const maxAlerts = 50

// Finding describes in a sentence without a full stop what was found.
func Finding(a *Alert) string {
	switch a.Kind {
	case Density:
		return fmt.Sprintf("%s of %s different numbers are in dense blocks of %s", withCommas(a.Dense), withCommas(a.Numbers), withCommas(a.Block))
	case Misses:
		return fmt.Sprintf("%s of %s different numbers are not allocated", withCommas(a.Misses), withCommas(a.Numbers))
	case BudgetUsed:
		return fmt.Sprintf("All %s different numbers of the day are used up", withCommas(a.Budget))
	case YearUsed:
		return fmt.Sprintf("All %s different numbers of the year are used up", withCommas(a.Budget))
	case YearNearlyUsed:
		return fmt.Sprintf("%s of %s different numbers of the year are used", withCommas(a.Numbers), withCommas(a.Budget))
	case Harvest:
		return fmt.Sprintf("Over this year, %s of %s different numbers are in dense blocks of %s", withCommas(a.Dense), withCommas(a.Numbers), withCommas(a.Block))
	case HarvestMisses:
		return fmt.Sprintf("Over this year, %s of %s different numbers are not allocated", withCommas(a.Misses), withCommas(a.Numbers))
	case FileHeld:
		return fmt.Sprintf("A file of %s different numbers looks like number scanning and is held", withCommas(a.Numbers))
	case ListsHeld:
		return fmt.Sprintf("In this year %s of its watch-lists were held, and it deleted %s", withCommas(a.Numbers), withCommas(a.Misses))
	}
	return string(a.Kind)
}

// Consequence says in words what the alert did to the organisation.
func Consequence(a *Alert) string {
	switch a.Level {
	case Slowed:
		return "slowed to a tenth of its rate"
	case Stopped:
		return "stopped"
	case None, Notified:
	}
	return "not restricted"
}
