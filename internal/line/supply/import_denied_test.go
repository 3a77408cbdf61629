package supply_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/supply"
)

// A row is worth what its operator could send as events: what it says about the state, the bar and the end counts,
// whoever reported the last one. It takes back no SIM and no holder that an event reported.
func TestRowsAreWorthWhatEventsAre(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, second string
		events        []string
		want          []string // after the events
		status        string
	}{
		"an older SIM":                  {first: "2019-03-04,NEVER,ACTIVE,", second: "2019-03-04,2026-03-05,ACTIVE,", events: []string{"SIM_CHANGED 2026-04-05"}, status: "NORMAL MTN"},
		"no SIM change":                 {first: "2019-03-04,NEVER,ACTIVE,", second: "2019-03-04,NEVER,ACTIVE,", events: []string{"SIM_CHANGED 2026-04-05"}, status: "NORMAL MTN"},
		"an older tenure":               {first: "2019-03-04,,ACTIVE,", second: "2026-03-15,,ACTIVE,", events: []string{"ASSIGNED 2026-04-05"}, status: "RECYCLED MTN"},
		"the tenure of the baseline":    {first: "2019-03-04,,ACTIVE,", second: "2019-03-04,,ACTIVE,", events: []string{"ASSIGNED 2026-04-05"}, status: "RECYCLED MTN"},
		"in use, parked":                {first: "2019-03-04,,ACTIVE,", second: "2019-03-04,,ACTIVE,", events: []string{"PARKED 2026-04-05"}, want: []string{"USED 2026-05-01T00:00:00Z"}, status: "NORMAL MTN"},
		"in use before, parked":         {first: "2019-03-04,,ACTIVE,", second: "2019-03-04,,ACTIVE,2026-04-05", events: []string{"PARKED 2026-04-05"}, want: []string{"USED 2026-05-01T00:00:00Z"}, status: "NORMAL MTN"},
		"inactive before, parked":       {first: "2019-03-04,,ACTIVE,", second: "2019-03-04,,INACTIVE,2026-04-04", events: []string{"PARKED 2026-04-05"}, want: []string{"USED 2026-05-01T00:00:00Z", "INACTIVE 2026-05-01T00:00:00Z"}, status: "INACTIVE MTN"},
		"inactive, used":                {first: "2019-03-04,,INACTIVE,2026-02-01", second: "2019-03-04,,INACTIVE,2026-02-01", events: []string{"USED 2026-04-05"}, want: []string{"INACTIVE 2026-05-01T00:00:00Z"}, status: "INACTIVE MTN"},
		"inactive since before the use": {first: "2019-03-04,,ACTIVE,", second: "2019-03-04,,INACTIVE,2026-02-01", events: []string{"USED 2026-04-05"}, want: []string{"INACTIVE 2026-05-01T00:00:00Z"}, status: "INACTIVE MTN"},
		"in use, barred":                {first: "2019-03-04,,ACTIVE,", second: "2019-03-04,,ACTIVE,", events: []string{"BARRED 2026-04-05 FRAUD"}, want: []string{"UNBARRED 2026-05-01T00:00:00Z"}, status: "NORMAL MTN"},
		"barred, unbarred":              {first: "2019-03-04,,BARRED,2026-02-01", second: "2019-03-04,,BARRED,2026-02-01", events: []string{"UNBARRED 2026-04-05"}, want: []string{"BARRED 2026-05-01T00:00:00Z OTHER"}, status: "BARRED MTN"},
		"in use, ended":                 {first: "2019-03-04,,ACTIVE,", second: "2019-03-04,,ACTIVE,", events: []string{"ENDED 2026-04-05 CHURNED"}, want: []string{"REINSTATED 2026-04-04T23:00:01Z"}, status: "NORMAL MTN"},
		"in use before the end":         {first: "2019-03-04,,ACTIVE,", second: "2019-03-04,,ACTIVE,2026-04-04", events: []string{"ENDED 2026-04-05 CHURNED"}, want: []string{"REINSTATED 2026-04-04T23:00:01Z"}, status: "NORMAL MTN"},
		"ended, reinstated":             {first: "2019-03-04,,QUARANTINED,2026-02-01", second: "2019-03-04,,QUARANTINED,2026-02-01", events: []string{"REINSTATED 2026-04-05"}, want: []string{"ENDED 2026-05-01T00:00:00Z CHURNED"}, status: "QUARANTINED MTN"},
		"ended before a SIM change":     {first: "2019-03-04,,ACTIVE,", second: "2019-03-04,,QUARANTINED,2026-04-01", events: []string{"SIM_CHANGED 2026-04-05"}, want: []string{"ENDED the start of 2026-04-01 CHURNED"}, status: "QUARANTINED MTN"},
		"ended before a later use":      {first: "2019-03-04,,ACTIVE,", second: "2019-03-04,,QUARANTINED,2026-04-01", events: []string{"USED 2026-05-20"}, want: []string{"ENDED the start of 2026-04-01 CHURNED"}, status: "QUARANTINED MTN"},
		"of a line known by events":     {second: "2019-03-04,2026-03-05,ACTIVE,", events: []string{"ASSIGNED 2026-03-10", "SIM_CHANGED 2026-04-05"}, status: "RECYCLED MTN"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newImportEnv(t)
			im := k.secondSnapshot(c.first, c.second, c.events...)
			if diff := cmp.Diff(c.want, k.events(number(0))[len(c.events):], cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			want := supply.Counts{NoEffect: 1, Unchanged: 20}
			if len(c.want) > 0 {
				want = supply.Counts{Changed: 1, Unchanged: 20}
			}
			k.wantCounts(im, want)
			k.wantRefused(im)
			k.wantOpen(number(0))
			k.wantDoubt(number(0), time.Time{})
			k.supplyThroughNow("MTN")
			k.wantStatus(number(0), c.status)
			k.wantConsistent()
		})
	}
}

