package supply_test

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
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
	ahead := func(id string, by time.Duration) supply.Item {
		i := item(id, number(2), "USED", 0)
		i.EffectiveAt = s.clock.Add(by).Format(time.RFC3339)
		return i
	}
	const airtels = "+2348020000001"
	list := []supply.Item{
		item("a", number(1), "ASSIGNED", 20),
		item("b", "0700", "ASSIGNED", 20),
		item("c", number(2), "SOLD", 20),
		item("d", airtels, "ASSIGNED", 20),
		item("a", number(1), "ASSIGNED", 20),
		item("a", number(1), "ASSIGNED", 19),
		item("e", number(1), "SIM_CHANGED", 2),
		item("", number(2), "ASSIGNED", 20),
		item("f", number(2), "FLAGGED", 3),
		item("g", number(2), "USED", 3),
		ahead("h", 61*time.Second),
		item("i", number(2), "PARKED", 2),
		item("j", number(2), "INACTIVE", 1),
		item("k", airtels, "USED", 1),
		item("l", number(3), "USED", 31),
		ahead("m", 60*time.Second),
		item("e", number(4), "SIM_CHANGED", 2),
	}
	want := []string{
		"APPLIED", "REFUSED BAD_FORMAT", "REFUSED BAD_VALUE", "REFUSED NOT_YOURS", "DUPLICATE", "REFUSED ID_REUSED", "APPLIED", "REFUSED BAD_FORMAT",
		"REFUSED NOT_ALLOWED", "APPLIED", "REFUSED FUTURE", "APPLIED", "NO_EFFECT STATE", "WAITING NOT_SERVING", "APPLIED", "APPLIED",
		"REFUSED ID_REUSED",
	}
	if diff := cmp.Diff(want, s.reportNow(mtn, list...)); diff != "" {
		t.Error(diff)
	}
	got, err := s.ApplyEvents(t.Context(), mtn, list)
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
	if n := s.count(`SELECT count(*) FROM line_event`); n != 8 {
		t.Errorf("%d events were stored, want 8", n)
	}
	s.supplyThroughNow("MTN")
	s.wantStatus(number(1), "SWAPPED MTN")
	s.clock = s.clock.Add(time.Minute)
	s.wantStatus(number(2), "NORMAL MTN")
}

// A call that is sent again changes nothing. An id belongs to one supplier: it is
// refused for other content and for another number, also within a call, and another
// supplier may use it.
func TestEventSentTwiceIsAppliedOnce(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	first := s.event(number(1), "SIM_CHANGED", 3)
	s.wantOutcome(operator("MTN"), first, "APPLIED")
	before := s.row(number(1))
	s.wantOutcome(operator("MTN"), first, "DUPLICATE") // another client of the same network
	s.wantLate(operator("MTN"), first, "DUPLICATE")
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
	s.wantOutcome(operator("MTN"), elsewhere, "REFUSED ID_REUSED")
	both := []supply.Item{s.event(number(3), "USED", 1), s.event(number(4), "USED", 1)}
	both[1].ID = both[0].ID
	if diff := cmp.Diff([]string{"APPLIED", "REFUSED ID_REUSED"}, s.reportNow(operator("MTN"), both...)); diff != "" {
		t.Errorf("an id twice in a call:\n%s", diff)
	}
	s.wantOutcome(operator("AIRTEL"), elsewhere, "WAITING NOT_SERVING") // another operator is another supplier
	flag := first
	flag.Type, flag.Level = "FLAGGED", "HIGH"
	s.wantOutcome(newSupplier(line.Sector, ""), flag, "APPLIED")
	s.wantOutcome(newSupplier(line.Sector, ""), flag, "APPLIED") // another sector regulator, too
	if n := s.count(`SELECT count(*) FROM line_event`); n != 5 {
		t.Errorf("%d events, want 5", n)
	}
}

// The id of an event that was refused is not used up.
func TestRefusedEventDoesNotUseItsID(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	refused, good := s.event("+2348020000001", "ASSIGNED", 1), s.event(number(1), "USED", 1)
	good.ID = refused.ID
	if diff := cmp.Diff([]string{"REFUSED NOT_YOURS", "APPLIED"}, s.reportNow(operator("MTN"), refused, good)); diff != "" {
		t.Errorf("in one call:\n%s", diff)
	}
	refused.ID, good.ID = "again", "again"
	s.wantLate(operator("MTN"), refused, "REFUSED NOT_YOURS")
	s.wantLate(operator("MTN"), good, "APPLIED")
}

