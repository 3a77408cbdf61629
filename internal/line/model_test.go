package line_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
)

// The networks of these tests: the range is allocated to home.
const (
	home    numbering.Network = 1
	other   numbering.Network = 2
	foreign numbering.Network = 3
)

// always is later than every event.
const always line.Instant = math.MaxInt32

// event returns an event by an authority that may report the kind: an operator if
// possible.
func event(kind line.Kind, at line.Instant, change ...func(*line.Event)) line.Event {
	e := line.Event{Kind: kind, Effective: at, Authority: line.Operator, Network: home, Until: line.Never, EndedAfter: line.Never}
	if !kind.MayReport(line.Operator) {
		e.Network = 0
		for a := line.ClearingHouse; !kind.MayReport(e.Authority); a++ {
			e.Authority = a
		}
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

func ordered(e *line.Event) { e.Authority, e.Network = line.Regulator, 0 }

// numbered sets the seqs of events, in the order in which they are passed.
func numbered(events ...line.Event) []line.Event {
	for i := range events {
		events[i].Seq = int64(i + 1)
	}
	return events
}

// fold returns the row of all events.
func fold(base *line.Baseline, events []line.Event) line.Row {
	row, _ := line.Fold(base, events, always)
	return row
}

// instant draws from few instants, so that events often have the same second.
func instant(t *rapid.T, label string) line.Instant {
	return line.Instant(rapid.Int32Range(0, 15).Draw(t, label))
}

// anEvent draws an event that some authority could report.
func anEvent(t *rapid.T, seq int64) line.Event {
	kinds := line.Kinds()
	e := line.Event{
		Seq: seq, Kind: rapid.SampledFrom(kinds[:len(kinds)-1]).Draw(t, "kind"), Effective: instant(t, "effective"),
		Until: line.Never, EndedAfter: line.Never,
	}
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
	}
	switch e.Kind {
	case line.Port, line.ReleasePort:
		e.Peer = rapid.SampledFrom([]numbering.Network{home, other, foreign}).Draw(t, "peer")
	case line.Bar, line.Flag:
		e.Code = line.Code(rapid.Int16Range(1, 3).Draw(t, "code"))
	case line.GiveNotice:
		e.Until = e.Effective + 14
	case line.End:
		e.EndedAfter = rapid.SampledFrom([]line.Instant{line.Never, e.Effective - 3}).Draw(t, "after")
	default: // no details
	}
	return e
}

// anyHistory draws the events of a number, including corrections.
func anyHistory(t *rapid.T) []line.Event {
	var events []line.Event
	for seq := range rapid.Int64Range(0, 14).Draw(t, "events") {
		if len(events) > 0 && rapid.IntRange(0, 9).Draw(t, "correct") == 0 {
			if target := rapid.SampledFrom(events).Draw(t, "target"); target.Kind != line.Void {
				events = append(events, withdrawal(&target, seq+1))
				continue
			}
		}
		events = append(events, anEvent(t, seq+1))
	}
	return events
}

// withdrawal returns the event that voids another.
func withdrawal(of *line.Event, seq int64) line.Event {
	return line.Event{
		Seq: seq, Kind: line.Void, Voids: of.Seq, Effective: of.Effective, Authority: of.Authority, Supplier: of.Supplier, Network: of.Network,
		Until: line.Never, EndedAfter: line.Never,
	}
}

// anyBaseline draws a baseline, possibly contradictory, or nil.
func anyBaseline(t *rapid.T) *line.Baseline {
	if rapid.Bool().Draw(t, "no baseline") {
		return nil
	}
	return aBaseline(t)
}

// aBaseline draws a baseline. A snapshot must have the start of every state but
// ACTIVE; other times may be missing.
func aBaseline(t *rapid.T) *line.Baseline {
	or := func(i line.Instant, label string) line.Instant {
		if rapid.IntRange(0, 3).Draw(t, "no "+label) == 0 {
			return line.Never
		}
		return i
	}
	b := &line.Baseline{
		Import: 7, Network: rapid.SampledFrom([]numbering.Network{home, home, other}).Draw(t, "base network"),
		Tenure: or(instant(t, "base tenure"), "tenure"), SIM: or(instant(t, "base sim"), "sim"), StateSince: instant(t, "base since"),
		State: line.State(rapid.Int16Range(int16(line.StateActive), int16(line.StateBarred)).Draw(t, "base state")),
	}
	if b.State == line.StateActive {
		b.StateSince = or(b.StateSince, "since")
	}
	return b
}

// without returns a copy without the events for which drop is true.
func without(events []line.Event, drop func(*line.Event) bool) []line.Event {
	return slices.DeleteFunc(slices.Clone(events), func(e line.Event) bool { return drop(&e) })
}

// sameLine compares rows except for Version and Newest.
func sameLine(a, b line.Row) string {
	a.Version, a.Newest, b.Version, b.Newest = 0, 0, 0, 0
	return cmp.Diff(a, b)
}

// outcomesBySeq returns the outcomes by the seqs of the events.
func outcomesBySeq(events []line.Event, outcomes []line.Outcome) map[int64]line.Outcome {
	bySeq := map[int64]line.Outcome{}
	for i := range events {
		bySeq[events[i].Seq] = outcomes[i]
	}
	return bySeq
}

// expect fails the test when a row differs from the expected one.
func expect(t *testing.T, got, want line.Row) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the row (-want +got):\n%s", diff)
	}
}
