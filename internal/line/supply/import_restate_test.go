package supply_test

import (
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/supply"
)

// reported is when the second snapshot of these tests is reported.
var reported = may.Add(time.Hour)

// secondSnapshot imports two snapshots in which number(0) has these rows, among
// others that do not change. In between, MTN reports events.
func (k *importEnv) secondSnapshot(first, second string, events ...string) supply.Import {
	k.t.Helper()
	rows := actives(1, 20)
	if first != "" {
		rows = append(rows, number(0)+","+first)
	}
	k.compareRuns("MTN", march, snapshotOf(rows...))
	for _, e := range events {
		k.wantOutcome(operator("MTN"), k.item(number(0), e), "APPLIED")
	}
	return k.compareRuns("MTN", may, snapshotOf(append(actives(1, 20), number(0)+","+second)...))
}

// A SIM change that a later snapshot adds, or moves later, is counted against the operator, unless the first snapshot
// said that it knew nothing of it. Its window runs from the change.
func TestRestatementThatAddsAChange(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]string{"added": "NEVER", "not known before": "UNKNOWN", "moved later": "2026-01-05"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newImportEnv(t)
			im := k.secondSnapshot("2019-03-04,"+first+",ACTIVE,", "2019-03-04,2026-04-28T09:00:00Z,ACTIVE,")
			k.wantCounts(im, supply.Counts{Changed: 1, Unchanged: 20})
			k.wantEvents(number(0), "SIM_CHANGED 2026-04-28T09:00:00Z")
			if r := k.row(number(0)); written(r.SIM) != "2026-04-28T09:00:00Z" {
				t.Errorf("the SIM changed %s", written(r.SIM))
			}
			if late := k.count(`SELECT coalesce(sum(late), 0)::bigint FROM supply_day WHERE kind = $1`, int16(line.ChangeSIM)); late != 1 {
				t.Errorf("%d changes are counted as late, want 1", late)
			}
			k.atTime(may.AddDate(0, 0, 5), func() { k.wantStatus(number(0), "SWAPPED MTN") })
			k.supplyThroughNow("MTN")
			k.wantStatus(number(0), "NORMAL MTN") // a month later
			k.wantDoubt(number(0), time.Time{})
			k.wantConsistent()
		})
	}
}

