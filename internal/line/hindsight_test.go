package line_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
)

// seqs returns the seqs of events.
func seqs(events []line.Event) (all []int64) {
	for i := range events {
		all = append(all, events[i].Seq)
	}
	return all
}

// seq sets the seq of an event, and what it withdraws or confirms.
func seq(n, target int64) func(*line.Event) {
	return func(e *line.Event) { e.Seq, e.Target = n, target }
}

// A version counts reports in their order: the baseline, which is first, and the events.
func TestVersionsCountReports(t *testing.T) {
	t.Parallel()
	base := &line.Baseline{Import: 7, Network: home, Tenure: line.Never, SIM: line.Never, State: line.StateActive, StateSince: line.Never, Until: line.Never}
	first := event(line.ChangeSIM, 10*day, seq(1, 0), reported(11*day))
	second := event(line.ChangeSIM, 5*day, seq(2, 0), reported(12*day))
	keeps := first
	keeps.Base = base
	type known struct {
		Base bool
		Seqs []int64
		OK   bool
	}
	for name, c := range map[string]struct {
		h    line.History
		want []known // by version
	}{
		"events":          {line.History{Events: []line.Event{second, first}}, []known{{OK: true}, {Seqs: []int64{1}, OK: true}, {Seqs: []int64{1, 2}, OK: true}, {Seqs: []int64{1, 2}}}},
		"a baseline":      {line.History{Base: base, Events: []line.Event{keeps}}, []known{{OK: true}, {Base: true, OK: true}, {Base: true, Seqs: []int64{1}, OK: true}}},
		"a baseline only": {line.History{Base: base}, []known{{OK: true}, {Base: true, OK: true}, {Base: true}}},
	} {
		for version, want := range c.want {
			h, ok := c.h.Known(int64(version))
			if diff := cmp.Diff(want, known{h.Base != nil, seqs(h.Events), ok}); diff != "" {
				t.Errorf("%s, version %d (-want +got):\n%s", name, version, diff)
			}
		}
	}
}

// With hindsight the history has what was known, and what had taken effect of what was
// reported later.
func TestHindsightHasWhatHadTakenEffect(t *testing.T) {
	t.Parallel()
	late := reported(20 * day)
	bareDate := func(e *line.Event) { e.Day = true }
	h := &line.History{Events: []line.Event{
		event(line.ChangeSIM, 10*day+10, seq(1, 0), reported(9*day)), // known ahead of its time
		event(line.ChangeSIM, 8*day, seq(2, 0), late),
		event(line.ChangeSIM, 10*day+1, seq(3, 0), late), // later than the answer
		event(line.ChangeSIM, 11*day-1, seq(4, 0), late, bareDate),
		event(line.ChangeSIM, 12*day-1, seq(5, 0), late, bareDate),
		event(line.Void, 10*day+10, seq(6, 1), late),
		event(line.Void, 10*day+1, seq(7, 3), late),
	}}
	known, ok := h.Known(1)
	if !ok {
		t.Fatal("the history has no version 1")
	}
	if diff := cmp.Diff([]int64{1, 2, 4, 6}, seqs(h.Hindsight(known, (10*day).Time(), time.UTC).Events)); diff != "" {
		t.Errorf("the events (-want +got):\n%s", diff)
	}
	if len(known.Events) != 1 {
		t.Errorf("what was known has become %v", seqs(known.Events))
	}
}

// A snapshot that was reported later counts for what it says about the time before.
func TestHindsightOfASnapshotEndsWithTheAnswer(t *testing.T) {
	t.Parallel()
	base := line.Baseline{Import: 7, Network: home, Tenure: 2 * day, SIM: 12 * day, State: line.StateEnded, StateSince: 14 * day, Until: line.Never}
	cut := base
	cut.SIM, cut.Bits, cut.State, cut.StateSince = line.Never, line.SIMUnknown, line.StateActive, 2*day
	for _, c := range []struct {
		at   line.Instant
		want *line.Baseline
	}{{day, nil}, {10 * day, &cut}, {15 * day, &base}} {
		got := (&line.History{Base: &base}).Hindsight(&line.History{}, c.at.Time(), time.UTC).Base
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("on day %d (-want +got):\n%s", c.at/day, diff)
		}
	}
}
