package supply_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// A SIM change that a later snapshot adds, or moves later, counts from its report. One
// of which the first snapshot knew nothing is not counted against the operator.
func TestRestatementThatAddsAChangeIsLate(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]string{"added": "NEVER", "not known before": "UNKNOWN", "moved later": "2026-01-05"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newImportEnv(t)
			im := k.secondSnapshot("2019-03-04,"+first+",ACTIVE,", "2019-03-04,2026-02-10T09:00:00Z,ACTIVE,")
			k.wantCounts(im, supply.Counts{Changed: 1, Unchanged: 20})
			wantLate, wantEvents := 1, []string{"SIM_CHANGED 2026-02-10T09:00:00Z"}
			if first == "UNKNOWN" {
				wantLate = 0
				wantEvents = []string{"NAMED 2026-05-01T00:00:00Z", "RESTATED 2026-05-01T00:00:00Z (2019-03-04,2026-02-10T09:00:00Z,ACTIVE,2019-03-04)"}
			}
			k.wantEvents(number(0), wantEvents...)
			r := k.row(number(0))
			if written(r.SIM) != "2026-02-10T09:00:00Z" || r.SIMWindow != line.InstantOf(reported) {
				t.Errorf("the SIM changed %s, and its window runs from %s", written(r.SIM), written(r.SIMWindow))
			}
			if late := k.count(`SELECT coalesce(sum(late), 0)::bigint FROM supply_day WHERE kind = $1`, int16(line.ChangeSIM)); late != wantLate {
				t.Errorf("%d changes are counted as late, want %d", late, wantLate)
			}
			k.atTime(reported.AddDate(0, 0, 9), func() { k.wantStatus(number(0), "SWAPPED MTN") })
			k.wantDoubt(number(0), time.Time{})
			k.wantConsistent()
		})
	}
}

// restatements are rows of two snapshots of which the second takes something away or
// moves it earlier, and how the second is stored.
var restatements = map[string]struct{ first, second, restated string }{
	"SIM taken away":      {"2019-03-04,2026-02-10,ACTIVE,", "2019-03-04,NEVER,ACTIVE,", "(2019-03-04,NEVER,ACTIVE,2019-03-04)"},
	"SIM moved earlier":   {"2019-03-04,2026-02-10,ACTIVE,", "2019-03-04,2026-02-09,ACTIVE,", "(2019-03-04,2026-02-09,ACTIVE,2019-03-04)"},
	"SIM of the tenure":   {"2019-03-04,2026-02-10,ACTIVE,", "2019-03-04,2019-03-04,ACTIVE,", "(2019-03-04,2019-03-04,ACTIVE,2019-03-04)"},
	"tenure moved":        {"2026-01-10,,ACTIVE,", "2026-01-09,,ACTIVE,", "(2026-01-09,UNKNOWN,ACTIVE,2026-01-09)"},
	"end taken away":      {"2019-03-04,,QUARANTINED,2026-02-10", "2019-03-04,,ACTIVE,", "(2019-03-04,UNKNOWN,ACTIVE,2019-03-04)"},
	"end lifted too soon": {"2019-03-04,,QUARANTINED,2026-02-10", "2019-03-04,,ACTIVE,2026-02-20", "(2019-03-04,UNKNOWN,ACTIVE,2026-02-20)"},
	"end moved earlier":   {"2019-03-04,,QUARANTINED,2026-02-10", "2019-03-04,,QUARANTINED,2026-02-09", "(2019-03-04,UNKNOWN,QUARANTINED,the start of 2026-02-09)"},
	"with a later change": {"2026-01-10,,ACTIVE,", "2026-01-09,2026-04-05,ACTIVE,", "(2026-01-09,2026-04-05,ACTIVE,2026-01-09)"},
}

