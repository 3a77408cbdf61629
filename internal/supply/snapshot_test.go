package supply_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/supply"
)

// The times of which the snapshots of these tests speak.
var (
	march = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	may   = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
)

func asOf(at time.Time) supply.ImportForm {
	return supply.ImportForm{Kind: linefile.Snapshot, AsOf: at}
}

func instant(t *testing.T, written string) line.Instant {
	t.Helper()
	if written == "" {
		return line.Never
	}
	i, ok := line.ParseInstant(written)
	if !ok {
		t.Fatalf("%q is no time", written)
	}
	return i
}

// The first snapshot makes the rows, without an event, and the coverage begins
// with it.
func TestFirstSnapshotIsTheBaseline(t *testing.T) {
	t.Parallel()
	k := newIntake(t)
	rows := []struct {
		tenure, sim, since string
		state              line.State
	}{
		{"2019-03-04", "", "", line.StateActive},
		{"2019-03-04", "", "2020-01-01", line.StateActive},
		{"2019-03-04", "2025-12-31T23:59:59Z", "", line.StateActive},
		{"2019-03-04", "2019-03-04", "", line.StateActive},
		{"2019-03-04", "", "2026-02-01", line.StateInactive},
		{"2019-03-04", "2026-02-20", "2026-02-01", line.StateParked},
		{"2019-03-04", "2026-01-20", "2026-02-28T08:00:00Z", line.StateNoticed},
		{"2019-03-04", "2026-01-20", "2026-02-28", line.StateEnded},
		{"2019-03-04", "2026-02-28", "2026-02-27", line.StateEnded}, // the SIM is no younger than the end
		{"2019-03-04", "2026-01-20", "2026-02-28", line.StateBarred},
		{"2026-03-01", "2026-03-01", "2026-03-01", line.StateBarred},
		{"1990-01-01", "", "", line.StateActive},
	}
	var file []string
	for i, r := range rows {
		file = append(file, number(i)+","+r.tenure+","+r.sim+","+r.state.String()+","+r.since)
	}
	im := k.take(asOf(march), of(file...))
	k.counts(im, supply.Counts{Added: int64(len(rows))})
	k.refuses(im)
	network, _ := k.plan.Network("MTN")
	for i, r := range rows {
		base := line.Baseline{
			Import: 1, Network: network, Tenure: instant(t, r.tenure), SIM: instant(t, r.sim), State: r.state,
			StateSince: max(instant(t, r.since), instant(t, r.tenure)),
		}
		if diff := cmp.Diff(line.FromBaseline(base), k.row(number(i))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file[i], diff)
		}
	}
	if events := k.count(`SELECT count(*) FROM line_event`); events != 0 {
		t.Errorf("a baseline has %d events", events)
	}
	want := line.Coverage{KnownSince: march, CompleteSince: march, Through: march}
	if diff := cmp.Diff(want, k.coverage()); diff != "" {
		t.Errorf("coverage (-want +got):\n%s", diff)
	}
	if lines := k.count(`SELECT lines FROM supply_coverage`); lines != len(rows)-2 {
		t.Errorf("%d lines are counted, want %d", lines, len(rows)-2)
	}
	k.sound()
}