// The line is the same in whatever order its events are processed: each has the time
// of its effect and that of its report.
func TestOrderOfArrivalDoesNotMatter(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	for name, tc := range map[string]struct {
		days   []int // ago: the tenure began, SIM change, end, next tenure, parked
		late   bool
		prefix string
	}{
		"each when it took effect": {[]int{900, 400, 200, 100, 5}, false, "+2348031000"},
		"all of them late":         {[]int{29, 20, 10, 5, 2}, true, "+2348032000"},
	} {
		end := s.event("", "ENDED", tc.days[2])
		end.Reason = "CHURNED"
		life := []supply.Item{
			s.event("", "ASSIGNED", tc.days[0]), s.event("", "SIM_CHANGED", tc.days[1]), end, s.event("", "ASSIGNED", tc.days[3]), s.event("", "PARKED", tc.days[4]),
		}
		orders := permutations(len(life))
		numberOf := func(i int) string { return tc.prefix + strconv.Itoa(100+i) }
		for step := range life {
			for k := range life { // one call for each event of the life
				var call []supply.Item
				for i, order := range orders {
					if item := life[order[step]]; order[step] == k {
						item.PhoneNumber = numberOf(i)
						item.ID += " " + strconv.Itoa(i)
						call = append(call, item)
					}
				}
				at := s.clock
				if !tc.late {
					at = s.daysAgo(tc.days[k]).Add(time.Minute)
				}
				s.atTime(at, func() {
					for i, word := range s.reportNow(operator("MTN"), call...) {
						if word != supply.Applied && word != "NO_EFFECT STATE" {
							t.Fatalf("%s: event %d, %+v: %s", name, step, call[i], word)
						}
					}
				})
			}
		}
		s.supplyThroughNow("MTN")
		want := s.row(numberOf(0))
		if !want.Tenure.Time().Equal(s.daysAgo(tc.days[3])) || want.State != line.StateParked || want.SIM != line.Never || want.Version != 5 {
			t.Errorf("%s: the row is %+v", name, want)
		}
		for i, order := range orders {
			if diff := cmp.Diff(want, s.row(numberOf(i))); diff != "" {
				t.Errorf("%s: reported in the order %v:\n%s", name, order, diff)
			}
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
				ID: fmt.Sprintf("%d-%d-%d", caller, call, i), PhoneNumber: number(i), Type: "SIM_CHANGED",
				EffectiveAt: s.clock.Add(-time.Duration(2*call+caller) * time.Hour).Format(time.RFC3339),
			})
		}
		if caller == 1 {
			slices.Reverse(list)
		}
		got, err := s.ApplyEvents(t.Context(), operator("MTN"), list)
		for fault.CodeOf(err) == fault.Unavailable {
			got, err = s.ApplyEvents(t.Context(), operator("MTN"), list)
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
	if n := s.count(`SELECT lines FROM network_lines`); n != numbers {
		t.Errorf("%d lines are counted, want %d", n, numbers)
	}
	for i := range numbers {
		n := s.parse(number(i))
		histories, err := linestore.Histories(t.Context(), s.Pool, []phone.Number{n}, nil)
		if err != nil {
			t.Fatal(err)
		}
		row := s.row(number(i))
		if diff := cmp.Diff(histories[n].Row(s.terms()), row); diff != "" || row.Version != 2*calls || row.SIM != line.InstantOf(s.clock) {
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
	supplied := s.clock.Add(-time.Hour)
	got, err := s.ApplyEvents(t.Context(), mtn, nil, through(supplied)[0])
	if diff := cmp.Diff(through(supplied)[:1], got.SuppliedThrough); err != nil || diff != "" || len(got.Results) != 0 {
		t.Fatalf("the receipt is %+v, %v", got, err)
	}
	s.wantStatus(number(1), "UNKNOWN NO_SUPPLY MTN") // LIFECYCLE alone does not say that there was no SIM change
	if got, err = s.ApplyEvents(t.Context(), mtn, nil, through(supplied)[1]); err != nil || len(got.SuppliedThrough) != 2 {
		t.Fatalf("the receipt is %+v, %v", got, err)
	}
	s.wantStatus(number(1), "NORMAL MTN")
	got, err = s.ApplyEvents(t.Context(), mtn, nil, through(supplied.AddDate(0, 0, -5))...)
	if diff := cmp.Diff(through(supplied), got.SuppliedThrough); err != nil || diff != "" {
		t.Errorf("an older report moves it back: %v\n%s", err, diff)
	}
	house, ports := newSupplier(line.ClearingHouse, ""), supply.Assurance{Topic: line.TopicPort, Through: supplied}
	if got, err = s.ApplyEvents(t.Context(), house, nil, ports); err != nil || !cmp.Equal(got.SuppliedThrough, []supply.Assurance{ports}) {
		t.Errorf("the clearing house's receipt is %+v, %v", got, err)
	}
	for name, tc := range map[string]struct {
		who     supply.Supplier
		items   []supply.Item
		assured []supply.Assurance
		want    fault.Code
	}{
		"the future":           {mtn, nil, through(s.clock.Add(time.Second)), fault.InvalidArgument},
		"a sector regulator":   {newSupplier(line.Sector, ""), nil, through(s.clock), fault.InvalidArgument},
		"a clearing house":     {house, nil, through(s.clock), fault.InvalidArgument},
		"ports of an operator": {mtn, nil, []supply.Assurance{ports}, fault.InvalidArgument},
		"nothing at all":       {mtn, nil, nil, fault.InvalidArgument},
		"too many":             {mtn, make([]supply.Item, supply.MaxEvents+1), nil, fault.InvalidArgument},
		"a network nobody has": {operator("NOBODY"), nil, through(s.clock), fault.IncompatibleState},
	} {
		if _, err := s.ApplyEvents(t.Context(), tc.who, tc.items, tc.assured...); fault.CodeOf(err) != tc.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := s.count(`SELECT count(*) FROM supply_coverage`); n != 3 {
		t.Errorf("%d topics are supplied, want 3", n)
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
	start, fresh36 := s.clock, 36*time.Hour
	s.clock = start.Add(fresh36 - time.Second)
	check("in the last second", fresh)
	s.clock = start.Add(fresh36)
	fresh[1], fresh[9] = "UNKNOWN STALE", "UNKNOWN STALE"
	check("after 36 hours", fresh)
	s.clock = start.AddDate(0, 0, 10)
	fresh[8] = "UNKNOWN STALE" // its window is over
	check("after ten days", fresh)
	if n := s.count(`SELECT sum(version) FROM line_now`); n != rows {
		t.Errorf("something was written: %d versions, were %d", n, rows)
	}
	s.supplyThroughNow("MTN")
	fresh[1], fresh[8], fresh[9] = "NORMAL", "NORMAL", "UNALLOCATED NUMBER"
	check("once it supplies again", fresh)
}

// The window of a SIM change runs from the change, however late it is reported.
func TestWindowOfALateSIMChangeRunsFromTheChange(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	sim := func(n int, delay time.Duration) {
		t.Helper()
		s.wantOutcome(operator("MTN"), s.event(number(n), "ASSIGNED", 400), "APPLIED")
		e := s.event(number(n), "SIM_CHANGED", 0)
		e.EffectiveAt = s.clock.Add(-delay).Format(time.RFC3339)
		s.wantLate(operator("MTN"), e, "APPLIED")
	}
	const late = 9*24*time.Hour + time.Hour
	delays := map[int]time.Duration{2: time.Hour, 3: time.Hour + time.Second, 4: late} // the first is in time
	for n, delay := range delays {
		sim(n, delay)
	}
	for n, delay := range delays {
		lookup, err := s.Lines.Lookup(t.Context(), s.Pool, s.parse(number(n)), s.clock)
		if err != nil {
			t.Fatal(err)
		}
		signals := lookup.View(s.clock).Signals
		if len(signals) != 1 || signals[0].Status != line.Swapped || !signals[0].Until.Time().Equal(s.clock.Add(-delay).Add(240*time.Hour)) {
			t.Errorf("line %d has %+v", n, signals)
		}
		if n == 4 && !signals[0].Since.Time().Equal(s.clock.Add(-late)) {
			t.Errorf("the signal is of %v", signals[0].Since.Time())
		}
	}
}
