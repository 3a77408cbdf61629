package supply_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/testing/linemodel"
)

// sentSnapshot is a snapshot that was imported, with the lines before it.
type sentSnapshot struct {
	*snapshotModel

	network      string
	asOf, last   time.Time
	rows         []snapshotRow
	content      string
	before, then map[string]line.Row // now, and as of asOf
	counts       supply.Counts       // that it must have
}

// checkRows checks that every stored row is what the model makes of its history.
func (w *snapshotModel) checkRows() {
	for _, n := range w.numbers {
		h, row := w.history(n)
		if folded, _ := line.Fold(h, w.k.terms(), line.Forever); folded != row {
			w.Fatalf("%s: the row (-) is not the fold (+):\n%s\n%s", n, cmp.Diff(linemodel.FormatRow(row), linemodel.FormatRow(folded)), linemodel.Format(h, nil, nil))
		}
		if diff := linemodel.Compare(h, w.k.terms()); diff != "" {
			w.Fatalf("%s: %s\n%s", n, diff, linemodel.Format(h, nil, nil))
		}
	}
	if wrong := w.k.inconsistency(); wrong != "" {
		w.Fatal(wrong)
	}
}

// check checks what became of each number.
func (s *sentSnapshot) check(im supply.Import, report []string) {
	refused := map[int]string{}
	for _, r := range report {
		words := strings.Fields(r)
		place, _ := strconv.Atoi(words[0])
		refused[place] = words[2]
	}
	id := int32(s.k.count(`SELECT id FROM supply_import WHERE uid = $1`, im.ID))
	for _, n := range s.numbers {
		i := slices.IndexFunc(s.rows, func(r snapshotRow) bool { return r.number == n })
		h, row := s.history(n)
		byThis := slices.DeleteFunc(slices.Clone(h.Events), func(e line.Event) bool { return e.Import != id })
		c := checkedNumber{sentSnapshot: s, number: n, h: h, row: row, byThis: byThis}
		switch {
		case i < 0:
			c.checkMissing()
		case refused[i+2] != "":
			s.counts.Refused++
			if len(byThis) > 0 || row != s.before[n] {
				c.fail("it is refused for %s, and has changed", refused[i+2])
			}
			if refused[i+2] == "PORTED_OUT" {
				s.counts.PortedOut++
			}
			formal := slices.Contains([]string{"BEFORE_TENURE", "FUTURE", "MISSING"}, refused[i+2]) || refused[i+2] == "BLACKLISTED" && s.then[n].BlackAt != line.Never
			if want := c.authority(); !formal && want != refused[i+2] && want != "EITHER" {
				c.fail("it is refused for %s, want %q", refused[i+2], want)
			}
		default:
			c.checkRow(s.rows[i])
		}
	}
	// Whether a row that changes nothing agrees, has no effect or waits as before, several rules decide: see the scenarios.
	quiet := func(c *supply.Counts) (sum int64) {
		sum = c.Unchanged + c.NoEffect + c.Waiting
		c.Unchanged, c.NoEffect, c.Waiting = 0, 0, 0
		return sum
	}
	got, want := im.Counts, s.counts
	if quiet(&got) != quiet(&want) || got != want {
		s.Fatalf("the counts are %+v, want %+v, of\n%s", im.Counts, s.counts, s.content)
	}
}

// checkedNumber is one number of a snapshot that was imported.
type checkedNumber struct {
	*sentSnapshot

	number string
	h      *line.History
	row    line.Row
	byThis []line.Event // the events that the snapshot made
}

func (c *checkedNumber) fail(format string, args ...any) {
	_, outcomes := line.Fold(c.h, c.k.terms(), line.Forever)
	c.Fatalf("%s of %s as of %s (last %s): %s\nbefore %s\nthen %s\nnow %s\nhistory\n%s\nfile\n%s", c.number, c.network, c.asOf, c.last, fmt.Sprintf(format, args...),
		linemodel.FormatRow(c.before[c.number]), linemodel.FormatRow(c.then[c.number]), linemodel.FormatRow(c.row), linemodel.Format(c.h, outcomes, outcomes), c.content)
}