// A row that names a later change lifts what an event or an earlier snapshot said.
func TestRowsThatNameALaterChangeCount(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, second string
		events        []string
		want          []string // after the events
	}{
		"a newer SIM":         {"2019-03-04,NEVER,ACTIVE,", "2019-03-04,2026-04-06,ACTIVE,", []string{"SIM_CHANGED 2026-04-05"}, []string{"SIM_CHANGED 2026-04-06"}},
		"a newer tenure":      {"2019-03-04,,ACTIVE,", "2026-04-06,,ACTIVE,", []string{"ASSIGNED 2026-04-05"}, []string{"ASSIGNED 2026-04-06"}},
		"in use after parked": {"2019-03-04,,ACTIVE,", "2019-03-04,,ACTIVE,2026-04-06", []string{"PARKED 2026-04-05"}, []string{"USED 2026-04-06"}},
		"inactive after parked": {
			"2019-03-04,,ACTIVE,", "2019-03-04,,INACTIVE,2026-04-06", []string{"PARKED 2026-04-05"}, []string{"USED 2026-04-06", "INACTIVE 2026-04-06"},
		},
		"inactive after used": {"2019-03-04,,INACTIVE,2026-02-01", "2019-03-04,,INACTIVE,2026-04-06", []string{"USED 2026-04-05"}, []string{"INACTIVE 2026-04-06"}},
		"in use after barred": {"2019-03-04,,ACTIVE,", "2019-03-04,,ACTIVE,2026-04-06", []string{"BARRED 2026-04-05 FRAUD"}, []string{"UNBARRED 2026-04-06"}},
		"barred again":        {"2019-03-04,,BARRED,2026-02-01", "2019-03-04,,BARRED,2026-04-06", []string{"UNBARRED 2026-04-05"}, []string{"BARRED 2026-04-06 OTHER"}},
		"in use after ended":  {"2019-03-04,,ACTIVE,", "2019-03-04,,ACTIVE,2026-04-06", []string{"ENDED 2026-04-05 CHURNED"}, []string{"REINSTATED 2026-04-06"}},
		"ended again later": {
			"2019-03-04,,ACTIVE,", "2019-03-04,,QUARANTINED,2026-04-09",
			[]string{"ENDED 2026-04-02 SURRENDERED"},
			[]string{"REINSTATED 2026-04-08", "ENDED the start of 2026-04-09 CHURNED"},
		},
		"ended after all that was reported": {
			"2019-03-04,,ACTIVE,", "2019-03-04,,QUARANTINED,2026-04-06", []string{"SIM_CHANGED 2026-04-05"}, []string{"ENDED the start of 2026-04-06 CHURNED"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newImportEnv(t)
			im := k.secondSnapshot(c.first, c.second, c.events...)
			k.wantCounts(im, supply.Counts{Changed: 1, Unchanged: 20})
			if diff := cmp.Diff(c.want, k.events(number(0))[len(c.events):]); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			k.wantOpen(number(0))
			k.wantDoubt(number(0), time.Time{})
			k.wantConsistent()
			again := k.compareRuns("MTN", may.AddDate(0, 0, 20), snapshotOf(append(actives(1, 20), number(0)+","+c.second)...))
			k.wantCounts(again, supply.Counts{Unchanged: 21})
		})
	}
}