// A restatement that takes away a change of the last 400 days, or moves it earlier,
// is held for that line. The line is as before, and in doubt if it runs.
func TestRestatementThatTakesAwayARecentChangeIsHeld(t *testing.T) {
	t.Parallel()
	for name, c := range restatements {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newImportEnv(t)
			k.importFile(asOf(march), snapshotOf(append(actives(1, 20), number(0)+","+c.first)...))
			before := k.row(number(0))
			im := k.compareRuns("MTN", may, snapshotOf(append(actives(1, 20), number(0)+","+c.second)...))
			k.wantCounts(im, supply.Counts{Waiting: 1, Unchanged: 20})
			k.wantEvents(number(0), "NAMED 2026-05-01T00:00:00Z", "RESTATED 2026-05-01T00:00:00Z held RESTATED "+c.restated)
			k.wantOpen(number(0), "RESTATED WAITING RESTATED MTN")
			after := k.row(number(0))
			if before.State != line.StateEnded {
				k.wantDoubt(number(0), reported)
				after.DoubtAt = line.Never
			}
			after.Version = before.Version
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("what is held has changed the row:\n%s", diff)
			}
			k.wantConsistent()
		})
	}
}

// Staff confirm a restatement that is held, or void it. The next file that agrees with
// what is known ends the doubt, too, and one that repeats the restatement does not
// repeat the conflict.
func TestHeldRestatementsAreDecided(t *testing.T) {
	t.Parallel()
	june := may.AddDate(0, 0, 30)
	for name, c := range map[string]struct {
		decide func(k *importEnv)
		sim    string
		doubt  time.Time
		open   []string
	}{
		"confirmed": {func(k *importEnv) { k.decide(number(0), "CONFIRM", line.Restate) }, "", time.Time{}, nil},
		"voided":    {func(k *importEnv) { k.decide(number(0), "VOID", line.Restate) }, "2026-02-10", time.Time{}, nil},
		"a file that agrees": {func(k *importEnv) {
			im := k.compareRuns("MTN", june, snapshotOf(append(actives(1, 20), number(0)+",2019-03-04,2026-02-10,ACTIVE,")...))
			k.wantCounts(im, supply.Counts{Unchanged: 21})
		}, "2026-02-10", time.Time{}, []string{"RESTATED WAITING RESTATED MTN"}},
		"the same again": {func(k *importEnv) {
			im := k.compareRuns("MTN", june, snapshotOf(append(actives(1, 20), number(0)+",2019-03-04,NEVER,ACTIVE,")...))
			k.wantCounts(im, supply.Counts{Waiting: 1, Unchanged: 20})
		}, "2026-02-10", reported, []string{"RESTATED WAITING RESTATED MTN"}},
		"the same again after a file that agrees": {func(k *importEnv) {
			k.importFile(asOf(june.AddDate(0, 0, -1)), snapshotOf(append(actives(1, 20), number(0)+",2019-03-04,2026-02-10,ACTIVE,")...))
			k.importFile(asOf(june), snapshotOf(append(actives(1, 20), number(0)+",2019-03-04,NEVER,ACTIVE,")...))
		}, "2026-02-10", june.Add(time.Hour), []string{"RESTATED WAITING RESTATED MTN", "RESTATED WAITING RESTATED MTN"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newImportEnv(t)
			k.secondSnapshot("2019-03-04,2026-02-10,ACTIVE,", "2019-03-04,NEVER,ACTIVE,")
			k.wantDoubt(number(0), reported)
			c.decide(k)
			if r := k.row(number(0)); c.sim == "" && r.SIM != line.Never || c.sim != "" && written(r.SIM) != c.sim {
				t.Errorf("the SIM changed %s, want %s", written(r.SIM), c.sim)
			}
			k.wantDoubt(number(0), c.doubt)
			k.wantOpen(number(0), c.open...)
			k.wantConsistent()
		})
	}
}

// A line in doubt because of its network's restatement is UNKNOWN and not NORMAL, and
// changedSince is unknown and not no.
func TestHeldRestatementHidesNormal(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.secondSnapshot("2019-03-04,2026-02-10,ACTIVE,", "2019-03-04,2026-02-09,ACTIVE,")
	k.supplyThroughNow("MTN")
	k.wantStatus(number(0), "UNKNOWN DISPUTED MTN")
	k.wantStatus(number(1), "NORMAL MTN")
	k.wantChangedSince(number(0), map[string]string{"2026-02-01": "yes SIM", "2026-05-20": "unknown"})
	k.wantChangedSince(number(1), map[string]string{"2026-05-20": "no"})
}

