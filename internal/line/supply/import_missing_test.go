package supply_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// changedSince returns the answer whether a line has changed since a date.
func (k *importEnv) changedSince(number string, since time.Time) string {
	k.t.Helper()
	look, err := k.Lines.Lookup(k.t.Context(), k.Pool, k.parse(number), k.clock)
	if err != nil {
		k.t.Fatal(err)
	}
	answer := line.ChangedSince(&look.Facts, look.Policy, since, k.clock)
	words := []string{answer.Changed}
	for _, c := range answer.Changes {
		words = append(words, string(c))
	}
	return strings.Join(words, " ")
}

// wantChangedSince compares the answers for several dates.
func (k *importEnv) wantChangedSince(written string, want map[string]string) {
	k.t.Helper()
	got := map[string]string{}
	for date := range want {
		at, err := time.Parse(time.DateOnly, date)
		if err != nil {
			k.t.Fatal(err)
		}
		got[date] = k.changedSince(written, at)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		k.t.Errorf("changed since (-want +got):\n%s", diff)
	}
}

const inferredEnd = "ENDED 2026-05-01T00:00:00Z INFERRED after 2026-03-01T00:00:00Z"

// The tenure of a number that the next snapshot does not have ended at some time
// between the two. When is not known, and a request that depends on it is not
// answered with a guess.
func TestMissingNumbersEndBetweenTheSnapshots(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.chunk = 3
	rows := actives(0, 40)
	rows[7] = number(7) + ",2024-02-03,,BARRED,2026-02-01"
	rows[8] = number(8) + ",2024-02-03,,QUARANTINED,2026-02-01"
	k.importFile(asOf(march), snapshotOf(rows...))
	k.wantOutcome(operator("MTN"), k.item(number(9), "SIM_CHANGED 2026-04-01"), "APPLIED")
	im := k.compareRuns("MTN", may, snapshotOf(append(append([]string{}, rows[:5]...), rows[10:]...)...))
	k.wantCounts(im, supply.Counts{Unchanged: 35, Ended: 4})
	k.supplyThroughNow("MTN")
	for i := 5; i < 10; i++ {
		if i == 8 { // it was over before
			k.wantEvents(number(8))
			continue
		}
		want := []string{inferredEnd}
		if i == 9 { // it ran when its SIM was changed
			want = []string{"SIM_CHANGED 2026-04-01", "ENDED 2026-05-01T00:00:00Z INFERRED after 2026-04-01"}
		}
		k.wantEvents(number(i), want...)
		k.wantStatus(number(i), "QUARANTINED MTN")
	}
	k.wantChangedSince(number(5), map[string]string{
		"2026-02-28": "yes HOLDER", "2026-03-01": "yes HOLDER", "2026-03-02": "unknown", "2026-04-30": "unknown", "2026-05-01": "no", "2026-05-20": "no",
	})
	k.wantChangedSince(number(11), map[string]string{"2024-02-02": "yes HOLDER SIM", "2024-02-03": "unknown", "2024-02-04": "unknown", "2026-03-02": "no", "2026-05-20": "no"})
	k.wantConsistent()
}

// For a line that was known from events only, the end is after its last event.
func TestMissingNumbersOfTheFirstSnapshot(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.wantOutcome(operator("MTN"), k.item(number(0), "PARKED 2026-01-05"), "APPLIED")
	im := k.compareRuns("MTN", march, snapshotOf(actives(1, 5)...))
	k.wantCounts(im, supply.Counts{Added: 5, Ended: 1})
	k.wantEvents(number(0), "PARKED 2026-01-05", "ENDED 2026-03-01T00:00:00Z INFERRED after 2026-01-05")
	k.supplyThroughNow("MTN")
	k.wantChangedSince(number(0), map[string]string{"2026-01-05": "yes HOLDER", "2026-01-06": "unknown", "2026-02-28": "unknown"})
	k.wantConsistent()
}

