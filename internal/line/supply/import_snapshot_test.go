package supply_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/supply"
)

// asOf of the snapshots of these tests.
var (
	march = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	may   = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
)

func asOf(at time.Time) supply.ImportForm {
	return supply.ImportForm{Kind: linefile.Snapshot, AsOf: at}
}

// both is the coverage of a network's two topics by the same span.
func both(s line.Span) line.Coverage { return line.Coverage{Lifecycle: s, SIM: s} }

// The first snapshot creates the rows without events, and starts the coverage of both
// topics.
func TestFirstSnapshotIsTheBaseline(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	day := func(y, m, d, hour int) line.Instant {
		return line.InstantOf(time.Date(y, time.Month(m), d, hour, 0, 0, 0, lagos))
	}
	began := day(2019, 3, 5, 0) - 1
	base := func(state line.State, since, sim line.Instant, bits line.Bits) line.Baseline {
		return line.Baseline{Tenure: began, SIM: sim, State: state, StateSince: since, Until: line.Never, Bits: bits | line.TenureDay}
	}
	const unknown = line.SIMUnknown
	rows := []struct {
		row  string
		want line.Baseline
	}{
		{"2019-03-04,,ACTIVE,", base(line.StateActive, began, line.Never, unknown)},
		{"2019-03-04,UNKNOWN,ACTIVE,", base(line.StateActive, began, line.Never, unknown)},
		{"2019-03-04,NEVER,ACTIVE,", base(line.StateActive, began, line.Never, 0)},
		{"2019-03-04,,ACTIVE,2020-01-01", base(line.StateActive, day(2020, 1, 2, 0)-1, line.Never, unknown)},
		{"2019-03-04,2025-12-31T22:00:00Z,ACTIVE,", base(line.StateActive, began, day(2025, 12, 31, 23), 0)},
		{"2019-03-04,2019-03-04,ACTIVE,", base(line.StateActive, began, began, line.SIMDay)},
		{"2019-03-04,2026-02-20,PARKED,2026-02-01", base(line.StateParked, day(2026, 2, 2, 0)-1, day(2026, 2, 21, 0)-1, line.SIMDay)},
		{"2019-03-04,,PENDING_CHURN,2026-02-27T23:00:00Z", func() line.Baseline {
			b := base(line.StateNoticed, day(2026, 2, 28, 0), line.Never, unknown)
			b.Until = line.InstantOf(march.AddDate(0, 0, 14)) // no date: the policy's notice after asOf
			return b
		}()},
		{"2019-03-04,,QUARANTINED,2026-02-28", base(line.StateEnded, day(2026, 2, 28, 0), line.Never, unknown|line.EndDay)},
		{"2019-03-04,2026-02-28,QUARANTINED,2026-02-27", base(line.StateEnded, day(2026, 2, 27, 0), day(2026, 3, 1, 0)-1, line.SIMDay|line.EndDay)},
		{"2019-03-04,2026-01-20,BARRED,2026-02-28", base(line.StateBarred, day(2026, 3, 1, 0)-1, day(2026, 1, 21, 0)-1, line.SIMDay)},
		{"UNKNOWN,,ACTIVE,", line.Baseline{Tenure: line.Never, SIM: line.Never, State: line.StateActive, StateSince: line.Never, Until: line.Never, Bits: unknown}},
	}
	var file []string
	for i, r := range rows {
		file = append(file, number(i)+","+r.row)
	}
	im := k.importFile(asOf(march), snapshotOf(file...))
	k.wantCounts(im, supply.Counts{Added: int64(len(rows))})
	k.wantRefused(im)
	for i, r := range rows {
		r.want.Import, r.want.Network = 1, network(t, k, "MTN")
		if diff := cmp.Diff(line.FromBaseline(&r.want), k.row(number(i))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", r.row, diff)
		}
	}
	if events := k.count(`SELECT count(*) FROM line_event`); events != 0 {
		t.Errorf("a baseline has %d events", events)
	}
	if diff := cmp.Diff(both(line.Span{KnownSince: march, CompleteSince: march, Through: march}), k.coverage()); diff != "" {
		t.Errorf("coverage (-want +got):\n%s", diff)
	}
	if lines := k.count(`SELECT lines FROM network_lines`); lines != len(rows)-2 {
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
	"nothing":                {"2019-03-04,,ACTIVE,", "2019-03-04,,ACTIVE,", nil},
	"use since another time": {"2019-03-04,,ACTIVE,", "2019-03-04,,ACTIVE,2026-04-01", nil},
	"nothing, parked":        {"2019-03-04,,PARKED,2026-02-01", "2019-03-04,,PARKED,2026-02-01", nil},
	"parked since later":     {"2019-03-04,,PARKED,2026-02-01", "2019-03-04,,PARKED,2026-04-01", nil},
	"nothing, barred":        {"2019-03-04,,BARRED,2026-02-01", "2019-03-04,,BARRED,2026-02-01", nil},
	"nothing, ended":         {"2019-03-04,,QUARANTINED,2026-02-01", "2019-03-04,,QUARANTINED,2026-02-01", nil},
	"SIM of an ended line":   {"2019-03-04,2026-02-20,QUARANTINED,2026-02-01", "2019-03-04,2026-02-20,QUARANTINED,2026-02-01", nil},
	"SIM no longer given":    {"2019-03-04,2026-02-01,ACTIVE,", "2019-03-04,,ACTIVE,", nil},
	"tenure no longer given": {"2019-03-04,2026-02-01,ACTIVE,", "UNKNOWN,2026-02-01,ACTIVE,", nil},
	"new SIM":                {"2019-03-04,NEVER,ACTIVE,", "2019-03-04,2026-04-05T06:07:08Z,ACTIVE,", []string{"SIM_CHANGED 2026-04-05T06:07:08Z"}},
	"newer SIM":              {"2019-03-04,2026-02-01,ACTIVE,", "2019-03-04,2026-04-05,ACTIVE,", []string{"SIM_CHANGED 2026-04-05"}},
	"inactive":               {"2019-03-04,,ACTIVE,", "2019-03-04,,INACTIVE,2026-04-01", []string{"INACTIVE 2026-04-01"}},
	"parked":                 {"2019-03-04,,ACTIVE,", "2019-03-04,,PARKED,2026-04-01", []string{"PARKED 2026-04-01"}},
	"parked before the last snapshot": {
		"2019-03-04,,ACTIVE,", "2019-03-04,,PARKED,2026-02-01", []string{"PARKED 2026-02-01"},
	},
	"noticed without a date": {
		"2019-03-04,,ACTIVE,", "2019-03-04,,PENDING_CHURN,2026-04-20", []string{"CHURN_NOTICE 2026-04-20 until 2026-05-15T00:00:00Z"},
	},
	"barred":                    {"2019-03-04,,ACTIVE,", "2019-03-04,,BARRED,2026-04-01", []string{"BARRED 2026-04-01 OTHER"}},
	"ended":                     {"2019-03-04,,ACTIVE,", "2019-03-04,,QUARANTINED,2026-04-01", []string{"ENDED the start of 2026-04-01 CHURNED"}},
	"used again":                {"2019-03-04,,INACTIVE,2026-02-01", "2019-03-04,,ACTIVE,2026-04-01", []string{"USED 2026-04-01"}},
	"used again, no time given": {"2019-03-04,,INACTIVE,2026-02-01", "2019-03-04,,ACTIVE,", []string{"USED 2026-05-01T00:00:00Z"}},
	"returned":                  {"2019-03-04,,PARKED,2026-02-01", "2019-03-04,,ACTIVE,2026-04-01", []string{"USED 2026-04-01"}},
	"unbarred":                  {"2019-03-04,,BARRED,2026-02-01", "2019-03-04,,ACTIVE,2026-04-01", []string{"UNBARRED 2026-04-01"}},
	"unbarred, no time given":   {"2019-03-04,,BARRED,2026-02-01", "2019-03-04,,ACTIVE,", []string{"UNBARRED 2026-05-01T00:00:00Z"}},
	"reinstated":                {"2019-03-04,,QUARANTINED,2026-02-01", "2019-03-04,,ACTIVE,2026-04-01", []string{"REINSTATED 2026-04-01"}},
	"from parked to inactive": {
		"2019-03-04,,PARKED,2026-02-01", "2019-03-04,,INACTIVE,2026-04-01", []string{"USED 2026-04-01", "INACTIVE 2026-04-01"},
	},
	"from inactive to parked": {"2019-03-04,,INACTIVE,2026-02-01", "2019-03-04,,PARKED,2026-04-01", []string{"PARKED 2026-04-01"}},
	"from ended to inactive": {
		"2019-03-04,,QUARANTINED,2026-02-01", "2019-03-04,,INACTIVE,2026-04-01", []string{"REINSTATED 2026-04-01", "INACTIVE 2026-04-01"},
	},
	"reinstated with a new SIM, and inactive since": {
		"2019-03-04,,QUARANTINED,2026-02-01", "2019-03-04,2026-03-10,INACTIVE,2026-04-01",
		[]string{"REINSTATED 2026-04-01", "SIM_CHANGED 2026-03-10", "INACTIVE 2026-04-01"},
	},
	"new tenure, over by now": {
		"2019-03-04,,QUARANTINED,2026-02-01", "2026-03-01,,QUARANTINED,2026-04-01", []string{"ASSIGNED 2026-03-01", "ENDED the start of 2026-04-01 CHURNED"},
	},
	"new tenure on the day of the end": {"2019-03-04,,QUARANTINED,2026-02-01", "2026-02-01,,ACTIVE,", []string{"ASSIGNED 2026-02-01"}},
	"from barred to parked": {
		"2019-03-04,,BARRED,2026-02-01", "2019-03-04,,PARKED,2026-04-01", []string{"PARKED 2026-04-01", "UNBARRED 2026-04-01"},
	},
	"from inactive to barred": {
		"2019-03-04,,INACTIVE,2026-02-01", "2019-03-04,,BARRED,2026-04-01", []string{"USED 2026-04-01", "BARRED 2026-04-01 OTHER"},
	},
	"state and SIM": {
		"2019-03-04,,ACTIVE,", "2019-03-04,2026-03-15,PARKED,2026-04-01", []string{"SIM_CHANGED 2026-03-15", "PARKED 2026-04-01"},
	},
	"SIM and end":                 {"2019-03-04,,ACTIVE,", "2019-03-04,2026-03-15,QUARANTINED,2026-04-01", []string{"SIM_CHANGED 2026-03-15", "ENDED the start of 2026-04-01 CHURNED"}},
	"new tenure":                  {"2019-03-04,,ACTIVE,", "2026-04-01,,ACTIVE,", []string{"ASSIGNED 2026-04-01"}},
	"new tenure after an end":     {"2019-03-04,,QUARANTINED,2026-02-01", "2026-04-01,,ACTIVE,", []string{"ASSIGNED 2026-04-01"}},
	"new tenure of a barred line": {"2019-03-04,,BARRED,2026-02-01", "2026-04-01,,ACTIVE,", []string{"ASSIGNED 2026-04-01"}},
	"new tenure before the last snapshot": {
		"2019-03-04,,ACTIVE,", "2026-02-01,,ACTIVE,", []string{"ASSIGNED 2026-02-01"},
	},
	"new tenure of a line whose first was not known": {"UNKNOWN,,ACTIVE,", "2026-04-01,,ACTIVE,", []string{"ASSIGNED 2026-04-01"}},
	"new tenure, parked":                             {"2019-03-04,,ACTIVE,", "2026-04-01,,PARKED,2026-04-05", []string{"ASSIGNED 2026-04-01", "PARKED 2026-04-05"}},
	"new tenure with its own bar and SIM": {
		"2019-03-04,,BARRED,2026-02-01", "2026-04-01,2026-04-02,BARRED,2026-04-03",
		[]string{"ASSIGNED 2026-04-01", "SIM_CHANGED 2026-04-02", "BARRED 2026-04-03 OTHER"},
	},
	"new tenure that began before the bar was set": {
		"2019-03-04,,BARRED,2026-02-01", "2026-01-15,,ACTIVE,2026-04-01", []string{"ASSIGNED 2026-01-15", "UNBARRED 2026-04-01"},
	},
	"new tenure that began before the old one ended": {
		"2019-03-04,,QUARANTINED,2026-02-01", "2026-01-15,,ACTIVE,2026-04-01", []string{"ASSIGNED 2026-01-15", "REINSTATED 2026-04-01"},
	},
	"new tenure before the state that was known": {
		"2019-03-04,,INACTIVE,2026-02-10", "2026-02-01,,PARKED,2026-02-01T10:00:00Z",
		[]string{"ASSIGNED 2026-02-01", "PARKED 2026-05-01T00:00:00Z"},
	},
	"changed on the day of the snapshot": {
		"2019-03-04,,ACTIVE,", "2019-03-04,2026-05-01,PARKED,2026-05-01", []string{"SIM_CHANGED 2026-05-01T00:00:00Z", "PARKED 2026-05-01T00:00:00Z"},
	},
	"announced churn, later": {
		"2019-03-04,,PENDING_CHURN,2026-02-20", "2019-03-04,,QUARANTINED,2026-03-15", nil, // 14 days after the first snapshot
	},
	"ended before the announced churn": {
		"2019-03-04,,PENDING_CHURN,2026-02-20", "2019-03-04,,QUARANTINED,2026-03-10", []string{"ENDED the start of 2026-03-10 CHURNED"},
	},
	"announced churn that did not come": {
		"2019-03-04,,PENDING_CHURN,2026-02-20", "2019-03-04,,ACTIVE,", []string{"REINSTATED 2026-03-15T00:00:01Z"},
	},
	"announced churn that is announced again": {
		"2019-03-04,,PENDING_CHURN,2026-02-20", "2019-03-04,,PENDING_CHURN,2026-02-20",
		[]string{"REINSTATED 2026-03-15T00:00:01Z", "CHURN_NOTICE 2026-05-01T00:00:00Z until 2026-05-15T00:00:00Z"},
	},
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
	dry := k.importFile(supply.ImportForm{Kind: linefile.Snapshot, AsOf: may, DryRun: true}, snapshotOf(second...))
	im := k.importFile(asOf(may), snapshotOf(second...))
	k.wantRefused(im)
	k.wantCounts(dry, im.Counts)
	after := k.dump(map[string]string{"rows": version})["rows"]
	var want supply.Counts
	for i, name := range names {
		c := changes[name]
		if diff := cmp.Diff(append([]string{}, c.want...), k.events(number(i))); diff != "" {
			t.Errorf("%s: events (-want +got):\n%s", name, diff)
		}
		for _, e := range k.history(number(i)).Events {
			if e.Import != 3 || e.Authority != line.Operator || e.ID != "" {
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
