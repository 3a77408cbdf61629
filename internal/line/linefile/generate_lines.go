package linefile

import (
	"math"
	"math/rand/v2"

	"github.com/lineproof/lineproof/internal/line"
)

// stateShares is how many lines of a thousand are in each state, the maximum time in
// seconds since that state began, and the minimum age of the tenure at that time.
// All other lines are ACTIVE.
//
// The basis of the shares: about 2.7% of numbers change hands in a month (the
// United States' database of reassigned numbers, 23 of 850 million), and a churned
// number rests for about a month before it is sold again, so 3% are QUARANTINED. A
// line is INACTIVE after half a year without use and is taken back after another
// half: at that rate about 6% are INACTIVE, and about 1% are PENDING_CHURN, in the
// last two weeks before the end. No figures are published about PARKED and BARRED
// lines; their small shares are estimates.
var stateShares = []struct {
	state    line.State
	perMille int64
	maxSince int64
	minAge   int64
}{
	{line.StateInactive, 60, 180 * day, 180 * day},
	{line.StateEnded, 30, 30 * day, 360 * day},
	{line.StateNoticed, 10, 14 * day, 340 * day},
	{line.StateBarred, 7, 360 * day, day},
	{line.StateParked, 5, 360 * day, 30 * day},
}

const (
	// maxTenureAge is the age of the oldest tenures.
	maxTenureAge = 20 * 365 * day
	// newSIMPerMille is how many lines of a thousand changed their SIM in the last
	// month, and olderSIMPerMille how many before that, of those that are older. No
	// such figures are published: one line in a hundred a month is an estimate.
	newSIMPerMille   = 10
	olderSIMPerMille = 240
	// reactivatedPerMille is how many of a thousand ACTIVE lines were in another state
	// during their tenure.
	reactivatedPerMille = 120
)

// baseline computes the state of a line.
func (g *Generator) baseline(rng *rand.PCG) line.Baseline {
	b := line.Baseline{State: line.StateActive, SIM: line.Never, Until: line.Never, Bits: line.TenureDay}
	since, age := int64(0), int64(0)
	for of, s := randBelow(rng, 1000), 0; s < len(stateShares); s++ {
		if of -= stateShares[s].perMille; of < 0 {
			b.State, since, age = stateShares[s].state, randBelow(rng, stateShares[s].maxSince), stateShares[s].minAge
			break
		}
	}
	began := int64(g.asOf) - since - age - tenureAge(rng)
	began -= ((began % day) + day) % day // operators know only the day
	b.Tenure = min(instant(began+day-1), g.asOf)
	b.StateSince = instant(int64(g.asOf) - since)
	if b.State == line.StateActive {
		b.StateSince = b.Tenure
		if randBelow(rng, 1000) < reactivatedPerMille {
			b.StateSince = max(b.Tenure, instant(began+randBelow(rng, int64(g.asOf)-began+1)))
		}
	}
	switch of := randBelow(rng, 1000); {
	case of < newSIMPerMille:
		b.SIM = max(b.Tenure, g.asOf-instant(randBelow(rng, 30*day)))
	case of < newSIMPerMille+olderSIMPerMille && int64(g.asOf)-began > 30*day:
		b.SIM = max(b.Tenure, instant(began+randBelow(rng, int64(g.asOf)-began-30*day)))
	}
	if b.State == line.StateEnded {
		b.SIM = min(b.SIM, b.StateSince-1) // after the end nobody can change the SIM
	}
	return b
}

// tenureAge computes the age of a tenure. An even distribution over the years would
// have too many old ones, because most numbers have changed hands since. With this
// one 2.6% are younger than a month.
func tenureAge(rng *rand.PCG) int64 {
	u := float64(rng.Uint64()>>11) / (1 << 53)
	return int64(float64(maxTenureAge) * float64(u*math.Sqrt(u))) // only products, which every machine rounds in the same way
}
