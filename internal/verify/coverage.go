package verify

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/supply"
)

// possibleCoverages returns the coverages that the supply of a network may have
// had when an answer was recorded: the earliest and the latest possible value of
// KnownSince, CompleteSince and Through, in every combination.
//
// The coverage of the past is not stored. But KnownSince and CompleteSince are
// unset until the first supply sets them, and Through only moves forward. So at
// the time of the answer KnownSince and CompleteSince were unset or what they are
// today, and Through lay between what the imports that had ended by then supplied
// and what it is today. Where the answer itself stated a value, that value is
// certain.
//
// An import counts as finished before the answer when it ended at least margin
// earlier. A margin above zero allows for an import that ended so close to the
// answer that it may have been visible or not.
func possibleCoverages(ctx context.Context, pool *pgxpool.Pool, n numbering.Network, e *journal.Entry, margin time.Duration) ([]line.Coverage, error) {
	bounds, err := supply.ReadCoverageBounds(ctx, pool, n, e.At.Add(-margin))
	if err != nil {
		return nil, err
	}
	none, today := time.Time{}, bounds.Now
	known, complete, through := earliestAndLatest(none, today.KnownSince), earliestAndLatest(none, today.CompleteSince), earliestAndLatest(bounds.Imported, today.Through)
	switch {
	case bounds.Snapshot: // a complete snapshot was applied before the answer, and set both times for good
		known, complete = []time.Time{today.KnownSince}, []time.Time{today.CompleteSince}
	case bounds.EverSnapshot && margin == 0: // the first complete snapshot came after the answer; with a margin it may have come just before
		complete = []time.Time{none}
	}
	// An answer never states CompleteSince.
	if stated := statedCoverage(e.Extra); stated != nil {
		known, through = []time.Time{stated.KnownSince}, []time.Time{stated.SuppliedThrough}
	}
	var all []line.Coverage
	for _, k := range known {
		for _, c := range complete {
			for _, t := range through {
				all = append(all, line.Coverage{KnownSince: k, CompleteSince: c, Through: t})
			}
		}
	}
	return all, nil
}

// earliestAndLatest returns both times, or one if they are equal.
func earliestAndLatest(earliest, latest time.Time) []time.Time {
	if earliest.Equal(latest) {
		return []time.Time{latest}
	}
	return []time.Time{earliest, latest}
}

// sameForAll returns a function that gives every network the same coverage.
func sameForAll(c line.Coverage) func(numbering.Network) line.Coverage {
	return func(numbering.Network) line.Coverage { return c }
}