// changes are what two snapshots say about a number one after the other, beside
// the events that must come of it.
var changes = map[string]struct {
	first, second string
	want          []string
}{
	"nothing":                  {"2019-03-04,,ACTIVE,", "2019-03-04,,ACTIVE,", nil},
	"use since another time":   {"2019-03-04,,ACTIVE,", "2019-03-04,,ACTIVE,2026-04-01", nil},
	"nothing, parked":          {"2019-03-04,,PARKED,2026-02-01", "2019-03-04,,PARKED,2026-02-01", nil},
	"parked since later":       {"2019-03-04,,PARKED,2026-02-01", "2019-03-04,,PARKED,2026-04-01", nil},
	"nothing, barred":          {"2019-03-04,,BARRED,2026-02-01", "2019-03-04,,BARRED,2026-02-01", nil},
	"nothing, ended":           {"2019-03-04,,QUARANTINED,2026-02-01", "2019-03-04,,QUARANTINED,2026-02-01", nil},
	"SIM of an ended line":     {"2019-03-04,2026-02-20,QUARANTINED,2026-02-01", "2019-03-04,2026-02-20,QUARANTINED,2026-02-01", nil},
	"SIM no longer told":       {"2019-03-04,2026-02-01,ACTIVE,", "2019-03-04,,ACTIVE,", nil},
	"SIM of the first day":     {"2019-03-04,,ACTIVE,", "2019-03-04,2019-03-04,ACTIVE,", nil},
	"new SIM":                  {"2019-03-04,,ACTIVE,", "2019-03-04,2026-04-05T06:07:08Z,ACTIVE,", []string{"SIM_CHANGED 2026-04-05T06:07:08Z"}},
	"newer SIM":                {"2019-03-04,2026-02-01,ACTIVE,", "2019-03-04,2026-04-05,ACTIVE,", []string{"SIM_CHANGED 2026-04-05T00:00:00Z"}},
	"SIM that was not told":    {"2019-03-04,,ACTIVE,", "2019-03-04,2025-04-05,ACTIVE,", []string{"SIM_CHANGED 2025-04-05T00:00:00Z"}},
	"inactive":                 {"2019-03-04,,ACTIVE,", "2019-03-04,,INACTIVE,2026-04-01", []string{"INACTIVE 2026-04-01T00:00:00Z"}},
	"parked":                   {"2019-03-04,,ACTIVE,", "2019-03-04,,PARKED,2026-04-01", []string{"PARKED 2026-04-01T00:00:00Z"}},
	"noticed":                  {"2019-03-04,,ACTIVE,", "2019-03-04,,PENDING_CHURN,2026-04-01", []string{"CHURN_NOTICE 2026-04-01T00:00:00Z"}},
	"barred":                   {"2019-03-04,,ACTIVE,", "2019-03-04,,BARRED,2026-04-01", []string{"BARRED 2026-04-01T00:00:00Z OTHER"}},
	"ended":                    {"2019-03-04,,ACTIVE,", "2019-03-04,,QUARANTINED,2026-04-01", []string{"ENDED 2026-04-01T00:00:00Z CHURNED"}},
	"used again":               {"2019-03-04,,INACTIVE,2026-02-01", "2019-03-04,,ACTIVE,2026-04-01", []string{"USED 2026-04-01T00:00:00Z"}},
	"used again, no time told": {"2019-03-04,,INACTIVE,2026-02-01", "2019-03-04,,ACTIVE,", []string{"USED 2026-02-01T00:00:01Z"}},
	"returned":                 {"2019-03-04,,PARKED,2026-02-01", "2019-03-04,,ACTIVE,2026-04-01", []string{"RETURNED 2026-04-01T00:00:00Z"}},
	"notice taken back":        {"2019-03-04,,PENDING_CHURN,2026-02-01", "2019-03-04,,ACTIVE,2026-04-01", []string{"USED 2026-04-01T00:00:00Z"}},
	"unbarred":                 {"2019-03-04,,BARRED,2026-02-01", "2019-03-04,,ACTIVE,2026-04-01", []string{"UNBARRED 2026-04-01T00:00:00Z"}},
	"reinstated":               {"2019-03-04,,QUARANTINED,2026-02-01", "2019-03-04,,ACTIVE,2026-04-01", []string{"REINSTATED 2026-04-01T00:00:00Z"}},
	"from parked to noticed": {
		"2019-03-04,,PARKED,2026-02-01", "2019-03-04,,PENDING_CHURN,2026-04-01",
		[]string{"RETURNED 2026-04-01T00:00:00Z", "CHURN_NOTICE 2026-04-01T00:00:00Z"},
	},
	"from noticed to ended": {"2019-03-04,,PENDING_CHURN,2026-02-01", "2019-03-04,,QUARANTINED,2026-04-01", []string{"ENDED 2026-04-01T00:00:00Z CHURNED"}},
	"from ended to inactive": {
		"2019-03-04,,QUARANTINED,2026-02-01", "2019-03-04,,INACTIVE,2026-04-01",
		[]string{"REINSTATED 2026-04-01T00:00:00Z", "INACTIVE 2026-04-01T00:00:00Z"},
	},
	"reinstated with a new SIM, and inactive since": {
		"2019-03-04,,QUARANTINED,2026-02-01", "2019-03-04,2026-03-10,INACTIVE,2026-04-01",
		[]string{"SIM_CHANGED 2026-03-10T00:00:00Z", "REINSTATED 2026-03-10T00:00:00Z", "INACTIVE 2026-04-01T00:00:00Z"},
	},
	"reinstated, with a SIM of the last day": {
		"2019-03-04,,QUARANTINED,2026-02-01", "2019-03-04,2026-02-01,ACTIVE,2026-04-01",
		[]string{"SIM_CHANGED 2026-02-01T00:00:00Z", "REINSTATED 2026-02-01T00:00:00Z"},
	},
	"reinstated and barred since the last day": {
		"2019-03-04,,QUARANTINED,2026-02-01", "2019-03-04,,BARRED,2026-02-01",
		[]string{"REINSTATED 2026-02-01T00:00:01Z", "BARRED 2026-02-01T00:00:01Z OTHER"},
	},
	"new tenure on the day of the end, over by now": {
		"2019-03-04,,QUARANTINED,2026-02-01", "2026-02-01,,QUARANTINED,2026-04-01",
		[]string{"ASSIGNED 2026-02-01T00:00:00Z", "ENDED 2026-04-01T00:00:00Z CHURNED"},
	},
	"new tenure on the day of the end": {"2019-03-04,,QUARANTINED,2026-02-01", "2026-02-01,,ACTIVE,", []string{"ASSIGNED 2026-02-01T00:00:00Z"}},
	"from barred to parked": {
		"2019-03-04,,BARRED,2026-02-01", "2019-03-04,,PARKED,2026-04-01",
		[]string{"PARKED 2026-04-01T00:00:00Z", "UNBARRED 2026-04-01T00:00:00Z"},
	},
	"from inactive to barred": {
		"2019-03-04,,INACTIVE,2026-02-01", "2019-03-04,,BARRED,2026-04-01",
		[]string{"USED 2026-04-01T00:00:00Z", "BARRED 2026-04-01T00:00:00Z OTHER"},
	},
	"state and SIM": {
		"2019-03-04,,ACTIVE,", "2019-03-04,2026-03-15,PARKED,2026-04-01",
		[]string{"SIM_CHANGED 2026-03-15T00:00:00Z", "PARKED 2026-04-01T00:00:00Z"},
	},
	"state that began before what is known": {"2019-03-04,,PARKED,2026-02-01", "2019-03-04,,ACTIVE,2026-01-01", []string{"RETURNED 2026-02-01T00:00:01Z"}},
	"new tenure":                            {"2019-03-04,,ACTIVE,", "2026-04-01,,ACTIVE,", []string{"ASSIGNED 2026-04-01T00:00:00Z"}},
	"new tenure after an end":               {"2019-03-04,,QUARANTINED,2026-02-01", "2026-04-01,,ACTIVE,", []string{"ASSIGNED 2026-04-01T00:00:00Z"}},
	"new tenure of a barred line":           {"2019-03-04,,BARRED,2026-02-01", "2026-04-01,,ACTIVE,", []string{"ASSIGNED 2026-04-01T00:00:00Z"}},
	"new tenure, parked": {
		"2019-03-04,,ACTIVE,", "2026-04-01,,PARKED,2026-04-05",
		[]string{"ASSIGNED 2026-04-01T00:00:00Z", "PARKED 2026-04-05T00:00:00Z"},
	},
	"new tenure with its own bar and SIM": {
		"2019-03-04,,BARRED,2026-02-01", "2026-04-01,2026-04-02,BARRED,2026-04-03",
		[]string{"ASSIGNED 2026-04-01T00:00:00Z", "SIM_CHANGED 2026-04-02T00:00:00Z", "BARRED 2026-04-03T00:00:00Z OTHER"},
	},
	"new tenure that began before the bar was set": {
		"2019-03-04,,BARRED,2026-02-01", "2026-01-15,,ACTIVE,2026-04-01",
		[]string{"ASSIGNED 2026-01-15T00:00:00Z", "UNBARRED 2026-04-01T00:00:00Z"},
	},
	"new tenure that began before the old one ended": {
		"2019-03-04,,QUARANTINED,2026-02-01", "2026-01-15,,ACTIVE,2026-04-01",
		[]string{"ASSIGNED 2026-01-15T00:00:00Z", "REINSTATED 2026-04-01T00:00:00Z"},
	},
	"changed in the very second of the snapshot": {"2019-03-04,,ACTIVE,", "2019-03-04,2026-05-01,PARKED,2026-05-01", []string{
		"SIM_CHANGED 2026-05-01T00:00:00Z", "PARKED 2026-05-01T00:00:00Z",
	}},
}

