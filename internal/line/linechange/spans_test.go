package linechange_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linechange"
	"github.com/lineproof/lineproof/internal/regulator/policy"
)

const day = 24 * time.Hour

var epoch = line.InstantOf(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))

// reported returns an event of network 1 that took effect on a day.
func reported(seq int64, kind line.Kind, on int) line.Event {
	return line.Event{
		Seq: seq, ID: strconv.FormatInt(seq, 10), Supplier: 1, Kind: kind, Authority: line.Operator, Network: 1, Effective: epoch.Add(time.Duration(on) * day),
		ReportedAt: epoch.Add(time.Duration(on) * day).Time(), Until: line.Never, EndedAfter: line.Never,
	}
}

// words describe spans: the lane, the label, and the days on which it starts and ends.
func words(spans []linechange.Span) (list []string) {
	on := func(i line.Instant) string {
		if i == line.Never {
			return "?"
		}
		return strconv.Itoa(int(i.Time().Sub(epoch.Time()) / day))
	}
	for _, s := range spans {
		list = append(list, string(s.Lane)+": "+s.Label+strconv.Itoa(int(s.Network))+" "+on(s.Start)+"-"+on(s.End))
	}
	return list
}

// The picture of a line has each holder, network, SIM, bar and flag with its time: a bar
// that lapses ends without an event, and the flag and the SIM end with the tenure.
func TestSpansFollowTheHistory(t *testing.T) {
	t.Parallel()
	bar, flag := reported(3, line.Bar, 20), reported(4, line.Flag, 30)
	bar.Authority, bar.Network, bar.Supplier, bar.Code, bar.Number, bar.Until = line.Regulator, 0, 2, line.ReasonCourt, true, epoch.Add(23*day)
	flag.Authority, flag.Network, flag.Supplier, flag.Code = line.Sector, 0, 3, line.LevelHigh
	end := reported(5, line.End, 60)
	end.Code = line.ReasonChurned
	h := &line.History{Events: []line.Event{reported(1, line.Assign, 0), reported(2, line.ChangeSIM, 10), bar, flag, end, reported(6, line.Assign, 200)}}
	terms := line.TermsOf([]policy.Policy{policy.Defaults()})
	for until, want := range map[int][]string{
		300: {
			"Holder: Holder 10 0-60", "Holder: Quarantined0 60-200", "Holder: Holder 20 200-?", "Network: 1 0-?", "SIM: SIM 10 0-10", "SIM: SIM 20 10-60", "SIM: SIM 10 200-?",
			"Bars: Regulator, number0 20-23", "Flags: HIGH0 30-60",
		},
		21: {"Holder: Holder 10 0-?", "Network: 1 0-?", "SIM: SIM 10 0-10", "SIM: SIM 20 10-?", "Bars: Regulator, number0 20-?"},
	} {
		got := words(linechange.Spans(h, terms, 90*day, epoch.Add(time.Duration(until)*day)))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("until day %d (-want +got):\n%s", until, diff)
		}
	}
	if got := linechange.Spans(&line.History{}, terms, 90*day, epoch); len(got) != 0 {
		t.Errorf("a number without reports has %v", words(got))
	}
}

// A holder, of whom only a snapshot knows, has no start where the snapshot has none.
func TestSpansOfASnapshotStartWhereItKnows(t *testing.T) {
	t.Parallel()
	h := &line.History{Base: &line.Baseline{Import: 1, AsOf: epoch.Add(50 * day), Network: 1, Tenure: line.Never, SIM: line.Never, State: line.StateActive, StateSince: line.Never, Until: line.Never}}
	got := words(linechange.Spans(h, line.TermsOf([]policy.Policy{policy.Defaults()}), 90*day, epoch.Add(100*day)))
	if diff := cmp.Diff([]string{"Holder: Holder 10 ?-?", "Network: 1 ?-?", "SIM: SIM 10 ?-?"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
