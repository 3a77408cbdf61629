package supply_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/supply"
)

// Each event is accepted or refused on its own, and the results are in the order of
// the events.
func TestResultsAreInTheOrderOfTheEvents(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	mtn := operator("MTN")
	item := func(id, number, kind string, days int) supply.Item {
		return supply.Item{ID: id, PhoneNumber: number, Type: kind, EffectiveAt: s.ago(days)}
	}
	future := item("h", number(2), "USED", -1)
	list := []supply.Item{
		item("a", number(1), "ASSIGNED", 300),
		item("b", "0700", "ASSIGNED", 300),
		item("c", number(2), "SOLD", 300),
		item("d", "+2348020000001", "ASSIGNED", 300), // Airtel's
		item("a", number(1), "ASSIGNED", 300),
		item("a", number(1), "ASSIGNED", 299),
		item("e", number(1), "SIM_CHANGED", 2),
		item("", number(2), "ASSIGNED", 300),
		item("f", number(2), "FLAGGED", 3),
		item("g", number(2), "RETURNED", 3),
		future,
		item("i", number(2), "PARKED", 2),
		item("j", number(2), "INACTIVE", 1),
	}
	want := []string{
		"APPLIED", "REFUSED BAD_FORMAT", "REFUSED BAD_VALUE", "REFUSED NOT_YOURS", "DUPLICATE", "REFUSED ID_REUSED", "APPLIED", "REFUSED BAD_FORMAT",
		"REFUSED NOT_ALLOWED", "APPLIED", "REFUSED FUTURE", "APPLIED", "NO_EFFECT STATE",
	}
	if diff := cmp.Diff(want, s.report(mtn, list...)); diff != "" {
		t.Error(diff)
	}
	got, err := s.ApplyEvents(t.Context(), mtn, list, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range got.Results {
		if r.ID != list[i].ID {
			t.Errorf("result %d is of %q, want %q", i, r.ID, list[i].ID)
		}
		if (r.Outcome == supply.Refused) != (r.Field != "" && r.Message != "") {
			t.Errorf("result %d: %+v", i, r)
		}
	}
	if n := s.count(`SELECT count(*) FROM line_event`); n != 5 {
		t.Errorf("%d events were stored, want 5", n)
	}
	s.supplyThroughNow("MTN")
	s.wantStatus(number(1), "SWAPPED MTN")
	s.wantStatus(number(2), "PARKED MTN")
}

// A call that is sent again changes nothing. An id belongs to one supplier and one
// number: another supplier, or another number, may use it again.
func TestEventSentTwiceIsAppliedOnce(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	first := s.event(number(1), "SIM_CHANGED", 3)
	s.wantOutcome(operator("MTN"), first, "APPLIED")
	before := s.row(number(1))
	s.wantOutcome(operator("MTN"), first, "DUPLICATE") // another client of the same network
	if diff := cmp.Diff(before, s.row(number(1))); diff != "" {
		t.Errorf("sent again it changes the row:\n%s", diff)
	}
	other := first
	other.EffectiveAt = s.ago(2)
	s.wantOutcome(operator("MTN"), other, "REFUSED ID_REUSED")
	other = first
	other.Type = "USED"
	s.wantOutcome(operator("MTN"), other, "REFUSED ID_REUSED")

	elsewhere := first
	elsewhere.PhoneNumber = number(2)
	s.wantOutcome(operator("MTN"), elsewhere, "APPLIED")
	flag := first
	flag.Type, flag.Level = "FLAGGED", "HIGH"
	s.wantOutcome(newSupplier(line.Sector, ""), flag, "APPLIED")
	s.wantOutcome(newSupplier(line.Sector, ""), flag, "APPLIED") // another sector regulator is another supplier
	if n := s.count(`SELECT count(*) FROM line_event`); n != 4 {
		t.Errorf("%d events, want 4", n)
	}
}

// The line is the same in whatever order its events arrive.
func TestOrderOfArrivalDoesNotMatter(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	end := s.event("", "ENDED", 200)
	end.Reason = "CHURNED"
	life := []supply.Item{s.event("", "ASSIGNED", 900), s.event("", "SIM_CHANGED", 400), end, s.event("", "ASSIGNED", 100), s.event("", "PARKED", 5)}
	orders := permutations(len(life))
	for step := range life {
		var call []supply.Item
		for i, order := range orders {
			item := life[order[step]]
			item.PhoneNumber = number(i)
			call = append(call, item)
		}
		for i, word := range s.report(operator("MTN"), call...) {
			if word != supply.Applied && word != "NO_EFFECT STATE" {
				t.Fatalf("event %d of the order %v: %s", step, orders[i], word)
			}
		}
	}
	s.supplyThroughNow("MTN")
	s.wantStatus(number(0), "PARKED MTN")
	want := s.row(number(0))
	if want.Tenure.Time() != s.clock.AddDate(0, 0, -100) || want.SIM != line.Never || want.Version != 5 {
		t.Errorf("the row is %+v", want)
	}
	for i, order := range orders {
		if diff := cmp.Diff(want, s.row(number(i))); diff != "" {
			t.Errorf("reported in the order %v:\n%s", order, diff)
		}
	}
}

func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, p := range permutations(n - 1) {
		for i := range n {
			all = append(all, slices.Insert(slices.Clone(p), i, n-1))
		}
	}
	return all
}