// Of the second snapshot only what differs becomes events, and they name the
// import; a row of which it says nothing new is not touched at all.
func TestNextSnapshotTellsOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	k := newIntake(t)
	var first, second, names []string
	for name, c := range changes {
		i := len(names)
		names, first, second = append(names, name), append(first, number(i)+","+c.first), append(second, number(i)+","+c.second)
	}
	k.take(asOf(march), of(first...))
	const version = `SELECT number, version, xmin::text || ctid::text AS place FROM line_now ORDER BY number`
	before := k.dump(map[string]string{"rows": version})["rows"]
	im := k.take(asOf(may), of(second...))
	k.refuses(im)
	after := k.dump(map[string]string{"rows": version})["rows"]
	var want supply.Counts
	for i, name := range names {
		c := changes[name]
		if diff := cmp.Diff(append([]string{}, c.want...), k.events(number(i))); diff != "" {
			t.Errorf("%s: events (-want +got):\n%s", name, diff)
		}
		for _, e := range k.history(number(i)).Events {
			if e.Import != 2 || e.By != line.Operator || e.ID != "" {
				t.Errorf("%s: an event of the snapshot is of import %d and %s, with the id %q", name, e.Import, e.By, e.ID)
			}
		}
		if touched := before[i] != after[i]; touched != (len(c.want) > 0) {
			t.Errorf("%s: the row was touched: %v", name, touched)
		}
		if len(c.want) > 0 {
			want.Changed++
		} else {
			want.Unchanged++
		}
	}
	k.counts(im, want)
	k.sound()
}