// What the operator reported by events is not reported again by its snapshot, and
// events after the snapshot prevail.
func TestSnapshotAgreesWithEvents(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, second string
		events        []string
		status        string
		want          []string // after the events
	}{
		"a change that was reported already": {
			"2019-03-04,NEVER,ACTIVE,", "2019-03-04,2026-04-05,PARKED,2026-04-01", []string{"PARKED 2026-04-01", "SIM_CHANGED 2026-04-05T11:00:00Z"}, "PARKED MTN", nil,
		},
		"a bar that was reported": {"2019-03-04,,ACTIVE,", "2019-03-04,,BARRED,2026-04-01", []string{"BARRED 2026-04-02 FRAUD"}, "BARRED MTN", nil},
		"a bar on an inactive line": {
			"2019-03-04,,ACTIVE,", "2019-03-04,,BARRED,2026-04-02", []string{"BARRED 2026-04-02 FRAUD", "INACTIVE 2026-04-10"}, "BARRED MTN", nil,
		},
		"an inactive line with a bar": {
			"2019-03-04,,ACTIVE,", "2019-03-04,,INACTIVE,2026-04-10", []string{"BARRED 2026-04-02 FRAUD", "INACTIVE 2026-04-10"}, "BARRED MTN", nil,
		},
		"an end that was reported":          {"2019-03-04,,ACTIVE,", "2019-03-04,,QUARANTINED,2026-04-02", []string{"ENDED 2026-04-02T11:00:00Z CHURNED"}, "QUARANTINED MTN", nil},
		"an end that began earlier":         {"2019-03-04,,ACTIVE,", "2019-03-04,,QUARANTINED,2026-04-01", []string{"ENDED 2026-04-02 CHURNED"}, "QUARANTINED MTN", []string{"ENDED the start of 2026-04-01 CHURNED"}},
		"an event after the snapshot":       {"2019-03-04,,ACTIVE,", "2019-03-04,,INACTIVE,2026-04-01", []string{"USED 2026-05-20"}, "NORMAL MTN", []string{"INACTIVE 2026-04-01"}},
		"a SIM change after the snapshot":   {"2019-03-04,NEVER,ACTIVE,", "2019-03-04,NEVER,ACTIVE,", []string{"SIM_CHANGED 2026-05-30"}, "SWAPPED MTN", nil},
		"a new holder that is only in them": {"", "2026-04-10,,ACTIVE,", []string{"ASSIGNED 2026-04-10T11:00:00Z"}, "RECYCLED MTN", nil},
		"changed in the second of the snapshot": {
			"2019-03-04,,ACTIVE,", "2019-03-04,,PARKED,2026-05-01", []string{"INACTIVE 2026-04-30T23:59:59Z"}, "PARKED MTN", []string{"PARKED 2026-05-01T00:00:00Z"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newImportEnv(t)
			im := k.secondSnapshot(c.first, c.second, c.events...)
			if diff := cmp.Diff(c.want, k.events(number(0))[len(c.events):], cmp.Transformer("", func(s []string) []string { return append([]string{}, s...) })); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			k.wantCounts(im, supply.Counts{Unchanged: 21 - min(int64(len(c.want)), 1), Changed: min(int64(len(c.want)), 1)})
			k.supplyThroughNow("MTN")
			k.wantStatus(number(0), c.status)
			k.wantConsistent()
		})
	}
}