func running(r line.Row) bool { return r.State >= line.StateActive && r.State <= line.StateNoticed }

// authority returns why the network may not describe the number, or nothing: it was
// ported out, its port is not known, or, after several ports, one of the two.
func (c *checkedNumber) authority() string {
	then := c.then[c.number]
	mine := strings.HasPrefix(c.number, "+234803") == (c.network == "MTN")
	served := c.k.plan.Code(then.Network) == c.network || running(then) && then.Network == 0
	switch {
	case running(then) && served, !running(then) && mine, then.State == line.StateEnded && served:
		return ""
	case running(then) && mine && then.PortAt != line.Never:
		return "PORTED_OUT"
	case slices.ContainsFunc(c.h.Events, func(e line.Event) bool { return e.Recipient() != 0 }):
		return "EITHER" // it had the number once, or never
	default:
		return "WAITS"
	}
}

// checkMissing checks a number that is not in the snapshot, and counts its end.
func (c *checkedNumber) checkMissing() {
	before, then, asOf := c.before[c.number], c.then[c.number], line.InstantOf(c.asOf)
	there := running(before) && c.k.plan.Code(before.Network) == c.network && running(then) && c.k.plan.Code(then.Network) == c.network
	later := slices.ContainsFunc(c.h.Events, func(e line.Event) bool { return e.Effective >= asOf })
	switch {
	case len(c.byThis) > 1 && c.byThis[0].Kind != line.ReleasePort: // which makes a port
		c.fail("missing, and %d events were made", len(c.byThis))
	case len(c.byThis) == 0:
		if there && !later && before.DoubtAt == line.Never {
			c.fail("missing, and neither ended, nor in doubt, nor reported about later")
		}
	case !there:
		c.fail("missing, and it was not there")
	case c.byThis[0].Kind == line.ReleasePort:
		c.counts.Ended++
		if running(c.row) && c.k.plan.Code(c.row.Network) == c.network {
			c.fail("missing, and released, and it goes on")
		}
	default:
		c.counts.Ended++
		e := c.byThis[0]
		if e.Kind != line.End || e.Code != line.ReasonInferred || e.Effective != asOf || !c.last.IsZero() && e.EndedAfter < line.InstantOf(c.last) {
			c.fail("missing, and ended by %+v", e)
		}
		if now, _ := line.Fold(c.h, c.k.terms(), asOf); now.State != line.StateEnded {
			c.fail("missing, and it goes on")
		}
	}
}

// checkRow checks a row that was not refused, and counts it.
func (c *checkedNumber) checkRow(r snapshotRow) {
	now, _ := line.Fold(c.h, c.k.terms(), line.InstantOf(c.asOf))
	switch authority := c.authority(); {
	case authority == "PORTED_OUT":
		c.fail("it was ported out, and is not refused")
	case authority == "":
		c.checkAccepted(r)
	case len(c.byThis) == 0:
		c.counts.Unchanged++ // it waits already
		c.wantUntouched()
	case slices.ContainsFunc(c.byThis, func(e line.Event) bool { return e.Kind == line.ClaimPort }) && c.k.plan.Code(now.Network) == c.network:
		c.counts.Changed++ // the network that has the number had released it
	default:
		c.counts.Waiting++
		if !slices.ContainsFunc(c.byThis, func(e line.Event) bool { return e.Outside }) || c.row.DoubtAt != c.before[c.number].DoubtAt {
			c.fail("it must wait for its port")
		}
		c.wantUntouched()
	}
}