// What a restatement takes away or moves earlier it replaces at once. A change of holder or SIM of the last 400 days
// stays contested. A state or an end that it takes back becomes an event.
func TestRestatements(t *testing.T) {
	t.Parallel()
	const limit = "2025-03-27T00:00:00Z" // 400 days before the second snapshot
	for name, c := range map[string]struct {
		first, second string
		want          []string
		contested     string // the time of a contested SIM or holder
	}{
		"SIM taken away": {
			"2019-03-04,2026-02-10,ACTIVE,", "2019-03-04,NEVER,ACTIVE,",
			[]string{"RESTATED 2026-05-01T00:00:00Z (2019-03-04,2026-02-10,ACTIVE,2019-03-04)", "RESTATED 2026-05-01T00:00:00Z (2019-03-04,NEVER,ACTIVE,2019-03-04)"},
			"2026-02-10",
		},
		"SIM moved earlier": {
			"2019-03-04,2026-02-10,ACTIVE,", "2019-03-04,2026-02-08,ACTIVE,",
			[]string{"RESTATED 2026-05-01T00:00:00Z (2019-03-04,2026-02-10,ACTIVE,2019-03-04)", "RESTATED 2026-05-01T00:00:00Z (2019-03-04,2026-02-08,ACTIVE,2019-03-04)"},
			"2026-02-10",
		},
		"SIM of the tenure": {
			"2019-03-04,2026-02-10,ACTIVE,", "2019-03-04,2019-03-04,ACTIVE,",
			[]string{"RESTATED 2026-05-01T00:00:00Z (2019-03-04,2026-02-10,ACTIVE,2019-03-04)", "RESTATED 2026-05-01T00:00:00Z (2019-03-04,2019-03-04,ACTIVE,2019-03-04)"},
			"2026-02-10",
		},
		"tenure moved": {
			"2026-01-10,,ACTIVE,", "2026-01-08,,ACTIVE,",
			[]string{"RESTATED 2026-05-01T00:00:00Z (2026-01-10,UNKNOWN,ACTIVE,2026-01-10)", "RESTATED 2026-05-01T00:00:00Z (2026-01-08,UNKNOWN,ACTIVE,2026-01-10)"},
			"2026-01-10",
		},
		"tenure moved by hours": {
			"2026-01-10T10:00:00Z,,ACTIVE,", "2026-01-09T12:00:00Z,,ACTIVE,",
			nil, "",
		},
		"end taken away": {
			"2019-03-04,,QUARANTINED,2026-02-10", "2019-03-04,,ACTIVE,",
			[]string{"REINSTATED 2026-02-09T23:00:01Z"},
			"",
		},
		"end lifted": {
			"2019-03-04,,QUARANTINED,2026-02-10", "2019-03-04,,ACTIVE,2026-02-20",
			[]string{"REINSTATED 2026-02-20"},
			"",
		},
		"end moved earlier": {
			"2019-03-04,,QUARANTINED,2026-02-10", "2019-03-04,,QUARANTINED,2026-02-08",
			[]string{"ENDED the start of 2026-02-08 CHURNED"},
			"",
		},
		"end moved later": {
			"2019-03-04,,QUARANTINED,2026-02-10", "2019-03-04,,QUARANTINED,2026-02-12",
			[]string{"REINSTATED 2026-02-11", "ENDED the start of 2026-02-12 CHURNED"},
			"",
		},
		"with a later change": {
			"2026-01-10,,ACTIVE,", "2026-01-08,2026-04-05,ACTIVE,",
			[]string{"RESTATED 2026-05-01T00:00:00Z (2026-01-10,UNKNOWN,ACTIVE,2026-01-10)", "RESTATED 2026-05-01T00:00:00Z (2026-01-08,UNKNOWN,ACTIVE,2026-01-10)", "SIM_CHANGED 2026-04-05"},
			"2026-01-10",
		},
		"SIM within 400 days": {
			"2019-03-04,2025-03-27T00:00:01Z,ACTIVE,", "2019-03-04,NEVER,ACTIVE,",
			[]string{"RESTATED 2026-05-01T00:00:00Z (2019-03-04,2025-03-27T00:00:01Z,ACTIVE,2019-03-04)", "RESTATED 2026-05-01T00:00:00Z (2019-03-04,NEVER,ACTIVE,2019-03-04)"},
			"2025-03-27T00:00:01Z",
		},
		"SIM 400 days ago": {
			"2019-03-04," + limit + ",ACTIVE,", "2019-03-04,NEVER,ACTIVE,",
			[]string{"RESTATED 2026-05-01T00:00:00Z (2019-03-04,2025-03-27T00:00:00Z,ACTIVE,2019-03-04)", "RESTATED 2026-05-01T00:00:00Z (2019-03-04,NEVER,ACTIVE,2019-03-04)"},
			"",
		},
		"older SIM moved earlier": {
			"2019-03-04," + limit + ",ACTIVE,", "2019-03-04,2025-03-20,ACTIVE,",
			[]string{"RESTATED 2026-05-01T00:00:00Z (2019-03-04,2025-03-27T00:00:00Z,ACTIVE,2019-03-04)", "RESTATED 2026-05-01T00:00:00Z (2019-03-04,2025-03-20,ACTIVE,2019-03-04)"},
			"",
		},
		"older tenure moved": {
			"2019-03-04,,PARKED,2026-02-01", "2018-03-04,,PARKED,2026-02-01",
			[]string{"RESTATED 2026-05-01T00:00:00Z (2019-03-04,UNKNOWN,PARKED,2026-02-01)", "RESTATED 2026-05-01T00:00:00Z (2018-03-04,UNKNOWN,PARKED,2026-02-01)"},
			"",
		},
		"tenure now known": {
			"UNKNOWN,,ACTIVE,", "2026-01-10,,ACTIVE,",
			[]string{"RESTATED 2026-05-01T00:00:00Z (UNKNOWN,UNKNOWN,ACTIVE,)", "RESTATED 2026-05-01T00:00:00Z (2026-01-10,UNKNOWN,ACTIVE,2026-01-10)"},
			"",
		},
		"SIM never changed": {
			"2019-03-04,UNKNOWN,ACTIVE,", "2019-03-04,NEVER,ACTIVE,",
			[]string{"RESTATED 2026-05-01T00:00:00Z (2019-03-04,UNKNOWN,ACTIVE,2019-03-04)", "RESTATED 2026-05-01T00:00:00Z (2019-03-04,NEVER,ACTIVE,2019-03-04)"},
			"",
		},
		"unknown SIM of the tenure": {
			"2019-03-04,UNKNOWN,ACTIVE,", "2019-03-04,2019-03-04,ACTIVE,",
			[]string{"RESTATED 2026-05-01T00:00:00Z (2019-03-04,UNKNOWN,ACTIVE,2019-03-04)", "RESTATED 2026-05-01T00:00:00Z (2019-03-04,2019-03-04,ACTIVE,2019-03-04)"},
			"",
		},
		"another state": {
			"2019-03-04,,PARKED,2026-02-10", "2019-03-04,,INACTIVE,2026-02-09",
			[]string{"USED 2026-05-01T00:00:00Z", "INACTIVE 2026-05-01T00:00:00Z"},
			"",
		},
		"older tenure and later SIM": {
			"2019-03-04,NEVER,ACTIVE,", "2018-03-04,2026-02-10,ACTIVE,",
			[]string{"RESTATED 2026-05-01T00:00:00Z (2019-03-04,NEVER,ACTIVE,2019-03-04)", "RESTATED 2026-05-01T00:00:00Z (2018-03-04,NEVER,ACTIVE,2019-03-04)", "SIM_CHANGED 2026-02-10"},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newImportEnv(t)
			im := k.secondSnapshot(c.first, c.second)
			want := supply.Counts{Changed: 1, Unchanged: 20}
			if len(c.want) == 0 {
				want = supply.Counts{Unchanged: 21}
			}
			k.wantCounts(im, want)
			k.wantEvents(number(0), c.want...)
			k.wantOpen(number(0))
			k.wantDoubt(number(0), time.Time{})
			row, contested := k.row(number(0)), ""
			if at := max(row.ContestedSIM, row.ContestedTenure); at != line.Never {
				contested = written(at)
			}
			if contested != c.contested {
				t.Errorf("contested is %q, want %q", contested, c.contested)
			}
			k.wantConsistent()
			again := k.compareRuns("MTN", may.AddDate(0, 0, 20), snapshotOf(append(actives(1, 20), number(0)+","+c.second)...))
			k.wantCounts(again, supply.Counts{Unchanged: 21})
		})
	}
}

