package line_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// The networks of these tests: the range is allocated to home.
const (
	home    numbering.Network = 1
	other   numbering.Network = 2
	foreign numbering.Network = 3
)

const (
	hour = line.Instant(time.Hour / time.Second)
	day  = 24 * hour
	rest = 90 * day // between two holders
)

// terms are the defaults of the policy.
func terms(time.Time) line.Terms {
	return line.Terms{Rest: 90 * 24 * time.Hour}
}

// event returns an event by an authority that may report the kind: an operator if
// possible. It is reported when it takes effect.
func event(kind line.Kind, at line.Instant, change ...func(*line.Event)) line.Event {
	e := line.Event{
		Kind: kind, Effective: at, ReportedAt: at.Time(), Authority: line.Operator, Network: home, Until: line.Never, EndedAfter: line.Never,
	}
	for _, a := range []line.Authority{line.Regulator, line.Sector, line.ClearingHouse, line.Operator} {
		if kind.MayReport(a) {
			e.Authority = a
		}
	}
	if e.Authority != line.Operator {
		e.Network = 0
	}
	for _, c := range change {
		c(&e)
	}
	return e
}

func from(n numbering.Network) func(*line.Event) { return func(e *line.Event) { e.Network = n } }
func to(n numbering.Network) func(*line.Event)   { return func(e *line.Event) { e.Peer = n } }
func by(supplier int32) func(*line.Event)        { return func(e *line.Event) { e.Supplier = supplier } }
func code(c line.Code) func(*line.Event)         { return func(e *line.Event) { e.Code = c } }
func until(i line.Instant) func(*line.Event)     { return func(e *line.Event) { e.Until = i } }
func after(i line.Instant) func(*line.Event)     { return func(e *line.Event) { e.EndedAfter = i } }
func reported(at line.Instant) func(*line.Event) {
	return func(e *line.Event) { e.ReportedAt = at.Time() }
}
func target(seq int64) func(*line.Event) { return func(e *line.Event) { e.Target = seq } }
func held(h line.Hold) func(*line.Event) { return func(e *line.Event) { e.Hold = h } }
func restating(b line.Baseline) func(*line.Event) {
	return func(e *line.Event) { e.Base, e.Import = &b, b.Import }
}

func ordered(e *line.Event)  { e.Authority, e.Network = line.Regulator, 0 }
func onNumber(e *line.Event) { e.Number = true }
func first(e *line.Event)    { e.First = true }
func outside(e *line.Event)  { e.Outside = true }
func onDay(e *line.Event)    { e.Day = true }

// void returns home's withdrawal of the event with a seq.
func void(seq int64, at line.Instant, change ...func(*line.Event)) line.Event {
	return event(line.Void, at, append([]func(*line.Event){target(seq)}, change...)...)
}

// confirm returns the regulator's confirmation of the event with a seq.
func confirm(seq int64, at line.Instant) line.Event { return event(line.Confirm, at, target(seq)) }

// numbered sets the seqs of events, in the order in which they are passed.
func numbered(events ...line.Event) []line.Event {
	for i := range events {
		events[i].Seq = int64(i + 1)
	}
	return events
}

// fold returns the row of all events.
func fold(base *line.Baseline, events []line.Event) line.Row {
	row, _ := foldUntil(base, events, line.Forever)
	return row
}

// foldUntil returns the row and the outcomes of the events up to a time.
func foldUntil(base *line.Baseline, events []line.Event, until line.Instant) (line.Row, []line.Outcome) {
	return line.Fold(&line.History{Base: base, Events: events}, terms, until)
}

// rowOf returns the row of events that are reported in the order in which they are
// passed if their times are equal, and their outcomes.
func rowOf(events ...line.Event) (line.Row, []line.Outcome) {
	events = numbered(events...)
	row, outcomes := foldUntil(nil, withPorts(events), line.Forever)
	return row, outcomes[:len(events)]
}

// withPorts adds the ports that halves make when the second of them is reported.
func withPorts(events []line.Event) []line.Event {
	h := &line.History{}
	byReport := slices.SortedStableFunc(slices.Values(events), func(a, b line.Event) int { return a.ReportedAt.Compare(b.ReportedAt) })
	for _, e := range byReport {
		h.Events = append(h.Events, e)
		_, outcomes := line.Fold(h, terms, line.Forever)
		if met, ok := h.Meet(terms, outcomes); ok {
			p := met.Event()
			p.Seq, p.ReportedAt, p.Supplier = int64(1000+len(h.Events)), e.ReportedAt, e.Supplier
			h.Events = append(h.Events, p)
		}
	}
	ports := slices.DeleteFunc(h.Events, func(e line.Event) bool { return e.Seq < 1000 })
	return append(slices.Clone(events), ports...)
}

