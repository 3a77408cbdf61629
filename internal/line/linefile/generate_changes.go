package linefile

import (
	"fmt"
	"io"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// stateChange is an event that may happen to a line, and to how many of a thousand
// lines it does.
type stateChange struct {
	kind     line.Kind
	perMille int64
	reasons  []line.Code // one of them is chosen; nil means none
}

var (
	barReasons      = []line.Code{line.ReasonNIN, line.ReasonNIN, line.ReasonLost, line.ReasonLost, line.ReasonDebt, line.ReasonFraud, line.ReasonCourt}
	churnReason     = []line.Code{line.ReasonChurned}
	surrenderReason = []line.Code{line.ReasonSurrendered}
)

// changesByState is what happens to lines in each state. The figures of a state add
// up to a thousand. Ports are left out: there are 3,000 a month in all of Nigeria,
// and each needs two operators.
var changesByState = [...][]stateChange{
	line.StateActive: {
		{line.ChangeSIM, 480, nil},
		{line.Deactivate, 220, nil},
		{line.End, 120, surrenderReason},
		{line.Bar, 80, barReasons},
		{line.Use, 60, nil}, // some operators report a state that the line already has
		{line.Park, 40, nil},
	},
	line.StateInactive: {
		{line.Use, 450, nil},
		{line.GiveNotice, 400, nil},
		{line.End, 100, churnReason},
		{line.Park, 50, nil},
	},
	line.StateNoticed: {{line.End, 700, churnReason}, {line.Use, 300, nil}},
	line.StateEnded:   {{line.Assign, 900, nil}, {line.Reinstate, 100, nil}},
	line.StateParked:  {{line.Use, 900, nil}, {line.End, 100, surrenderReason}},
	line.StateBarred:  {{line.Unbar, 800, nil}, {line.End, 200, surrenderReason}},
}

// pickChange chooses what happens to a line in a state.
func pickChange(rng *rand.PCG, s line.State) (k line.Kind, reason line.Code) {
	of := randBelow(rng, 1000)
	for _, c := range changesByState[s] {
		if of -= c.perMille; of >= 0 {
			continue
		}
		if len(c.reasons) > 0 {
			reason = c.reasons[randBelow(rng, int64(len(c.reasons)))]
		}
		return c.kind, reason
	}
	return line.Use, 0 // not reached: the figures add up to a thousand, which a test checks
}

// Changes writes one event about each of count lines. The events took effect after
// from and not later than to. They are in the order of the numbers if sorted is
// true, and scattered otherwise. From must not be before AsOf, or the events do not
// fit the lines.
func (n SyntheticNetwork) Changes(w io.Writer, count int64, from, to time.Time, sorted bool) error {
	lines, err := n.Generator()
	if err != nil {
		return err
	}
	g := changeGenerator{lines: lines, count: count, first: line.InstantOf(from), last: line.InstantOf(to)}
	switch {
	case count < 0 || count > n.Lines:
		return fault.New(fault.InvalidArgument, fmt.Sprintf("Each line changes once, so there can be 0 to %d changes.", n.Lines))
	case g.first >= g.last || g.first < earliest || g.last > latest-60*day:
		return fault.New(fault.InvalidArgument, fmt.Sprintf("Changes need two times, the second later than the first, between %d and %d.", firstYear, lastYear))
	}
	g.idPrefix = fmt.Sprintf("c%x-%x-", uint32(g.first), uint32(g.last)) //nolint:gosec // only a name
	out := newRowWriter(w, []string{colID, colNumber, colType, colEffectiveAt, colReason, colChurnAt})
	step := stride(count)
	for i := range count {
		if sorted {
			g.write(out, i)
		} else {
			g.write(out, mulMod(i, step, count))
		}
		if err := out.end(); err != nil {
			return err
		}
	}
	return out.flush()
}

// changeGenerator computes the changes of a Nation's lines within a period.
type changeGenerator struct {
	lines       *Generator
	count       int64
	first, last line.Instant
	idPrefix    string // makes the ids of different periods differ
}

// write writes the i-th event.
func (g *changeGenerator) write(out *rowWriter, i int64) {
	var rng rand.PCG
	// Another seed than that of the line, and another for each period.
	rng.Seed(g.lines.n.Seed+uint64(uint32(g.first))<<32+uint64(uint32(g.last))+1, uint64(i)) //nolint:gosec // only a seed
	from, to := proportion(i, g.lines.n.Lines, g.count), proportion(i+1, g.lines.n.Lines, g.count)
	number, of := g.lines.At(from + randBelow(&rng, to-from))
	kind, reason := pickChange(&rng, of.State)
	effective := g.first + 1 + instant(randBelow(&rng, int64(g.last)-int64(g.first)))
	churn := line.Never
	if kind == line.GiveNotice {
		churn = effective + instant(14*day+randBelow(&rng, 30*day))
	}
	out.buf = append(out.buf, g.idPrefix...)
	out.buf = strconv.AppendInt(out.buf, i, 10)
	out.buf = append(out.buf, ',')
	out.number(number)
	out.text(kind.String())
	out.time(effective, false)
	out.text(reason.String())
	out.time(churn, false)
}

// stride returns a number near 0.618 of n (the golden section) that has no factor
// in common with n: its multiples modulo n visit every number below n once, and
// consecutive ones are far apart.
func stride(n int64) int64 {
	s := max(int64(float64(n)*0.6180339887), 1)
	for gcd(s, n) > 1 {
		s++
	}
	return s
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// mulMod returns a*b modulo n.
func mulMod(a, b, n int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))  //nolint:gosec // neither is negative
	return int64(bits.Rem64(hi, lo, uint64(n))) //nolint:gosec // less than n
}