// A date and a time on that date agree: nothing has changed, and the stored value
// stays.
func TestDatesAgreeWithTimesOnThem(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	values := [][2]string{
		{"2026-02-01,2026-02-10,ACTIVE,", "2026-02-01T11:00:00Z,2026-02-10T11:00:00Z,ACTIVE,"},
		{"2026-02-01,2026-02-10,ACTIVE,", "2026-01-31T23:00:00Z,2026-02-09T23:00:00Z,ACTIVE,"}, // midnight in Lagos
		{"2026-01-01,,QUARANTINED,2026-02-20", "2026-01-01T11:00:00Z,,QUARANTINED,2026-02-20T11:00:00Z"},
		{"2026-01-01,,QUARANTINED,2026-02-20", "2026-01-01,,QUARANTINED,2026-02-20T22:59:59Z"},
	}
	var first, second []string
	for i, v := range values {
		first, second = append(first, number(2*i)+","+v[0], number(2*i+1)+","+v[1]), append(second, number(2*i)+","+v[1], number(2*i+1)+","+v[0])
	}
	k.importFile(asOf(march), snapshotOf(first...))
	k.wantUnchangedLines(func() {
		k.wantCounts(k.compareRuns("MTN", may, snapshotOf(second...)), supply.Counts{Unchanged: int64(len(second))})
	})
}

// The SIM that came with a port or with the tenure is no SIM change, also where only
// its day is known.
func TestSIMOfTheDayOfAPortIsNoChange(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.importFile(asOf(march), snapshotOf(actives(0, 20)...))
	k.port(number(0), "AIRTEL", "2026-04-01T10:00:00Z")
	im := k.compareRuns("AIRTEL", may, snapshotOf(append(airtels(0, 20), number(0)+",2024-02-03,2026-04-01,ACTIVE,")...))
	k.wantCounts(im, supply.Counts{Added: 20, Changed: 1}) // it is now known that the SIM has not changed since
	if r := k.row(number(0)); r.SIM > r.PortAt {
		t.Errorf("the SIM changed %s, after the port of %s", written(r.SIM), written(r.PortAt))
	}
}