// checkAccepted checks a row of a network that had the line, and counts it.
func (c *checkedNumber) checkAccepted(r snapshotRow) {
	before := c.before[c.number]
	now, outcomes := line.Fold(c.h, c.k.terms(), line.InstantOf(c.asOf))
	exactly, matches := c.rowMatches(now, r, false), c.rowMatches(now, r, true)
	then := c.then[c.number]
	returned := then.State == line.StateEnded && c.k.plan.Code(then.Network) != c.network // the number went back to its range
	switch {
	case returned && r.state == line.StateEnded && now.State == line.StateEnded:
		now.StateSince = r.since.latest(c.asOf) // when it ended is the other network's word
		exactly, matches = c.rowMatches(now, r, false), true
	case now.BlackAt != line.Never:
		matches = true // a tenure that the file begins may be blocked
	case returned && slices.ContainsFunc(c.byThis, func(e line.Event) bool { return e.Kind == line.Assign }):
		matches = true // somebody has it now
	case r.state == line.StateEnded && r.tenure.latest(c.asOf) == line.InstantOf(c.asOf):
		matches = true // began and ended in the second of the file: the end comes a second later
	}
	changes := slices.ContainsFunc(c.byThis, func(e line.Event) bool { return e.Kind != line.Restate || e.Restates() })
	held := slices.IndexFunc(c.byThis, func(e line.Event) bool { return e.Hold != 0 })
	open := slices.ContainsFunc(c.h.Open(c.k.parse(c.number), outcomes), func(o line.OpenEvent) bool {
		return o.Outcome == line.Held && o.Network == network(c.k.t, c.k, c.network)
	})
	switch {
	case slices.ContainsFunc(c.byThis, func(e line.Event) bool { return e.Outside }):
		c.fail("it waits for a port without need")
	case held >= 0:
		c.counts.Waiting++
		c.wantUntouched()
		c.wantReason(r, c.byThis[held].Hold)
		if running(c.row) && c.k.plan.Code(c.row.Network) == c.network && c.row.DoubtAt == line.Never {
			c.fail("it waits for staff, and is not in doubt")
		}
	case !exactly && len(c.byThis) == 0 && open:
		c.counts.Waiting++ // as before
	case !exactly && !changes && (matches || c.yields()):
		c.counts.NoEffect++
	case !matches:
		c.fail("%s is accepted", r)
	case before.Version == 0:
		c.counts.Added++
		if len(c.h.Events) > 0 || c.h.Base == nil {
			c.fail("it has no baseline alone")
		}
	case changes:
		c.counts.Changed++
	default:
		c.counts.Unchanged++
	}
}

// yields reports whether a port away from the network is known by now. The file then changes nothing.
func (c *checkedNumber) yields() bool {
	return slices.ContainsFunc(c.h.Events, func(e line.Event) bool {
		return e.Kind == line.Port && c.k.plan.Code(e.Peer) != c.network
	})
}

// fromEvent reports whether an event of an operator said that a holder came, or that a SIM was changed, at a time. A file
// takes back neither.
func (c *checkedNumber) fromEvent(at line.Instant) bool {
	return slices.ContainsFunc(c.h.Events, func(e line.Event) bool {
		return e.Effective == at && (e.Kind == line.Assign || e.Kind == line.Transfer || e.Kind == line.ChangeSIM || e.Kind == line.Port)
	})
}

// wantUntouched checks that nothing of the line has changed but its doubt.
func (c *checkedNumber) wantUntouched() {
	was, is := c.before[c.number], c.row
	is.Version, is.DoubtAt, is.Bits = was.Version, was.DoubtAt, is.Bits&^line.Claimed|was.Bits&line.Claimed
	if was != is {
		c.fail("it waits, and has changed the line")
	}
}

// wantReason checks that a row has a reason to wait for staff.
func (c *checkedNumber) wantReason(r snapshotRow, hold line.Hold) {
	others := func(fits func(e line.Event) bool) bool {
		return slices.ContainsFunc(c.h.Events, func(e line.Event) bool { return e.Seq < c.byThis[0].Seq && fits(e) })
	}
	ok := r.state == line.StateEnded && r.tenure.latest(c.asOf) == line.InstantOf(c.asOf) // all of it in the second of the snapshot
	switch hold {
	case line.HoldDonorLate:
		ok = others(func(e line.Event) bool { return e.Kind == line.Port })
	case line.HoldEarly:
		ok = others(func(e line.Event) bool {
			return e.Kind == line.Flag || e.Kind == line.Bar && e.Authority == line.Regulator
		})
	default:
	}
	if !ok {
		c.fail("%s waits for staff (%s) without a reason", r, hold)
	}
}