// What events said beside a snapshot decides what it can mean.
func TestSnapshotBesideEvents(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		first, second string
		events        []string // type, time, reason
		status        string
		want          []string // all events
		refused       string
	}{
		"an event after the snapshot prevails": {
			first: "2019-03-04,,ACTIVE,", second: "2019-03-04,,INACTIVE,2026-04-01", events: []string{"USED 2026-05-20"},
			status: "NORMAL MTN", want: []string{"USED 2026-05-20T00:00:00Z", "INACTIVE 2026-04-01T00:00:00Z"},
		},
		"a change that was told already is not told again": {
			first: "2019-03-04,,ACTIVE,", second: "2019-03-04,2026-04-05,PARKED,2026-04-01", events: []string{"PARKED 2026-04-01", "SIM_CHANGED 2026-04-05"},
			status: "PARKED MTN", want: []string{"PARKED 2026-04-01T00:00:00Z", "SIM_CHANGED 2026-04-05T00:00:00Z"},
		},
		"a SIM that is older than the one that was told contradicts": {
			first: "2019-03-04,,ACTIVE,", second: "2019-03-04,2026-03-05,ACTIVE,", events: []string{"SIM_CHANGED 2026-04-05"},
			status: "NORMAL MTN", want: []string{"SIM_CHANGED 2026-04-05T00:00:00Z"}, refused: "CONTRADICTS",
		},
		"a tenure that is older than the one that was told contradicts": {
			first: "2019-03-04,,ACTIVE,", second: "2026-03-15,,ACTIVE,", events: []string{"ASSIGNED 2026-04-05"},
			status: "RECYCLED MTN", want: []string{"ASSIGNED 2026-04-05T00:00:00Z"}, refused: "CONTRADICTS",
		},
		"a bar that was told is confirmed": {
			first: "2019-03-04,,ACTIVE,", second: "2019-03-04,,BARRED,2026-04-01", events: []string{"BARRED 2026-04-02 FRAUD"},
			status: "BARRED MTN", want: []string{"BARRED 2026-04-02T00:00:00Z FRAUD"},
		},
		"an end that was told is confirmed": {
			first: "2019-03-04,,ACTIVE,", second: "2019-03-04,,QUARANTINED,2026-04-09", events: []string{"ENDED 2026-04-02 SURRENDERED"},
			status: "QUARANTINED MTN", want: []string{"ENDED 2026-04-02T00:00:00Z SURRENDERED"},
		},
		"an ended line that appears again is reinstated": {
			first: "2019-03-04,,ACTIVE,", second: "2019-03-04,,ACTIVE,2026-04-09", events: []string{"ENDED 2026-04-02 CHURNED"},
			status: "NORMAL MTN", want: []string{"ENDED 2026-04-02T00:00:00Z CHURNED", "REINSTATED 2026-04-09T00:00:00Z"},
		},
		"what changed in the second of the snapshot was told": {
			first: "2019-03-04,,ACTIVE,", second: "2019-03-04,,PARKED,2026-05-01", events: []string{"INACTIVE 2026-05-01"},
			status: "PARKED MTN", want: []string{"INACTIVE 2026-05-01T00:00:00Z", "USED 2026-05-01T00:00:00Z", "PARKED 2026-05-01T00:00:00Z"},
		},
		"a line known by an event alone gets the begin of its tenure": {
			second: "2019-03-04,,PARKED,2026-04-01", events: []string{"PARKED 2026-04-01"},
			status: "PARKED MTN", want: []string{"PARKED 2026-04-01T00:00:00Z", "ASSIGNED 2019-03-04T00:00:00Z"},
		},
		"an event after the snapshot that made the line known": {
			second: "2019-03-04,,ACTIVE,", events: []string{"PARKED 2026-05-20"},
			status: "PARKED MTN", want: []string{"PARKED 2026-05-20T00:00:00Z", "ASSIGNED 2019-03-04T00:00:00Z"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newIntake(t)
			var first []string
			if c.first != "" {
				first = []string{number(0) + "," + c.first}
			}
			k.take(asOf(march), of(append(first, actives(1, 20)...)...))
			for _, e := range c.events {
				k.says(operator("MTN"), k.written(number(0), e), "APPLIED")
			}
			im := k.take(asOf(may), of(append([]string{number(0) + "," + c.second}, actives(1, 20)...)...))
			k.tells(number(0), c.want...)
			if c.refused != "" {
				k.refuses(im, "2 tenureStart "+c.refused)
			} else {
				k.refuses(im)
			}
			k.reaches("MTN")
			k.is(number(0), c.status)
			k.sound()
		})
	}
}