// Two suppliers that report about the same numbers at once lose no event and do not
// block each other: a call that gets an error is sent again, and is applied once.
func TestConcurrentCallsLoseNothing(t *testing.T) {
	t.Parallel()
	const numbers, calls = 20, 15
	s := newEnv(t)
	tell := func(caller, call int) {
		var list []supply.Item
		for i := range numbers {
			list = append(list, supply.Item{
				ID: fmt.Sprintf("%d-%d", caller, call), PhoneNumber: number(i), Type: "SIM_CHANGED",
				EffectiveAt: s.clock.Add(-time.Duration(2*call+caller) * time.Hour).Format(time.RFC3339),
			})
		}
		if caller == 1 {
			slices.Reverse(list)
		}
		got, err := s.ApplyEvents(t.Context(), operator("MTN"), list, time.Time{})
		for fault.CodeOf(err) == fault.Unavailable {
			got, err = s.ApplyEvents(t.Context(), operator("MTN"), list, time.Time{})
		}
		if err != nil {
			t.Error(err)
		}
		for _, r := range got.Results {
			if r.Outcome != supply.Applied {
				t.Errorf("an event is %s %s", r.Outcome, r.Reason)
			}
		}
	}
	for call := range calls { // in each round both begin together
		var wait sync.WaitGroup
		for caller := range 2 {
			wait.Go(func() { tell(caller, call) })
		}
		wait.Wait()
	}
	if n := s.count(`SELECT count(*) FROM line_event`); n != 2*calls*numbers {
		t.Errorf("%d events were stored, want %d", n, 2*calls*numbers)
	}
	if n := s.count(`SELECT accepted FROM supply_day WHERE kind = 2`); n != 2*calls*numbers {
		t.Errorf("%d events are in the daily counts, want %d", n, 2*calls*numbers)
	}
	if n := s.count(`SELECT lines FROM supply_coverage`); n != numbers {
		t.Errorf("%d lines are counted, want %d", n, numbers)
	}
	for i := range numbers {
		n := s.parse(number(i))
		histories, err := line.Histories(t.Context(), s.Pool, []phone.Number{n}, nil)
		if err != nil {
			t.Fatal(err)
		}
		row := s.row(number(i))
		if diff := cmp.Diff(histories[n].Row(), row); diff != "" || row.Version != 2*calls || row.SIM != line.InstantOf(s.clock) {
			t.Errorf("version %d; replayed (-) and stored (+):\n%s", row.Version, diff)
		}
	}
}

