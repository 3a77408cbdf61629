package linefile

import (
	"math"
	"math/rand/v2"

	"github.com/lineproof/lineproof/internal/line"
)

// shares says how many lines of a thousand are in which state, how long ago at
// most that state began, and how old the tenure was by then at least.
//
// What the shares rest on: about 2.7% of numbers change hands in a month (the
// United States' database of reassigned numbers, 23 of 850 million), and a churned
// number rests for about a month before it is sold again, so 3% are QUARANTINED. A
// line is INACTIVE after half a year without use and is taken back after another
// half: of those that leave at that pace about 6% are on their way, and for the
// last two weeks of it, 1%, notice is given. Of PARKED and BARRED lines no figures
// are published; they are small shares by judgement. The rest is in use.
var shares = []struct {
	state    line.State
	thousand int64
	since    int64
	after    int64
}{
	{line.StateInactive, 60, 180 * day, 180 * day},
	{line.StateEnded, 30, 30 * day, 360 * day},
	{line.StateNoticed, 10, 14 * day, 340 * day},
	{line.StateBarred, 7, 360 * day, day},
	{line.StateParked, 5, 360 * day, 30 * day},
}

const (
	day = 86400
	// oldest is how long ago the first tenures began.
	oldest = 20 * 365 * day
	// swapped is how many lines of a thousand got their SIM in the last month, and
	// everSwapped how many before that, of those that are older. Nobody publishes
	// such figures: one line in a hundred a month is judgement.
	swapped     = 10
	everSwapped = 240
	// cameBack is how many lines of a thousand in use were not always so.
	cameBack = 120
)

// life makes up how a line stands.
func (r *Roll) life(dice *rand.PCG) line.Baseline {
	b := line.Baseline{State: line.StateActive, SIM: line.Never}
	since, after := int64(0), int64(0)
	for of, s := below(dice, 1000), 0; s < len(shares); s++ {
		if of -= shares[s].thousand; of < 0 {
			b.State, since, after = shares[s].state, below(dice, shares[s].since), shares[s].after
			break
		}
	}
	began := int64(r.asOf) - since - after - age(dice)
	began -= ((began % day) + day) % day // operators know the day
	b.Tenure = instant(began)
	b.StateSince = instant(int64(r.asOf) - since)
	if b.State == line.StateActive {
		b.StateSince = b.Tenure
		if below(dice, 1000) < cameBack {
			b.StateSince = instant(began + below(dice, int64(r.asOf)-began+1))
		}
	}
	switch of := below(dice, 1000); {
	case of < swapped:
		b.SIM = max(b.Tenure, r.asOf-instant(below(dice, 30*day)))
	case of < swapped+everSwapped && int64(r.asOf)-began > 30*day:
		b.SIM = instant(began + below(dice, int64(r.asOf)-began-30*day))
	}
	if b.State == line.StateEnded {
		b.SIM = min(b.SIM, b.StateSince-1) // nobody holds it any more
	}
	return b
}

// age makes up how long ago a tenure began: evenly over the years it would be too
// old, for most numbers have changed hands since. This way 2.6% are younger than a
// month.
func age(dice *rand.PCG) int64 {
	u := float64(dice.Uint64()>>11) / (1 << 53)
	return int64(float64(oldest) * float64(u*math.Sqrt(u))) // products only, which every machine rounds alike
}

func instant(seconds int64) line.Instant {
	return line.Instant(seconds) //nolint:gosec // the time of which the Nation speaks is checked
}