// What a restatement takes away after 400 days, or what is no change of the holder or
// of the SIM, it replaces at once. Nothing in it is late.
func TestOlderChangesAreRestated(t *testing.T) {
	t.Parallel()
	const limit = "2025-03-27T00:00:00Z" // 400 days before the second snapshot
	for name, c := range map[string]struct{ first, second, restated string }{
		"SIM taken away":      {"2019-03-04," + limit + ",ACTIVE,", "2019-03-04,NEVER,ACTIVE,", "(2019-03-04,NEVER,ACTIVE,2019-03-04)"},
		"SIM moved earlier":   {"2019-03-04," + limit + ",ACTIVE,", "2019-03-04,2025-03-20,ACTIVE,", "(2019-03-04,2025-03-20,ACTIVE,2019-03-04)"},
		"tenure moved":        {"2019-03-04,,PARKED,2026-02-01", "2018-03-04,,PARKED,2026-02-01", "(2018-03-04,UNKNOWN,PARKED,2026-02-01)"},
		"tenure now known":    {"UNKNOWN,,ACTIVE,", "2026-01-10,,ACTIVE,", "(2026-01-10,UNKNOWN,ACTIVE,2026-01-10)"},
		"SIM never changed":   {"2019-03-04,UNKNOWN,ACTIVE,", "2019-03-04,NEVER,ACTIVE,", "(2019-03-04,NEVER,ACTIVE,2019-03-04)"},
		"SIM of the tenure":   {"2019-03-04,UNKNOWN,ACTIVE,", "2019-03-04,2019-03-04,ACTIVE,", "(2019-03-04,2019-03-04,ACTIVE,2019-03-04)"},
		"end taken away":      {"2019-03-04,,QUARANTINED," + limit, "2019-03-04,,ACTIVE,", "(2019-03-04,UNKNOWN,ACTIVE,2019-03-04)"},
		"end moved earlier":   {"2019-03-04,,QUARANTINED," + limit, "2019-03-04,,QUARANTINED,2025-03-20", "(2019-03-04,UNKNOWN,QUARANTINED,the start of 2025-03-20)"},
		"end moved later":     {"2019-03-04,,QUARANTINED,2026-02-10", "2019-03-04,,QUARANTINED,2026-02-12", "(2019-03-04,UNKNOWN,QUARANTINED,the start of 2026-02-12)"},
		"another state":       {"2019-03-04,,PARKED,2026-02-10", "2019-03-04,,INACTIVE,2026-02-09", "(2019-03-04,UNKNOWN,INACTIVE,2026-02-09)"},
		"tenure and SIM late": {"2019-03-04,NEVER,ACTIVE,", "2018-03-04,2026-02-10,ACTIVE,", "(2018-03-04,NEVER,ACTIVE,2019-03-04)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newImportEnv(t)
			im := k.secondSnapshot(c.first, c.second)
			k.wantCounts(im, supply.Counts{Changed: 1, Unchanged: 20})
			want := []string{"NAMED 2026-05-01T00:00:00Z", "RESTATED 2026-05-01T00:00:00Z " + c.restated}
			if name == "tenure and SIM late" {
				want = append(want, "SIM_CHANGED 2026-02-10")
			}
			k.wantEvents(number(0), want...)
			k.wantOpen(number(0))
			k.wantDoubt(number(0), time.Time{})
			k.wantConsistent()
			again := k.compareRuns("MTN", may.AddDate(0, 0, 20), snapshotOf(append(actives(1, 20), number(0)+","+c.second)...))
			k.wantCounts(again, supply.Counts{Unchanged: 21})
		})
	}
}

// One second decides whether a change is of the last 400 days.
func TestRestatementLimitIs400Days(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	im := k.secondSnapshot("2019-03-04,2025-03-27T00:00:01Z,ACTIVE,", "2019-03-04,NEVER,ACTIVE,")
	k.wantCounts(im, supply.Counts{Waiting: 1, Unchanged: 20})
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