// A report without events extends the coverage like any other.
func TestEmptyReportExtendsTheCoverage(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	mtn := operator("MTN")
	s.wantOutcome(mtn, s.event(number(1), "USED", 20), "APPLIED")
	s.wantStatus(number(1), "UNKNOWN NO_SUPPLY MTN") // one event does not say that there were no others
	through := s.clock.Add(-time.Hour)
	got, err := s.ApplyEvents(t.Context(), mtn, nil, through)
	if err != nil || !got.SuppliedThrough.Equal(through) || len(got.Results) != 0 {
		t.Fatalf("the receipt is %+v, %v", got, err)
	}
	s.wantStatus(number(1), "NORMAL MTN")
	if got, err = s.ApplyEvents(t.Context(), mtn, nil, through.AddDate(0, 0, -5)); err != nil || !got.SuppliedThrough.Equal(through) {
		t.Errorf("an older report moves it back to %v, %v", got.SuppliedThrough, err)
	}
	for name, tc := range map[string]struct {
		who     supply.Supplier
		items   []supply.Item
		through time.Time
		want    fault.Code
	}{
		"the future":           {mtn, nil, s.clock.Add(time.Hour), fault.InvalidArgument},
		"not an operator":      {newSupplier(line.Sector, ""), nil, s.clock, fault.InvalidArgument},
		"nothing at all":       {mtn, nil, time.Time{}, fault.InvalidArgument},
		"too many":             {mtn, make([]supply.Item, supply.MaxEvents+1), time.Time{}, fault.InvalidArgument},
		"a network nobody has": {operator("NOBODY"), nil, s.clock, fault.IncompatibleState},
	} {
		if _, err := s.ApplyEvents(t.Context(), tc.who, tc.items, tc.through); fault.CodeOf(err) != tc.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := s.count(`SELECT count(*) FROM supply_coverage`); n != 1 {
		t.Errorf("%d networks have supplied, want 1", n)
	}
}

// When an operator stops reporting, its lines become UNKNOWN by the passing of time
// alone, and known warnings about a line stay.
func TestSilentNetworkHasStaleLinesAndKeepsWarnings(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	mtn := operator("MTN")
	bar, flag, notice, end := s.event(number(2), "BARRED", 1), s.event(number(3), "FLAGGED", 1), s.event(number(4), "CHURN_NOTICE", 1), s.event(number(5), "ENDED", 1)
	bar.Reason, flag.Level, notice.ChurnAt, end.Reason = "NIN", "HIGH", s.ago(-60), "SURRENDERED"
	s.report(mtn, s.event(number(1), "ASSIGNED", 400), bar, notice, end, s.event(number(6), "PARKED", 1), s.event(number(7), "INACTIVE", 1),
		s.event(number(8), "SIM_CHANGED", 1), s.event(number(3), "USED", 2))
	s.report(newSupplier(line.Sector, ""), flag)
	s.supplyThroughNow("MTN")
	// A complete snapshot of MTN was once applied.
	if _, err := s.Pool.Exec(t.Context(), `UPDATE supply_coverage SET complete_since = $1`, s.clock); err != nil {
		t.Fatal(err)
	}
	rows := s.count(`SELECT sum(version) FROM line_now`)
	fresh := map[int]string{
		1: "NORMAL", 2: "BARRED", 3: "FLAGGED", 4: "PENDING_CHURN", 5: "QUARANTINED", 6: "PARKED", 7: "INACTIVE", 8: "SWAPPED", 9: "UNALLOCATED NUMBER",
	}
	check := func(when string, want map[int]string) {
		t.Helper()
		for i, word := range want {
			if got := s.status(number(i)); got != word+" MTN" {
				t.Errorf("%s line %d is %q, want %q", when, i, got, word+" MTN")
			}
		}
	}
	check("at once", fresh)
	start := s.clock
	s.clock = start.AddDate(0, 0, 14).Add(-time.Second)
	fresh[8] = "NORMAL" // its window is over
	check("on the last day", fresh)
	s.clock = start.AddDate(0, 0, 14)
	fresh[1], fresh[8], fresh[9] = "UNKNOWN STALE", "UNKNOWN STALE", "UNKNOWN STALE"
	check("after fourteen days", fresh)
	if n := s.count(`SELECT sum(version) FROM line_now`); n != rows {
		t.Errorf("something was written: %d versions, were %d", n, rows)
	}
	s.supplyThroughNow("MTN")
	fresh[1], fresh[8], fresh[9] = "NORMAL", "NORMAL", "UNALLOCATED NUMBER"
	check("once it supplies again", fresh)
}
