package linemodel

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// World says how large random histories are.
type World struct {
	Networks int // operators 1, 2, ...; the first holds the number's range
	Events   int // at most so many, without voids and confirmations
}

const day = 24 * 3600

// The suppliers that are no operators.
const (
	clearingHouse = 10
	sectorA       = 20
	sectorB       = 21
	regulator     = 30
)

// days and seconds are few, so that events meet in one second and at the borders of
// 72 hours, of 30 days, and of the rest.
var (
	days    = []line.Instant{0, 0, 1, 2, 3, 4, 4, 5, 6, 7, 8, 30, 31, 34, 35, 36}
	seconds = []line.Instant{0, 0, 0, 1, 3600, day / 2, day - 1}
	delays  = []line.Instant{0, 0, 0, 1, 3600, 3601, day / 2, day, day + 1, 2 * day, 3 * day, 3*day + 1, 5 * day, 30 * day, 32 * day}
)

// byReport orders events by their reports.
func byReport(a, b *line.Event) int {
	return cmp.Or(a.ReportedAt.Compare(b.ReportedAt), cmp.Compare(a.Seq, b.Seq))
}

// RandomTerms has short times, and changes some of them on the fifth day.
func RandomTerms(at time.Time) line.Terms {
	t := line.Terms{Rest: 3 * 24 * time.Hour}
	if at.After(line.Instant(4*day + day/2).Time()) {
		t = line.Terms{Rest: 2 * 24 * time.Hour}
	}
	return t
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

func chance(r *rand.Rand, percent int) bool { return r.IntN(100) < percent }

func instant(r *rand.Rand) line.Instant { return pick(r, days)*day + pick(r, seconds) }

// RandomHistory returns a history of events each of which could be stored.
func RandomHistory(r *rand.Rand, w World) *line.History {
	h := &line.History{}
	if chance(r, 50) {
		h.Base = randomBaseline(r, w, 1)
	}
	var events []*line.Event
	for range r.IntN(w.Events + 1) {
		events = append(events, randomEvent(r, w, h.Base))
	}
	targets := map[*line.Event]*line.Event{}
	if chance(r, 60) {
		claim, release, port := randomHalves(r, w)
		events = append(events, claim, release)
		if port != nil {
			targets[port] = release
			events = append(events, port)
		}
	}
	for _, e := range slices.Clone(events) {
		for _, about := range randomReactions(r, e) {
			targets[about] = e
			events = append(events, about)
		}
	}
	for v, e := range targets {
		if v.Hold != 0 && chance(r, 50) && e.ReportedAt.Before(v.ReportedAt) {
			c := confirmation(r, v)
			targets[c] = v
			events = append(events, c)
		}
	}
	// Voids and confirmations come after what they are about, also within one second.
	slices.SortStableFunc(events, func(a, b *line.Event) int { return a.ReportedAt.Compare(b.ReportedAt) })
	for i, e := range events {
		e.Seq = int64(i + 1)
	}
	if len(targets) == 0 && chance(r, 20) { // two servers whose clocks differ
		r.Shuffle(len(events), func(i, j int) { events[i].Seq, events[j].Seq = events[j].Seq, events[i].Seq })
	}
	for about, e := range targets {
		about.Target = e.Seq
	}
	inOrder := byReport
	for _, e := range slices.SortedFunc(slices.Values(events), inOrder) {
		e.Outside = outside(r, e, events, h.Base)
		e.First = e.First && !somethingEarlier(e, events, h.Base)
	}
	for _, e := range events {
		h.Events = append(h.Events, *e)
	}
	return h
}

// somethingEarlier says whether something earlier than an event was known when it was
// reported: then no mark of a first holder is granted.
func somethingEarlier(e *line.Event, all []*line.Event, base *line.Baseline) bool {
	return base != nil || slices.ContainsFunc(all, func(o *line.Event) bool {
		return byReport(o, e) < 0 && o.Effective <= e.Effective
	})
}

// outside says whether an operator neither held the range nor, by an earlier report,
// had the line.
func outside(r *rand.Rand, e *line.Event, all []*line.Event, base *line.Baseline) bool {
	if e.Authority != line.Operator || e.Network == 1 || e.Kind == line.Assign || base != nil && base.Network == e.Network || chance(r, 5) {
		return false
	}
	return !slices.ContainsFunc(all, func(o *line.Event) bool {
		gotLine := (o.Kind == line.Port || o.Kind == line.ReleasePort) && o.Peer == e.Network
		hadLine := o.Network == e.Network && !o.Outside && o.Kind != line.ClaimPort
		return byReport(o, e) < 0 && (gotLine || hadLine)
	})
}

func randomBaseline(r *rand.Rand, w World, imp int32) *line.Baseline {
	b := &line.Baseline{Import: imp, Network: 1, Tenure: line.Never, SIM: line.Never, State: line.StateActive, Until: line.Never}
	if chance(r, 25) {
		b.Network = randomNetwork(r, w)
	}
	if chance(r, 70) {
		if b.Tenure = pick(r, days[:8])*day + pick(r, seconds); chance(r, 30) {
			b.Tenure, b.Bits = endOfDay(b.Tenure), b.Bits|line.TenureDay
		}
	}
	switch {
	case chance(r, 50):
		if b.SIM = max(b.Tenure, pick(r, days[:10])*day+pick(r, seconds)); chance(r, 30) {
			b.SIM, b.Bits = max(b.Tenure, endOfDay(b.SIM)), b.Bits|line.SIMDay
		}
	case chance(r, 50):
		b.Bits |= line.SIMUnknown
	}
	if b.StateSince = max(b.Tenure, pick(r, days[:10])*day+pick(r, seconds)); chance(r, 60) {
		b.State = pick(r, []line.State{line.StateInactive, line.StateParked, line.StateNoticed, line.StateEnded, line.StateBarred})
	}
	if b.State == line.StateNoticed {
		b.Until = b.StateSince + pick(r, []line.Instant{0, 1, day, 2 * day, 4 * day, 30 * day})
	}
	if b.State == line.StateEnded && chance(r, 30) {
		b.StateSince, b.Bits = startOfDay(b.StateSince), b.Bits|line.EndDay
	}
	b.AsOf = max(b.Tenure, b.SIM, b.StateSince) + pick(r, []line.Instant{0, 1, day, 3 * day, 40 * day})
	return b
}

func endOfDay(i line.Instant) line.Instant   { return i - i%day + day - 1 }
func startOfDay(i line.Instant) line.Instant { return i - i%day }

func randomNetwork(r *rand.Rand, w World) numbering.Network {
	return numbering.Network(1 + r.IntN(w.Networks))
}
