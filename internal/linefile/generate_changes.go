package linefile

import (
	"fmt"
	"io"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
)

// change is what may happen to a line, and to how many of a thousand it does.
type change struct {
	kind     line.Kind
	thousand int64
	reasons  []line.Code // one of them is given; nil means none
}

var (
	barred      = []line.Code{line.ReasonNIN, line.ReasonNIN, line.ReasonLost, line.ReasonLost, line.ReasonDebt, line.ReasonFraud, line.ReasonCourt}
	churned     = []line.Code{line.ReasonChurned}
	surrendered = []line.Code{line.ReasonSurrendered}
)

// changes says what happens to lines in each state. The figures of a state make
// a thousand. Ports are left out: they are 3,000 a month in all of Nigeria, and
// need two operators.
var changes = [...][]change{
	line.StateActive: {
		{line.ChangeSIM, 480, nil},
		{line.Deactivate, 220, nil},
		{line.End, 120, surrendered},
		{line.Bar, 80, barred},
		{line.Use, 60, nil}, // some operators report what was so already
		{line.Park, 40, nil},
	},
	line.StateInactive: {
		{line.Use, 450, nil},
		{line.GiveNotice, 400, nil},
		{line.End, 100, churned},
		{line.Park, 50, nil},
	},
	line.StateNoticed: {{line.End, 700, churned}, {line.Use, 300, nil}},
	line.StateEnded:   {{line.Assign, 900, nil}, {line.Reinstate, 100, nil}},
	line.StateParked:  {{line.Return, 900, nil}, {line.End, 100, surrendered}},
	line.StateBarred:  {{line.Unbar, 800, nil}, {line.End, 200, surrendered}},
}

// pick returns what happens to a line.
func pick(dice *rand.PCG, s line.State) (k line.Kind, reason line.Code) {
	of := below(dice, 1000)
	for _, c := range changes[s] {
		if of -= c.thousand; of >= 0 {
			continue
		}
		if len(c.reasons) > 0 {
			reason = c.reasons[below(dice, int64(len(c.reasons)))]
		}
		return c.kind, reason
	}
	return line.Use, 0 // not reached: the figures make a thousand, which a test checks
}

// Changes writes events about count of the lines, one about each, that took effect
// after from and not later than to. They stand in the order of the numbers when
// sorted, and in an order without order otherwise. For the events to fit the lines,
// from must not be before AsOf.
func (n Nation) Changes(w io.Writer, count int64, from, to time.Time, sorted bool) error {
	r, err := n.Roll()
	if err != nil {
		return err
	}
	e := era{roll: r, count: count, first: line.InstantOf(from), last: line.InstantOf(to)}
	switch {
	case count < 0 || count > n.Lines:
		return fault.New(fault.InvalidArgument, fmt.Sprintf("Each line changes once, so 0 to %d changes can be made.", n.Lines))
	case e.first >= e.last || e.first < earliest || e.last > latest-60*day:
		return fault.New(fault.InvalidArgument, fmt.Sprintf("Changes need two times, the second later than the first, between %d and %d.", firstYear, lastYear))
	}
	e.id = fmt.Sprintf("c%x-%x-", uint32(e.first), uint32(e.last)) //nolint:gosec // only a name
	out := newRows(w, []string{colID, colNumber, colType, colEffectiveAt, colReason, colChurnAt})
	step := stride(count)
	for i := range count {
		if sorted {
			e.write(out, i)
		} else {
			e.write(out, mulMod(i, step, count))
		}
		if err := out.end(); err != nil {
			return err
		}
	}
	return out.flush()
}

// era is a time in which lines change.
type era struct {
	roll        *Roll
	count       int64
	first, last line.Instant
	id          string // with what the ids begin, so that those of another era are others
}

// write writes the i-th event.
func (e *era) write(out *rows, i int64) {
	var dice rand.PCG
	// Other dice than those that made the line, and others in another era.
	dice.Seed(e.roll.n.Seed+uint64(uint32(e.first))<<32+uint64(uint32(e.last))+1, uint64(i)) //nolint:gosec // only a seed
	from, to := share(i, e.roll.n.Lines, e.count), share(i+1, e.roll.n.Lines, e.count)
	number, of := e.roll.At(from + below(&dice, to-from))
	kind, reason := pick(&dice, of.State)
	effective := e.first + 1 + instant(below(&dice, int64(e.last)-int64(e.first)))
	churn := line.Never
	if kind == line.GiveNotice {
		churn = effective + instant(14*day+below(&dice, 30*day))
	}
	out.buf = append(out.buf, e.id...)
	out.buf = strconv.AppendInt(out.buf, i, 10)
	out.buf = append(out.buf, ',')
	out.number(number)
	out.text(kind.String())
	out.time(effective, false)
	out.text(reason.String())
	out.time(churn, false)
}

// stride returns a number near the golden section of n that has no factor in
// common with it: its multiples visit every number below n once, far from one
// another.
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