// Events after a snapshot's asOf prevail: the tenure of a missing number does not end
// if it began later, or if the operator reported about it later.
func TestMissingNumbersWithLaterEventsDoNotEnd(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		events []string
		status string
		want   []string // after the events
	}{
		"assigned later": {
			[]string{"ENDED 2026-04-01 CHURNED", "ASSIGNED 2026-05-02"}, "RECYCLED MTN", nil,
		},
		"assigned later, without an end before": {
			[]string{"ASSIGNED 2026-05-02"}, "RECYCLED MTN", []string{inferredEnd},
		},
		"assigned in that very second": {[]string{"ASSIGNED 2026-05-01T00:00:00Z"}, "RECYCLED MTN", nil},
		"SIM changed later":            {[]string{"SIM_CHANGED 2026-05-30"}, "SWAPPED MTN", nil},
		"used later":                   {[]string{"USED 2026-05-20"}, "NORMAL MTN", nil},
		"ended and assigned later":     {[]string{"ENDED 2026-05-20 CHURNED", "ASSIGNED 2026-05-20"}, "RECYCLED MTN", nil},
		"ended later":                  {[]string{"ENDED 2026-05-20 SURRENDERED"}, "QUARANTINED MTN", nil},
		"spoken of before": {
			[]string{"USED 2026-04-20"}, "QUARANTINED MTN", []string{inferredEnd},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newImportEnv(t)
			k.importFile(asOf(march), snapshotOf(actives(0, 20)...))
			for _, e := range c.events {
				k.wantOutcome(operator("MTN"), k.item(number(0), e), "APPLIED")
			}
			before := k.events(number(0))
			im := k.compareRuns("MTN", may, snapshotOf(actives(1, 19)...))
			k.wantCounts(im, supply.Counts{Unchanged: 19, Ended: int64(len(c.want))})
			k.wantEvents(number(0), append(before, c.want...)...)
			k.supplyThroughNow("MTN")
			k.wantStatus(number(0), c.status)
			k.wantConsistent()
		})
	}
}

// A flag or an order does not show that the operator still has the line.
func TestMissingNumbersWithEventsOfOthersEnd(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.importFile(asOf(march), snapshotOf(actives(0, 20)...))
	flag := k.item(number(0), "FLAGGED 2026-05-20")
	flag.Level = "HIGH"
	k.wantOutcome(newSupplier(line.Sector, ""), flag, "APPLIED")
	k.wantCounts(k.compareRuns("MTN", may, snapshotOf(actives(1, 19)...)), supply.Counts{Unchanged: 19, Ended: 1})
	k.wantStatus(number(0), "QUARANTINED MTN")
	k.wantConsistent()
}

// A missing number whose announced churn date has come has ended then, and not at
// some time before the snapshot.
func TestMissingNumbersWithAChurnDateHaveEndedThen(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.importFile(asOf(march), snapshotOf(append(actives(1, 20), number(0)+",2024-02-03,,PENDING_CHURN,2026-02-20")...))
	k.wantUnchangedLines(func() {
		k.wantCounts(k.compareRuns("MTN", may, snapshotOf(actives(1, 20)...)), supply.Counts{Unchanged: 20})
	})
	k.wantStatus(number(0), "QUARANTINED MTN")
}

// A row that names a number again after an inferred end reinstates it: the same tenure
// goes on, as the row says.
func TestRowsReinstateAfterAnInferredEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		row  string
		want []string
	}{
		"in use":                {"2024-02-03,,ACTIVE,", []string{"REINSTATED 2026-05-01T00:00:01Z"}},
		"in use since later":    {"2024-02-03,,ACTIVE,2026-05-10", []string{"REINSTATED 2026-05-10"}},
		"parked":                {"2024-02-03,,PARKED,2026-05-10", []string{"REINSTATED 2026-05-10", "PARKED 2026-05-10"}},
		"parked before the end": {"2024-02-03,,PARKED,2026-04-10", []string{"REINSTATED 2026-05-01T00:00:01Z", "PARKED 2026-05-21T00:00:00Z"}},
		"barred":                {"2024-02-03,,BARRED,2026-05-10", []string{"REINSTATED 2026-05-10", "BARRED 2026-05-10 OTHER"}},
		"new SIM":               {"2024-02-03,2026-05-12,ACTIVE,", []string{"REINSTATED 2026-05-01T00:00:01Z", "SIM_CHANGED 2026-05-12"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newImportEnv(t)
			k.importFile(asOf(march), snapshotOf(actives(0, 20)...))
			tenure := k.row(number(0)).Tenure
			k.importFile(asOf(may), snapshotOf(actives(1, 19)...))
			k.wantStatus(number(0), "QUARANTINED MTN")
			next := may.AddDate(0, 0, 20)
			k.wantCounts(k.compareRuns("MTN", next, snapshotOf(append(actives(1, 19), number(0)+","+c.row)...)), supply.Counts{Changed: 1, Unchanged: 19})
			k.wantEvents(number(0), append([]string{inferredEnd}, c.want...)...)
			if r := k.row(number(0)); r.Tenure != tenure || r.EndedAfter != line.Never {
				t.Errorf("the tenure began %s, and ended after %s", written(r.Tenure), written(r.EndedAfter))
			}
			k.wantOpen(number(0))
			k.wantConsistent()
			k.wantCounts(k.compareRuns("MTN", next.AddDate(0, 0, 5), snapshotOf(append(actives(1, 19), number(0)+","+c.row)...)), supply.Counts{Unchanged: 20})
		})
	}
}