// The first snapshot that has a number is its baseline, also where events made the
// number known before: nothing in it is late.
func TestFirstSnapshotIsNeverLate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		row, sim string
		events   []string
	}{
		"no events":                   {"2019-03-04,2026-02-25,ACTIVE,", "2026-02-25", nil},
		"events of unknown start":     {"2019-03-04,2026-02-25,PARKED,2026-02-10", "2026-02-25", []string{"PARKED 2026-02-10"}},
		"events of a tenure":          {"2026-01-05,2026-02-25,ACTIVE,", "2026-02-25", []string{"ASSIGNED 2026-01-05"}},
		"an event after the snapshot": {"2019-03-04,2026-02-25,ACTIVE,", "2026-02-25", []string{"PARKED 2026-03-20"}},
		"a bar of long ago":           {"2026-01-05,2026-02-25,BARRED,2026-01-10", "2026-02-25", []string{"ASSIGNED 2026-01-05"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newImportEnv(t)
			for _, e := range c.events {
				k.wantOutcome(operator("MTN"), k.item(number(0), e), "APPLIED")
			}
			k.compareRuns("MTN", march, snapshotOf(append(actives(1, 20), number(0)+","+c.row)...))
			if r := k.row(number(0)); written(r.SIM) != c.sim {
				t.Errorf("the SIM changed %s", written(r.SIM))
			}
			if late := k.count(`SELECT coalesce(sum(late), 0) FROM supply_day`); late != 0 {
				t.Errorf("%d changes are counted as late", late)
			}
			k.wantDoubt(number(0), time.Time{})
			k.wantConsistent()
		})
	}
}

// An event that is reported after a snapshot and took effect before its asOf counts
// if it adds a change, a bar or an end, or if it comes from the regulator. One that
// lifts what the snapshot still shows is held as a conflict.
func TestEventsBeforeANewerSnapshot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ row, event, want string }{
		"adds a SIM change":    {"2019-03-04,NEVER,ACTIVE,", "SIM_CHANGED 2026-04-20", "APPLIED"},
		"adds a bar":           {"2019-03-04,NEVER,ACTIVE,", "BARRED 2026-04-20 DEBT", "APPLIED"},
		"adds an end":          {"2019-03-04,NEVER,ACTIVE,", "ENDED 2026-04-20 CHURNED", "APPLIED"},
		"adds a holder":        {"2019-03-04,NEVER,ACTIVE,", "ASSIGNED 2026-04-20", "APPLIED"},
		"parks":                {"2019-03-04,NEVER,ACTIVE,", "PARKED 2026-04-20", "APPLIED"},
		"lifts a bar":          {"2019-03-04,NEVER,BARRED,2026-04-10", "UNBARRED 2026-04-20", "WAITING TOO_OLD"},
		"lifts a state":        {"2019-03-04,NEVER,PARKED,2026-04-10", "USED 2026-04-20", "WAITING TOO_OLD"},
		"lifts inactivity":     {"2019-03-04,NEVER,INACTIVE,2026-04-10", "USED 2026-04-20", "WAITING TOO_OLD"},
		"lifts an end":         {"2019-03-04,NEVER,QUARANTINED,2026-04-10", "REINSTATED 2026-04-20", "WAITING TOO_OLD"},
		"lifts it after asOf":  {"2019-03-04,NEVER,BARRED,2026-04-10", "UNBARRED 2026-05-02", "APPLIED"},
		"lifts another's line": {"", "UNBARRED 2026-04-20", "APPLIED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newImportEnv(t)
			rows := actives(1, 20)
			if c.row != "" {
				rows = append(rows, number(0)+","+c.row)
			}
			k.importFile(asOf(may), snapshotOf(rows...))
			before := k.row(number(0))
			later, who := may.AddDate(0, 0, 5), operator("MTN")
			k.atTime(later, func() {
				if c.row == "" {
					who = operator("AIRTEL")
					k.wantLate(who, k.item(airtel(0), "BARRED 2026-04-10 DEBT"), "APPLIED")
					k.wantLate(who, k.item(airtel(0), c.event), c.want)
					return
				}
				k.wantLate(who, k.item(number(0), c.event), c.want)
			})
			if c.want == "APPLIED" {
				if c.row != "" {
					k.wantDoubt(number(0), time.Time{})
				}
				return
			}
			after := k.row(number(0))
			if after.State != before.State || after.BarAt != before.BarAt {
				t.Errorf("what is held has changed the line: %+v", after)
			}
			if before.State != line.StateEnded {
				k.wantDoubt(number(0), later)
			}
			k.wantConsistent()
		})
	}
}