// expectOutcomes fails the test when the outcomes differ from the expected ones.
func expectOutcomes(t *testing.T, got []line.Outcome, want ...line.Outcome) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("the outcomes are %d, not %d", got, want)
	}
}

// expect fails the test when a row differs from the expected one.
func expect(t *testing.T, got, want line.Row) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the row (-want +got):\n%s", diff)
	}
}

// sameLine compares rows except for Version and Newest.
func sameLine(a, b line.Row) string {
	a.Version, a.Newest, b.Version, b.Newest = 0, 0, 0, 0
	return cmp.Diff(a, b)
}

// instant draws from few instants, so that events often have the same second.
func instant(t *rapid.T, label string) line.Instant {
	return line.Instant(rapid.Int32Range(0, 15).Draw(t, label))
}

// anEvent draws an event that some authority could report about a line. It is
// reported some seconds after it took effect.
func anEvent(t *rapid.T, seq int64) line.Event {
	kinds := line.Kinds()
	e := line.Event{
		Seq: seq, Kind: rapid.SampledFrom(kinds[:slices.Index(kinds, line.Void)]).Draw(t, "kind"), Effective: instant(t, "effective"),
		Until: line.Never, EndedAfter: line.Never,
	}
	if rapid.IntRange(0, 19).Draw(t, "transfer") == 0 {
		e.Kind = line.Transfer
	}
	e.ReportedAt = (e.Effective + instant(t, "reported after")).Time()
	allowed := []line.Authority{}
	for a := line.Operator; a <= line.Regulator; a++ {
		if e.Kind.MayReport(a) {
			allowed = append(allowed, a)
		}
	}
	e.Authority = rapid.SampledFrom(allowed).Draw(t, "by")
	e.Supplier = rapid.Int32Range(1, 2).Draw(t, "supplier")
	if e.Authority == line.Operator {
		e.Network = rapid.SampledFrom([]numbering.Network{home, home, home, other, foreign}).Draw(t, "network")
		e.Outside = e.Network != home && rapid.Bool().Draw(t, "outside")
	}
	switch e.Kind {
	case line.Port, line.ReleasePort:
		e.Peer = rapid.SampledFrom([]numbering.Network{home, other, foreign}).Draw(t, "peer")
	case line.Bar:
		e.Code, e.Number = line.Code(rapid.Int16Range(1, 3).Draw(t, "code")), e.Authority == line.Regulator && rapid.Bool().Draw(t, "on the number")
	case line.Flag:
		e.Code = rapid.SampledFrom([]line.Code{line.LevelMedium, line.LevelHigh, line.LevelVeryHigh}).Draw(t, "level")
	case line.GiveNotice:
		e.Until = e.Effective + 14
	case line.End:
		e.EndedAfter = rapid.SampledFrom([]line.Instant{line.Never, e.Effective - 3}).Draw(t, "after")
	default: // no details
	}
	return e
}

// anyHistory draws the events of a number, including withdrawals and held events.
func anyHistory(t *rapid.T) []line.Event {
	var events []line.Event
	for seq := range rapid.Int64Range(0, 14).Draw(t, "events") {
		if len(events) > 0 && rapid.IntRange(0, 7).Draw(t, "about another") == 0 {
			if of := rapid.SampledFrom(events).Draw(t, "target"); of.Kind != line.Void && of.Kind != line.Confirm {
				events = append(events, reaction(t, &of, seq+1))
				continue
			}
		}
		e := anEvent(t, seq+1)
		if e.Authority == line.Operator && rapid.IntRange(0, 9).Draw(t, "held") == 0 {
			e.Hold = line.HoldTooOld
		}
		events = append(events, e)
	}
	return events
}

// reaction returns an event that voids another or, if that is held, confirms it.
func reaction(t *rapid.T, of *line.Event, seq int64) line.Event {
	if of.Hold != 0 && rapid.Bool().Draw(t, "confirm") {
		return event(line.Confirm, of.Effective, target(of.Seq), reported(30), func(e *line.Event) { e.Seq = seq })
	}
	return withdrawal(of, seq)
}

// withdrawal returns the event by which its supplier voids another.
func withdrawal(of *line.Event, seq int64) line.Event {
	v := event(line.Void, of.Effective, target(of.Seq), reported(31), by(of.Supplier), from(of.Network))
	v.Seq, v.Authority = seq, of.Authority
	return v
}

// without returns a copy without the events for which drop is true.
func without(events []line.Event, drop func(*line.Event) bool) []line.Event {
	return slices.DeleteFunc(slices.Clone(events), func(e line.Event) bool { return drop(&e) })
}

// aPort reports whether an event is a port or half of one.
func aPort(e *line.Event) bool {
	return e.Kind == line.Port || e.Kind == line.ClaimPort || e.Kind == line.ReleasePort
}