// A row about a number after its inferred end that has ended, too, agrees with it if
// its time lies between the two snapshots. Another end is another end.
func TestRowsWithAnEndAfterAnInferredEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		since  string
		counts supply.Counts
		want   []string
	}{
		"between":       {"2026-04-10", supply.Counts{Unchanged: 20}, nil},
		"the first day": {"2026-03-01", supply.Counts{Unchanged: 20}, nil},
		"later": {
			"2026-05-10", supply.Counts{Unchanged: 19, Changed: 1}, []string{"REINSTATED 2026-05-09", "ENDED the start of 2026-05-10 CHURNED"},
		},
		"earlier": {
			"2026-02-10",
			supply.Counts{Unchanged: 19, Changed: 1},
			[]string{"ENDED the start of 2026-02-10 CHURNED"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newImportEnv(t)
			k.importFile(asOf(march), snapshotOf(actives(0, 20)...))
			k.importFile(asOf(may), snapshotOf(actives(1, 19)...))
			im := k.compareRuns("MTN", may.AddDate(0, 0, 20), snapshotOf(append(actives(1, 19), number(0)+",2024-02-03,,QUARANTINED,"+c.since)...))
			k.wantCounts(im, c.counts)
			k.wantEvents(number(0), append([]string{inferredEnd}, c.want...)...)
			k.wantConsistent()
		})
	}
}

// The coverage is not extended before the whole import has been applied.
func TestCoverageIsExtendedOnlyAtTheEnd(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.chunk = 4
	k.importFile(asOf(march), snapshotOf(actives(0, 40)...))
	im := k.create(asOf(may))
	content, reads := snapshotOf(actives(3, 40)...), 0
	before := k.coverage()
	d := k.withClock(func() {
		reads++
		if diff := cmp.Diff(before, k.coverage()); diff != "" && k.count(`SELECT count(*) FROM supply_import WHERE state = 'applied'`) < 2 {
			t.Errorf("the coverage was extended before the end:\n%s", diff)
		}
	})
	im, err := d.Run(t.Context(), im.ID, k.source(content), nil)
	if err == nil && im.State == supply.Held {
		if im, err = d.Confirm(t.Context(), im.ID, console); err == nil {
			im, err = d.Run(t.Context(), im.ID, k.source(content), nil)
		}
	}
	if err != nil || im.State != supply.Finished || reads < 10 {
		t.Fatalf("%s after %d reads, %v", im.State, reads, err)
	}
	want := both(line.Span{KnownSince: march, CompleteSince: march, Through: may})
	if diff := cmp.Diff(want, k.coverage()); diff != "" {
		t.Errorf("coverage (-want +got):\n%s", diff)
	}
}

// Progress is reported, and never more than what is done.
func TestProgressIsReported(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.chunk = 5
	content := snapshotOf(append(actives(0, 20), active(3, "2024-02-03"))...)
	im := k.create(asOf(march))
	var last supply.Import
	open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }
	im, err := k.Run(t.Context(), im.ID, supply.Source{Open: open}.InChunks(5), func(im supply.Import) { last = im })
	if err != nil {
		t.Fatal(err)
	}
	if last.State != supply.Finished || last.Rows != 21 || last.Counts != im.Counts {
		t.Errorf("the last report is %s, %d rows, %+v; the import ended with %+v", last.State, last.Rows, last.Counts, im.Counts)
	}
	k.wantCounts(im, supply.Counts{Added: 20, Duplicates: 1, Refused: 1})
	k.wantRefused(im, "22 number DUPLICATE")
	var n phone.Number
	if rows, err := linestore.RowsAfter(t.Context(), k.Pool, n, 100); err != nil || len(rows) != 20 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

// A number whose row is refused does occur in the file: its tenure does not end, and
// a valid row further down is applied.
func TestRefusedRowsEndNothing(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.chunk = 4
	k.importFile(asOf(march), snapshotOf(actives(0, 40)...))
	rows := actives(0, 40)
	rows[3] = number(3) + ",2024-02-03,,ACTIVE,yesterday"
	rows[5] = number(5) + ",2024-02-03,,ACTIVE,yesterday"
	rows[9] = number(9) + ",2024-02-30,,ACTIVE,"
	rows = append(rows, number(5)+",2024-02-03,,PARKED,2026-04-01")
	im := k.importFile(asOf(may), snapshotOf(rows...))
	k.wantCounts(im, supply.Counts{Unchanged: 37, Changed: 1, Refused: 3})
	k.wantRefused(im, "5 stateSince BAD_FORMAT", "7 stateSince BAD_FORMAT", "11 tenureStart BAD_FORMAT")
	k.wantEvents(number(3))
	k.wantEvents(number(5), "PARKED 2026-04-01")
	k.wantEvents(number(9))
	k.wantConsistent()
}
