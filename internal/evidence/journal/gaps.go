// This part of the package finds batches that were removed from the journal, by the numbers that
// are missing. See [EpochWriter] for why no number is missing otherwise.

package journal

import (
	"cmp"
	"slices"
	"time"
)

// gap is a run of numbers without a batch.
type gap struct {
	first, last int64
	before      time.Time // the time of the batches that follow
}

func (g gap) count() int64 { return g.last - g.first + 1 }

// gaps returns the numbers from 1 to the highest one that have no batch, the highest
// number, and the time of the last batch.
func gaps(runs []Run) (missing []gap, last int64, end time.Time) {
	slices.SortFunc(runs, func(a, b Run) int { return cmp.Compare(a.First, b.First) })
	for _, r := range runs {
		if r.First > last+1 {
			missing = append(missing, gap{last + 1, r.First - 1, r.Since})
		}
		last = max(last, r.Last)
		if r.Until.After(end) {
			end = r.Until
		}
	}
	return missing, last, end
}

// inFlightTime is how long before the last batch of an epoch a batch can have got its
// number that was never written: the database refuses a batch that is older than a minute.
const inFlightTime = time.Minute

// inFlight divides gaps into the numbers of batches that were in flight at the time of the
// last one and the gaps that this does not explain. If they are more than could be in
// flight, it explains none.
func inFlight(missing []gap, end time.Time, flushes int) (unused []int64, unexplained []gap) {
	for _, g := range missing {
		if g.before.Before(end.Add(-inFlightTime)) || g.count() > int64(flushes) {
			unexplained = append(unexplained, g)
			continue
		}
		for n := g.first; n <= g.last; n++ {
			unused = append(unused, n)
		}
	}
	if len(unused) > flushes {
		return nil, missing
	}
	return unused, unexplained
}
