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
		if diff, _ := linemodel.Compare(h, w.k.terms()); diff != "" {
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
			formal := slices.Contains([]string{"BEFORE_TENURE", "FUTURE", "MISSING"}, refused[i+2])
			if want := c.authority(); !formal && want != refused[i+2] && want != "EITHER" {
				c.fail("it is refused for %s, want %q", refused[i+2], want)
			}
		default:
			c.checkRow(s.rows[i])
		}
	}
	if im.Counts != s.counts {
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
	case len(c.byThis) > 1:
		c.fail("missing, and %d events were made", len(c.byThis))
	case len(c.byThis) == 0:
		if there && !later && before.DoubtAt == line.Never {
			c.fail("missing, and neither ended, nor in doubt, nor reported about later")
		}
	case !there:
		c.fail("missing, and it was not there")
	case c.byThis[0].Kind == line.Miss:
		c.counts.Waiting++
		if c.row.DoubtAt == line.Never || then.PortAt == line.Never {
			c.fail("missing, and not in doubt")
		}
	default:
		c.counts.Ended++
		e := c.byThis[0]
		if e.Kind != line.End || e.Code != line.ReasonInferred || e.Effective != asOf || !c.last.IsZero() && e.EndedAfter != line.InstantOf(c.last) {
			c.fail("missing, and ended by %+v", e)
		}
		if now, _ := line.Fold(c.h, c.k.terms(), asOf); now.State != line.StateEnded {
			c.fail("missing, and it goes on")
		}
	}
}

// checkRow checks a row that was not refused, and counts it.
func (c *checkedNumber) checkRow(r snapshotRow) {
	switch authority := c.authority(); {
	case authority == "PORTED_OUT":
		c.fail("it was ported out, and is not refused")
	case authority == "":
		c.checkAccepted(r)
	case len(c.byThis) == 0:
		c.counts.Unchanged++ // it waits already
		c.wantUntouched()
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
	matches := c.rowMatches(now, r)
	held := slices.IndexFunc(c.byThis, func(e line.Event) bool { return e.Hold != 0 })
	open := slices.ContainsFunc(c.h.Open(c.k.parse(c.number), &c.row, outcomes), func(o line.OpenEvent) bool {
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
	case c.yields():
		c.counts.NoEffect++
	case !matches && len(c.byThis) == 0 && open:
		c.counts.Waiting++ // as before
	case !matches:
		c.fail("%s is accepted", r)
	case before.Version == 0:
		c.counts.Added++
		if len(c.h.Events) > 0 || c.h.Base == nil {
			c.fail("it has no baseline alone")
		}
	case slices.ContainsFunc(c.byThis, func(e line.Event) bool { return e.Kind != line.Name || e.Base != nil && c.h.Base.Import == e.Import }):
		c.counts.Changed++
	default:
		c.counts.Unchanged++
	}
}

// yields reports whether a port that is known by now prevails over the row.
func (c *checkedNumber) yields() bool {
	_, outcomes := line.Fold(c.h, c.k.terms(), line.Forever)
	for i, e := range c.h.Events {
		yields := outcomes[i] == line.GaveWay || outcomes[i] == line.Superseded || outcomes[i] == line.Overtaken
		if yields && slices.ContainsFunc(c.byThis, func(o line.Event) bool { return o.Seq == e.Seq }) {
			return true
		}
	}
	return false
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
	then := c.then[c.number]
	recent := func(at line.Instant) bool {
		return at != line.Never && at.Add(400*24*time.Hour) > line.InstantOf(c.asOf)
	}
	ok := r.state == line.StateEnded && r.tenure.latest(c.asOf) == line.InstantOf(c.asOf) // all of it in the second of the snapshot
	switch hold {
	case line.HoldDenied: // only what somebody reported can be denied
		ok = ok || others(func(e line.Event) bool { return e.Kind != line.Name && e.Kind != line.Restate && e.Kind != line.Miss })
	case line.HoldRestated: // only what is recent
		ok = recent(then.Tenure) || recent(then.SIM) || recent(then.StateSince)
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

// rowMatches reports whether a line was as a row of the file describes it. It follows
// the text and is independent of the code.
func (c *checkedNumber) rowMatches(is line.Row, r snapshotRow) bool {
	agree := func(a line.Instant, aDay bool, b line.Instant, bDay bool) bool {
		sameDay := a.Time().In(lagos).Format(time.DateOnly) == b.Time().In(lagos).Format(time.DateOnly)
		return a == b || a != line.Never && b != line.Never && (aDay || bDay) && sameDay
	}
	tenure, sim, since := r.tenure.latest(c.asOf), r.sim.latest(c.asOf), r.since.latest(c.asOf)
	came := is.PortAt != line.Never && agree(is.PortAt, is.Bits&line.PortDay != 0, tenure, r.tenure.bare) // with the port
	if tenure != line.Never && !came && !agree(is.Tenure, is.Bits&line.TenureDay != 0, tenure, r.tenure.bare) {
		return false
	}
	ended := is.State == line.StateEnded || is.State == line.StateNoticed && is.Until <= line.InstantOf(c.asOf)
	after := func(at line.Instant, day bool) bool {
		began := at > is.Tenure && !agree(at, day, is.Tenure, is.Bits&line.TenureDay != 0)
		return began && at > is.PortAt && !agree(at, day, is.PortAt, is.Bits&line.PortDay != 0)
	}
	if given := sim != line.Never || r.never; given && !ended && !agree(is.SIM, is.Bits&line.SIMDay != 0, sim, r.sim.bare) {
		changed, known := sim != line.Never && after(sim, r.sim.bare), is.SIM != line.Never && after(is.SIM, is.Bits&line.SIMDay != 0)
		if changed || known || is.Bits&line.SIMUnknown != 0 {
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
		return !ended && is.State == r.state && (churn == line.Never || agree(churn, true, is.Until, true)) || ended && churn != line.Never && agree(churn, true, is.StateSince, true)
	default:
		return is.State == r.state
	}
}
