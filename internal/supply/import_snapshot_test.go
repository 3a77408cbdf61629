package supply_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/supply"
)

// asOf of the snapshots of these tests.
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

// The first snapshot creates the rows without events, and starts the coverage.
func TestFirstSnapshotIsTheBaseline(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
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
	im := k.importFile(asOf(march), snapshotOf(file...))
	k.wantCounts(im, supply.Counts{Added: int64(len(rows))})
	k.wantRefused(im)
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
	k.wantConsistent()
}

// changes are the rows of a number in two consecutive snapshots, and the events that
// must follow from them.
var changes = map[string]struct {
	first, second string
	want          []string
}{
	"nothing":                   {"2019-03-04,,ACTIVE,", "2019-03-04,,ACTIVE,", nil},
	"use since another time":    {"2019-03-04,,ACTIVE,", "2019-03-04,,ACTIVE,2026-04-01", nil},
	"nothing, parked":           {"2019-03-04,,PARKED,2026-02-01", "2019-03-04,,PARKED,2026-02-01", nil},
	"parked since later":        {"2019-03-04,,PARKED,2026-02-01", "2019-03-04,,PARKED,2026-04-01", nil},
	"nothing, barred":           {"2019-03-04,,BARRED,2026-02-01", "2019-03-04,,BARRED,2026-02-01", nil},
	"nothing, ended":            {"2019-03-04,,QUARANTINED,2026-02-01", "2019-03-04,,QUARANTINED,2026-02-01", nil},
	"SIM of an ended line":      {"2019-03-04,2026-02-20,QUARANTINED,2026-02-01", "2019-03-04,2026-02-20,QUARANTINED,2026-02-01", nil},
	"SIM no longer given":       {"2019-03-04,2026-02-01,ACTIVE,", "2019-03-04,,ACTIVE,", nil},
	"SIM of the first day":      {"2019-03-04,,ACTIVE,", "2019-03-04,2019-03-04,ACTIVE,", nil},
	"new SIM":                   {"2019-03-04,,ACTIVE,", "2019-03-04,2026-04-05T06:07:08Z,ACTIVE,", []string{"SIM_CHANGED 2026-04-05T06:07:08Z"}},
	"newer SIM":                 {"2019-03-04,2026-02-01,ACTIVE,", "2019-03-04,2026-04-05,ACTIVE,", []string{"SIM_CHANGED 2026-04-05T00:00:00Z"}},
	"SIM that was not given":    {"2019-03-04,,ACTIVE,", "2019-03-04,2025-04-05,ACTIVE,", []string{"SIM_CHANGED 2025-04-05T00:00:00Z"}},
	"inactive":                  {"2019-03-04,,ACTIVE,", "2019-03-04,,INACTIVE,2026-04-01", []string{"INACTIVE 2026-04-01T00:00:00Z"}},
	"parked":                    {"2019-03-04,,ACTIVE,", "2019-03-04,,PARKED,2026-04-01", []string{"PARKED 2026-04-01T00:00:00Z"}},
	"noticed":                   {"2019-03-04,,ACTIVE,", "2019-03-04,,PENDING_CHURN,2026-04-01", []string{"CHURN_NOTICE 2026-04-01T00:00:00Z"}},
	"barred":                    {"2019-03-04,,ACTIVE,", "2019-03-04,,BARRED,2026-04-01", []string{"BARRED 2026-04-01T00:00:00Z OTHER"}},
	"ended":                     {"2019-03-04,,ACTIVE,", "2019-03-04,,QUARANTINED,2026-04-01", []string{"ENDED 2026-04-01T00:00:00Z CHURNED"}},
	"used again":                {"2019-03-04,,INACTIVE,2026-02-01", "2019-03-04,,ACTIVE,2026-04-01", []string{"USED 2026-04-01T00:00:00Z"}},
	"used again, no time given": {"2019-03-04,,INACTIVE,2026-02-01", "2019-03-04,,ACTIVE,", []string{"USED 2026-02-01T00:00:01Z"}},
	"returned":                  {"2019-03-04,,PARKED,2026-02-01", "2019-03-04,,ACTIVE,2026-04-01", []string{"RETURNED 2026-04-01T00:00:00Z"}},
	"notice taken back":         {"2019-03-04,,PENDING_CHURN,2026-02-01", "2019-03-04,,ACTIVE,2026-04-01", []string{"USED 2026-04-01T00:00:00Z"}},
	"unbarred":                  {"2019-03-04,,BARRED,2026-02-01", "2019-03-04,,ACTIVE,2026-04-01", []string{"UNBARRED 2026-04-01T00:00:00Z"}},
	"reinstated":                {"2019-03-04,,QUARANTINED,2026-02-01", "2019-03-04,,ACTIVE,2026-04-01", []string{"REINSTATED 2026-04-01T00:00:00Z"}},
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

// Only what differs in the second snapshot becomes events, which refer to its import.
// A stored row that does not differ is not written.
func TestNextSnapshotAddsEventsOnlyForDifferences(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	var first, second, names []string
	for name, c := range changes {
		i := len(names)
		names, first, second = append(names, name), append(first, number(i)+","+c.first), append(second, number(i)+","+c.second)
	}
	k.importFile(asOf(march), snapshotOf(first...))
	const version = `SELECT number, version, xmin::text || ctid::text AS place FROM line_now ORDER BY number`
	before := k.dump(map[string]string{"rows": version})["rows"]
	im := k.importFile(asOf(may), snapshotOf(second...))
	k.wantRefused(im)
	after := k.dump(map[string]string{"rows": version})["rows"]
	var want supply.Counts
	for i, name := range names {
		c := changes[name]
		if diff := cmp.Diff(append([]string{}, c.want...), k.events(number(i))); diff != "" {
			t.Errorf("%s: events (-want +got):\n%s", name, diff)
		}
		for _, e := range k.history(number(i)).Events {
			if e.Import != 2 || e.Authority != line.Operator || e.ID != "" {
				t.Errorf("%s: an event of the snapshot is of import %d and %s, with the id %q", name, e.Import, e.Authority, e.ID)
			}
		}
		if touched := before[i] != after[i]; touched != (len(c.want) > 0) {
			t.Errorf("%s: the row was written: %v", name, touched)
		}
		if len(c.want) > 0 {
			want.Changed++
		} else {
			want.Unchanged++
		}
	}
	k.wantCounts(im, want)
	k.wantConsistent()
}

// A snapshot is applied together with the events that are stored.
func TestSnapshotWithStoredEvents(t *testing.T) {
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
		"a change that was reported already is not reported again": {
			first: "2019-03-04,,ACTIVE,", second: "2019-03-04,2026-04-05,PARKED,2026-04-01", events: []string{"PARKED 2026-04-01", "SIM_CHANGED 2026-04-05"},
			status: "PARKED MTN", want: []string{"PARKED 2026-04-01T00:00:00Z", "SIM_CHANGED 2026-04-05T00:00:00Z"},
		},
		"a SIM that is older than the reported one contradicts": {
			first: "2019-03-04,,ACTIVE,", second: "2019-03-04,2026-03-05,ACTIVE,", events: []string{"SIM_CHANGED 2026-04-05"},
			status: "NORMAL MTN", want: []string{"SIM_CHANGED 2026-04-05T00:00:00Z"}, refused: "CONTRADICTS",
		},
		"a tenure that is older than the reported one contradicts": {
			first: "2019-03-04,,ACTIVE,", second: "2026-03-15,,ACTIVE,", events: []string{"ASSIGNED 2026-04-05"},
			status: "RECYCLED MTN", want: []string{"ASSIGNED 2026-04-05T00:00:00Z"}, refused: "CONTRADICTS",
		},
		"a bar that was reported is confirmed": {
			first: "2019-03-04,,ACTIVE,", second: "2019-03-04,,BARRED,2026-04-01", events: []string{"BARRED 2026-04-02 FRAUD"},
			status: "BARRED MTN", want: []string{"BARRED 2026-04-02T00:00:00Z FRAUD"},
		},
		"an end that was reported is confirmed": {
			first: "2019-03-04,,ACTIVE,", second: "2019-03-04,,QUARANTINED,2026-04-09", events: []string{"ENDED 2026-04-02 SURRENDERED"},
			status: "QUARANTINED MTN", want: []string{"ENDED 2026-04-02T00:00:00Z SURRENDERED"},
		},
		"an ended line that appears again is reinstated": {
			first: "2019-03-04,,ACTIVE,", second: "2019-03-04,,ACTIVE,2026-04-09", events: []string{"ENDED 2026-04-02 CHURNED"},
			status: "NORMAL MTN", want: []string{"ENDED 2026-04-02T00:00:00Z CHURNED", "REINSTATED 2026-04-09T00:00:00Z"},
		},
		"what changed in the second of the snapshot was reported": {
			first: "2019-03-04,,ACTIVE,", second: "2019-03-04,,PARKED,2026-05-01", events: []string{"INACTIVE 2026-05-01"},
			status: "PARKED MTN", want: []string{"INACTIVE 2026-05-01T00:00:00Z", "USED 2026-05-01T00:00:00Z", "PARKED 2026-05-01T00:00:00Z"},
		},
		"a line known by an event alone gets the start of its tenure": {
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
			k := newImportEnv(t)
			var first []string
			if c.first != "" {
				first = []string{number(0) + "," + c.first}
			}
			k.importFile(asOf(march), snapshotOf(append(first, actives(1, 20)...)...))
			for _, e := range c.events {
				k.wantOutcome(operator("MTN"), k.item(number(0), e), "APPLIED")
			}
			im := k.importFile(asOf(may), snapshotOf(append([]string{number(0) + "," + c.second}, actives(1, 20)...)...))
			k.wantEvents(number(0), c.want...)
			if c.refused != "" {
				k.wantRefused(im, "2 tenureStart "+c.refused)
			} else {
				k.wantRefused(im)
			}
			k.supplyThroughNow("MTN")
			k.wantStatus(number(0), c.status)
			k.wantConsistent()
		})
	}
}