// A new holder that a row names while a flag is in force waits, with all of the row.
func TestNewHolderOfAFlaggedLineWaits(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.importFile(asOf(march), snapshotOf(actives(0, 20)...))
	flag := k.item(number(0), "FLAGGED 2026-03-20")
	flag.Level = "HIGH"
	k.wantOutcome(newSupplier(line.Sector, ""), flag, "APPLIED")
	rows := append(actives(1, 19), number(0)+",2026-04-10,2026-04-12,BARRED,2026-04-13")
	im := k.compareRuns("MTN", may, snapshotOf(rows...))
	k.wantCounts(im, supply.Counts{Waiting: 1, Unchanged: 19})
	k.wantEvents(number(0), "FLAGGED 2026-03-20 HIGH", "ASSIGNED 2026-04-10 held EARLY")
	k.wantDoubt(number(0), reported)
	k.wantStatus(number(0), "FLAGGED MTN")
	// The next file repeats it, and nothing more waits.
	next := may.AddDate(0, 0, 20)
	k.wantCounts(k.compareRuns("MTN", next, snapshotOf(rows...)), supply.Counts{Waiting: 1, Unchanged: 19})
	k.wantOpen(number(0), "ASSIGNED WAITING EARLY MTN")
	k.decide(number(0), "CONFIRM", line.Assign)
	k.wantStatus(number(0), "RECYCLED MTN")
	// What else the row says comes with the file after that.
	k.wantCounts(k.compareRuns("MTN", next.AddDate(0, 0, 5), snapshotOf(rows...)), supply.Counts{Changed: 1, Unchanged: 19})
	k.wantStatus(number(0), "BARRED MTN")
	k.wantConsistent()
}

// A blacklisted number gets no new tenure by a snapshot either: the row is refused.
func TestNewHolderOfABlacklistedNumberIsRefused(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.importFile(asOf(march), snapshotOf(actives(0, 20)...))
	black := k.item(number(0), "BLACKLISTED 2026-03-20")
	k.wantOutcome(newSupplier(line.Regulator, ""), black, "APPLIED")
	im := k.compareRuns("MTN", may, snapshotOf(append(actives(1, 19), number(0)+",2026-04-10,,ACTIVE,")...))
	k.wantCounts(im, supply.Counts{Unchanged: 19, Refused: 1})
	k.wantRefused(im, "21 tenureStart BLACKLISTED")
	k.wantEvents(number(0), "BLACKLISTED 2026-03-20")
	k.wantStatus(number(0), "BLACKLISTED MTN")
	k.wantConsistent()
}
