package linechange

import (
	"slices"
	"strconv"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// Lane is one of the facts about a line that a picture of its history shows below each
// other.
type Lane string

// The lanes.
const (
	HolderLane  Lane = "Holder"
	NetworkLane Lane = "Network"
	SIMLane     Lane = "SIM"
	BarLane     Lane = "Bars"
	FlagLane    Lane = "Flags"
)

// Lanes lists the lanes in the order in which they are shown.
var Lanes = []Lane{HolderLane, NetworkLane, SIMLane, BarLane, FlagLane}

// Span is a time during which one fact about a line was the same.
type Span struct {
	Lane    Lane
	Start   line.Instant // Never: it is not known since when
	End     line.Instant // Never: it still is so
	Label   string
	Network numbering.Network // of NetworkLane, instead of a label
}

// Spans returns what was true of a line up to an instant, according to its history: the
// spans of each lane, the oldest first. A flag counts for as long as the policy says.
func Spans(h *line.History, terms line.TermsAt, flagged time.Duration, until line.Instant) []Span {
	b := spanBuilder{open: map[Lane]*Span{}}
	for _, at := range spanMoments(h, flagged, until) {
		row, _ := line.Fold(h, terms, at)
		b.follow(&row, at, flagged)
	}
	for _, lane := range Lanes {
		if s := b.open[lane]; s != nil {
			b.done = append(b.done, *s)
		}
	}
	slices.SortStableFunc(b.done, func(a, c Span) int { return slices.Index(Lanes, a.Lane) - slices.Index(Lanes, c.Lane) })
	return b.done
}

// spanBuilder collects spans, moment by moment.
type spanBuilder struct {
	tenure        line.Instant
	sim           line.Instant
	tenures, sims int
	open          map[Lane]*Span
	done          []Span
}

// follow takes the row at a moment.
func (b *spanBuilder) follow(r *line.Row, at line.Instant, flagged time.Duration) {
	if r.State == line.StateNone {
		return
	}
	running := r.State.Ongoing() && (r.State != line.StateNoticed || r.Until == line.Never || at < r.Until)
	since := at
	if b.tenures == 0 || r.Tenure != b.tenure {
		b.tenure, b.sim, b.tenures, b.sims = r.Tenure, r.SIM, b.tenures+1, 1
		if running {
			since = r.Tenure
		}
	}
	if r.SIM != b.sim {
		b.sim, b.sims = r.SIM, b.sims+1
	}
	b.set(at, true, Span{Lane: HolderLane, Start: since, Label: holderLabel(r, running, b.tenures)})
	b.set(at, r.Network != 0, Span{Lane: NetworkLane, Start: since, Network: r.Network})
	b.set(at, running, Span{Lane: SIMLane, Start: max(r.SIM, r.Tenure), Label: "SIM " + strconv.Itoa(b.sims)})
	bar, since := barOf(r, at, running)
	b.set(at, bar != "", Span{Lane: BarLane, Start: since, Label: bar})
	flag, since := flagOf(r, at, flagged)
	b.set(at, flag != "" && running, Span{Lane: FlagLane, Start: since, Label: flag})
}

// set ends the open span of a lane where another one begins, or nothing more is there.
func (b *spanBuilder) set(at line.Instant, on bool, next Span) {
	next.End = line.Never
	s := b.open[next.Lane]
	if s != nil && on && s.Label == next.Label && s.Network == next.Network && (next.Lane != SIMLane || s.Start == next.Start) {
		return
	}
	if s != nil {
		s.End = at
		b.done = append(b.done, *s)
		delete(b.open, next.Lane)
	}
	if on {
		b.open[next.Lane] = &next
	}
}

func holderLabel(r *line.Row, running bool, tenures int) string {
	switch {
	case !running:
		return "Quarantined"
	case r.State == line.StateActive:
		return "Holder " + strconv.Itoa(tenures)
	default:
		return "Holder " + strconv.Itoa(tenures) + ", " + r.State.String()
	}
}

// barOf returns the gravest bar at a moment, and since when it is.
func barOf(r *line.Row, at line.Instant, running bool) (label string, since line.Instant) {
	acts := func(until line.Instant) bool { return until == line.Never || at < until }
	switch {
	case r.BlackAt != line.Never:
		return "Blacklisted", r.BlackAt
	case r.NumberBarAt != line.Never && acts(r.NumberBarUntil):
		return "Regulator, number", r.NumberBarAt
	case r.HolderBarAt != line.Never && acts(r.HolderBarUntil):
		return "Regulator, holder", r.HolderBarAt
	case r.BarAt != line.Never && running:
		return "Operator", r.BarAt
	}
	return "", line.Never
}

// flagOf returns the gravest flag at a moment, and since when it is.
func flagOf(r *line.Row, at line.Instant, flagged time.Duration) (label string, since line.Instant) {
	for _, f := range []struct {
		at    line.Instant
		level line.Code
	}{{r.VeryHighAt, line.LevelVeryHigh}, {r.HighAt, line.LevelHigh}, {r.MediumAt, line.LevelMedium}} {
		if f.at != line.Never && at < f.at.Add(flagged) {
			return f.level.String(), f.at
		}
	}
	return "", line.Never
}

// spanMoments returns the times at which something about the number changed, in order:
// of its baseline and its events, and when bars, flags and announced churns end.
func spanMoments(h *line.History, flagged time.Duration, until line.Instant) []line.Instant {
	var all []line.Instant
	if b := h.Base; b != nil {
		all = append(all, b.Tenure, b.SIM, max(b.StateSince, b.Tenure), b.Until)
	}
	for i := range h.Events {
		e := &h.Events[i]
		all = append(all, e.Effective, e.Until)
		if e.Kind == line.Flag {
			all = append(all, e.Effective.Add(flagged))
		}
	}
	if h.Base != nil || len(h.Events) > 0 {
		all = append(all, until)
	}
	all = slices.DeleteFunc(all, func(i line.Instant) bool { return i > until || i == line.Never })
	slices.Sort(all)
	return slices.Compact(all)
}