// rowMatches reports whether a line was as a row of the file describes it. Where events prevail, it need not have the
// row's holder and SIM. It follows the text and is independent of the code.
func (c *checkedNumber) rowMatches(is line.Row, r snapshotRow, eventsPrevail bool) bool {
	const day = 24 * 60 * 60
	agree := func(a line.Instant, aDay bool, b line.Instant, bDay bool) bool { // a day apart, and of two dates the same
		if a == line.Never || b == line.Never {
			return a == b
		}
		if aDay && bDay {
			return a.Time().In(lagos).Format(time.DateOnly) == b.Time().In(lagos).Format(time.DateOnly)
		}
		return max(a, b)-min(a, b) <= day
	}
	tenure, sim, since := r.tenure.latest(c.asOf), r.sim.latest(c.asOf), r.since.latest(c.asOf)
	near := func(at line.Instant) bool { return at != line.Never && max(at, tenure)-min(at, tenure) <= 7*day }
	came := near(is.PortAt) || is.PortAt != line.Never && is.Tenure != line.Never && tenure > is.Tenure && tenure <= is.PortAt // with the port
	prevails := eventsPrevail && (c.fromEvent(is.Tenure) && tenure < is.Tenure || is.Tenure == line.Never && tenure <= is.PortAt)
	if tenure != line.Never && !came && !prevails && !agree(is.Tenure, is.Bits&line.TenureDay != 0, tenure, r.tenure.bare) {
		return false
	}
	ended := is.State == line.StateEnded || is.State == line.StateNoticed && is.Until <= line.InstantOf(c.asOf)
	after := func(at line.Instant, date bool) bool { // it came neither with the tenure nor with the port
		later := func(than line.Instant, day_ bool) bool {
			if date || day_ {
				return at > than && (!date || at-day >= than)
			}
			return at > than+3600
		}
		return later(is.Tenure, is.Bits&line.TenureDay != 0) && later(is.PortAt, is.Bits&line.PortDay != 0)
	}
	again := sim > is.SIM && is.SIM != line.Never && sim-is.SIM > 3600 && !r.sim.bare && is.Bits&line.SIMDay == 0
	same := agree(is.SIM, is.Bits&line.SIMDay != 0, sim, r.sim.bare) && !again
	if given := sim != line.Never || r.never; given && !ended && !same {
		changed, known := sim != line.Never && after(sim, r.sim.bare), is.SIM != line.Never && after(is.SIM, is.Bits&line.SIMDay != 0)
		prevails := eventsPrevail && c.fromEvent(is.SIM) && sim < is.SIM
		if (changed || known || is.Bits&line.SIMUnknown != 0) && !prevails {
			return false
		}
	}
	switch r.state {
	case line.StateActive:
		return is.State == line.StateActive && is.BarAt == line.Never
	case line.StateBarred:
		return !ended && running(is) && is.BarAt != line.Never
	case line.StateEnded:
		// Not later than the known end, which may be an event's, or some time before it.
		return ended && (since <= is.StateSince || agree(since, r.since.bare, is.StateSince, is.Bits&line.EndDay != 0) || is.State == line.StateNoticed)
	case line.StateNoticed:
		churn := r.churn.latest(time.Now().AddDate(10, 0, 0))
		if r.churn.bare && churn != line.Never {
			churn -= day - 1 // from the start of the date on
		}
		return !ended && is.State == r.state && (churn == line.Never || agree(churn, false, is.Until, false)) || ended && churn != line.Never && agree(churn, false, is.StateSince, false)
	default:
		return is.State == r.state
	}
}
