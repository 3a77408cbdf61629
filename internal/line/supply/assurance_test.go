package supply_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// topic returns how a topic of a network is judged now.
func (s *env) topic(network string, t line.Topic) line.TopicState {
	s.t.Helper()
	list, err := s.NetworkStatuses(s.t.Context(), network, time.Time{})
	if err != nil || len(list) != 1 {
		s.t.Fatalf("%+v, %v", list, err)
	}
	return list[0].Topics[t-1]
}

// simChanges returns SIM changes of MTN's lines, some time before now.
func (s *env) simChanges(count int, before time.Duration) (list []supply.Item) {
	for i := range count {
		e := s.event(number(i), "SIM_CHANGED", 0)
		e.EffectiveAt = s.clock.Add(-before).Format(time.RFC3339)
		list = append(list, e)
	}
	return list
}

// A topic is doubtful when the share of events that contradict the supplier's own
// assurance exceeds the policy's limit, ten percent, and not when it equals it. It
// is then not fresh, until staff accept it again or 30 days pass without another. Other topics and networks are not
// concerned.
func TestFalseAssurancesMakeATopicDoubtful(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	mtn := operator("MTN")
	s.clock = s.clock.Add(2 * time.Hour)
	s.reportNow(mtn, s.simChanges(180, 5*time.Minute)...)  // after what it assured
	s.reportNow(mtn, s.simChanges(20, 130*time.Minute)...) // before it
	if state := s.topic("MTN", line.TopicSIM); state.Doubtful || !state.Fresh {
		t.Fatalf("at the limit the topic is %+v", state)
	}
	s.reportNow(mtn, s.simChanges(1, 131*time.Minute)...)
	if state := s.topic("MTN", line.TopicSIM); !state.Doubtful || state.Fresh {
		t.Fatalf("above the limit the topic is %+v", state)
	}
	if a, b := s.topic("MTN", line.TopicLifecycle), s.topic("AIRTEL", line.TopicSIM); a.Doubtful || !a.Fresh || b.Doubtful || !b.Fresh {
		t.Errorf("others are %+v and %+v", a, b)
	}
	if n := s.count(`SELECT sum(broken) FROM supply_day`); n != 21 {
		t.Errorf("%d events are counted, want 21", n)
	}
	const untouched = "+2348031234567"
	s.wantOutcome(mtn, s.event(untouched, "ASSIGNED", 400), "APPLIED")
	s.wantStatus(untouched, "UNKNOWN STALE MTN")
	s.clock = s.clock.Add(time.Minute)
	s.supplyThroughNow("MTN") // another assurance does not help
	s.wantStatus(untouched, "UNKNOWN STALE MTN")
	doubted := s.clock

	s.clock = s.clock.Add(time.Minute)
	s.accept("MTN", line.TopicSIM)
	if state := s.topic("MTN", line.TopicSIM); state.Doubtful || !state.Fresh {
		t.Errorf("once staff accept it the topic is %+v", state)
	}
	s.wantStatus(untouched, "NORMAL MTN")
	s.reportNow(mtn, s.simChanges(1, 30*time.Second)...) // after what it assured
	s.wantStatus(untouched, "NORMAL MTN")
	if then := s.numberHistory(supply.HistoryQuery{Number: s.parse(untouched), AsOf: doubted, KnownAt: doubted}); then.Status != line.Unknown || then.Reason != line.ReasonStale {
		t.Errorf("while the topic was doubtful the line was %s %s", then.Status, then.Reason)
	}
}

// The systems of an honest supplier differ by seconds: an event that is within the deadline of
// its kind contradicts no assurance, however often that happens.
func TestEventWithinItsDeadlineBreaksNoAssurance(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	mtn := operator("MTN")
	for i := range 30 {
		s.clock = s.clock.Add(time.Minute)
		swap, used := s.event(number(i+10), "SIM_CHANGED", 0), s.event(number(i+50), "USED", 0)
		swap.EffectiveAt = s.clock.Add(-3 * time.Second).Format(time.RFC3339)
		used.EffectiveAt = swap.EffectiveAt
		s.supplyThroughNow("MTN")
		s.reportNow(mtn, swap, used)
	}
	for _, topic := range []line.Topic{line.TopicLifecycle, line.TopicSIM} {
		if state := s.topic("MTN", topic); state.Doubtful || !state.Fresh {
			t.Errorf("the topic is %+v", state)
		}
	}
	s.wantStatus(number(1), "NORMAL MTN")
}

// A topic that was disbelieved is believed again when 30 days have passed without another false
// assurance.
func TestThirtyCleanDaysRestoreATopic(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	mtn := operator("MTN")
	s.clock = s.clock.Add(3 * time.Hour)
	s.supplyThroughNow("MTN")
	s.reportNow(mtn, s.simChanges(30, 2*time.Hour)...)
	for _, days := range []int{0, 29, 1} {
		s.days(days)
		s.supplyThroughNow("MTN")
		s.reportNow(mtn, s.simChanges(1, 0)...)
		if state := s.topic("MTN", line.TopicSIM); state.Doubtful != (days != 1) {
			t.Errorf("after %d more days the topic is %+v", days, state)
		}
	}
	s.wantStatus(number(1), "NORMAL MTN")
}

// accept accepts a topic again, as staff do.
func (s *env) accept(network string, topic line.Topic) {
	s.t.Helper()
	n, _ := s.plan.Network(network)
	if topic == line.TopicPort {
		n = line.Nation
	}
	err := pg.InTx(s.t.Context(), s.Pool, func(tx pg.Tx) error {
		accepted, err := linestore.AcceptTopic(s.t.Context(), tx, n, topic, s.clock)
		if err == nil && !accepted {
			err = errors.New("the topic is believed")
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// A topic that is disbelieved is accepted again by two people, and its supplier hears that it is
// disbelieved. What was false before does not make it disbelieved again.
func TestTwoPeopleAcceptATopicAgain(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	mtn := operator("MTN")
	s.clock = s.clock.Add(3 * time.Hour)
	s.supplyThroughNow("MTN")
	believed := func(want bool) {
		t.Helper()
		got, err := s.ApplyEvents(t.Context(), mtn, nil, through(s.clock)...)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range got.SuppliedThrough {
			if a.Topic == line.TopicSIM && a.Doubtful == want {
				t.Errorf("the supplier hears %+v", a)
			}
		}
	}
	accept := order.Acceptance{Network: "MTN", Topic: "SIM", Reason: "The clock is corrected", By: console}
	orders := &order.Service{Supply: s.Service}
	if _, err := orders.Accept(t.Context(), accept); !errors.Is(err, supply.ErrNotDoubtful) {
		t.Errorf("a topic that is believed: %v", err)
	}
	believed(true)
	s.reportNow(mtn, s.simChanges(30, 2*time.Hour)...)
	believed(false)
	for _, wrong := range []order.Acceptance{{Network: "MTN", Topic: "PORT"}, {Topic: "SIM"}, {Network: "MTN", Topic: "LINES"}} {
		wrong.By = console
		if _, err := orders.Accept(t.Context(), wrong); !isFault(err, fault.InvalidArgument) {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
	if pending, err := orders.Accept(t.Context(), accept); err != nil || pending != uuid.Nil {
		t.Fatal(pending, err)
	}
	believed(true)
	s.reportNow(mtn, s.simChanges(5, 2*time.Hour)...)
	believed(true)
	if n := s.count(`SELECT count(*) FROM audit WHERE action = 'supply.accepted'`); n != 1 {
		t.Errorf("%d entries in the audit trail", n)
	}
}

// Only the events of the last 30 days count.
func TestOldFalseAssurancesAreForgotten(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	mtn := operator("MTN")
	s.supplyThroughNow("MTN")
	s.reportNow(mtn, s.simChanges(30, 2*time.Hour)...)
	s.accept("MTN", line.TopicSIM)
	s.days(30)
	s.supplyThroughNow("MTN")
	s.reportNow(mtn, s.simChanges(1, time.Minute)...)
	if state := s.topic("MTN", line.TopicSIM); state.Doubtful {
		t.Errorf("the topic is %+v", state)
	}
}

// Everything but SIM changes belongs to an operator's LIFECYCLE, halves of ports
// included. Whether a bare date contradicts an assurance is judged by its end.
func TestFalseAssurancesOfTheLifecycle(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	s.atTime(time.Date(2026, 5, 31, 22, 59, 0, 0, time.UTC), func() { s.supplyThroughNow("MTN") }) // a minute before midnight in Lagos
	var calls []supply.Item
	for i := range 40 {
		e := s.event(number(i), []string{"ENDED", "PARKED", "USED", "ASSIGNED"}[i%4], 0)
		if e.EffectiveAt = "2026-05-31"; e.Type == "ENDED" {
			e.Reason = "CHURNED"
		}
		calls = append(calls, e)
	}
	s.reportNow(operator("MTN"), calls...)
	if n := s.count(`SELECT sum(broken) FROM supply_day`); n != 0 || s.topic("MTN", line.TopicLifecycle).Doubtful {
		t.Errorf("%d events whose day ended after the assurance are counted", n)
	}
	calls = nil
	for i := range 40 {
		if i%2 == 0 {
			calls = append(calls, s.release(number(i+100), "AIRTEL", 2))
		} else {
			calls = append(calls, s.event(number(i+100), "USED", 2))
		}
	}
	s.reportNow(operator("MTN"), calls...)
	if state := s.topic("MTN", line.TopicLifecycle); !state.Doubtful || s.topic("MTN", line.TopicSIM).Doubtful {
		t.Errorf("the topic is %+v", state)
	}
}

// The assurances of the clearing house are judged like those of an operator.
func TestFalseAssurancesOfTheClearingHouse(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	house := newSupplier(line.ClearingHouse, "")
	if _, err := s.ApplyEvents(t.Context(), house, nil, supply.Assurance{Topic: line.TopicPort, Through: s.clock}); err != nil {
		t.Fatal(err)
	}
	var ports []supply.Item
	for i := range 30 {
		ports = append(ports, s.port(number(i), 3))
	}
	s.reportNow(house, ports...)
	if state := s.topic("MTN", line.TopicPort); !state.Doubtful {
		t.Errorf("the topic is %+v", state)
	}
}

// Coverage is kept by topic, with its history: what was covered at a past time can be
// read again, and no part of it shrinks.
func TestCoverageIsKeptByTopicWithItsHistory(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	start := s.clock
	mtn, _ := s.plan.Network("MTN")
	hour := func(n int) time.Time { return start.Add(time.Duration(n) * time.Hour) }
	s.wantLate(operator("MTN"), s.event(number(1), "SIM_CHANGED", 0), "APPLIED") // SIM is supplied from now on, without an assurance
	s.clock = hour(1)
	s.assure("MTN", supply.Assurance{Topic: line.TopicLifecycle, Through: hour(0)})
	s.clock = hour(2)
	s.assure("MTN", supply.Assurance{Topic: line.TopicSIM, Through: hour(1)}, supply.Assurance{Topic: line.TopicLifecycle, Through: hour(-3)})
	s.clock = hour(3)
	if _, err := s.ApplyEvents(t.Context(), newSupplier(line.ClearingHouse, ""), nil, supply.Assurance{Topic: line.TopicPort, Through: hour(2)}); err != nil {
		t.Fatal(err)
	}
	sim, lifecycle := line.Span{KnownSince: hour(0)}, line.Span{KnownSince: hour(1), Through: hour(0)}
	supplied, ports := line.Span{KnownSince: hour(0), Through: hour(1)}, line.Span{KnownSince: hour(3), Through: hour(2)}
	for at, want := range map[int]line.Coverage{
		-1: {}, 0: {SIM: sim}, 1: {SIM: sim, Lifecycle: lifecycle}, 2: {SIM: supplied, Lifecycle: lifecycle}, 3: {SIM: supplied, Lifecycle: lifecycle, Ports: ports},
	} {
		coverage, err := linestore.CoverageAt(t.Context(), s.Pool, hour(at))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, coverage(mtn)); diff != "" {
			t.Errorf("after %d hours:\n%s", at, diff)
		}
	}
}

// The receipt of a supplier has its own topics only.
func TestReceiptHasTheTopicsOfItsSupplier(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	if _, err := s.ApplyEvents(t.Context(), newSupplier(line.ClearingHouse, ""), nil, supply.Assurance{Topic: line.TopicPort, Through: s.clock}); err != nil {
		t.Fatal(err)
	}
	flag := s.event(number(1), "FLAGGED", 0)
	flag.Level = "HIGH"
	got, err := s.ApplyEvents(t.Context(), newSupplier(line.Sector, ""), []supply.Item{flag})
	if err != nil || len(got.SuppliedThrough) != 0 {
		t.Errorf("a sector regulator has supplied %+v, %v", got.SuppliedThrough, err)
	}
}

// The history of the coverage ends with the coverage that applies, and has every
// coverage before it, also if the clocks of two nodes differ a little.
func TestHistoryOfTheCoverageEndsWithTheCoverage(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	mtn, _ := s.plan.Network("MTN")
	s.clock = s.clock.Add(time.Hour)
	s.assure("MTN", through(s.clock.Add(-30*time.Minute))...)
	s.atTime(s.clock.Add(-time.Second), func() { s.assure("MTN", through(s.clock.Add(-time.Minute))...) })
	coverage, err := linestore.CoverageAt(t.Context(), s.Pool, s.clock.Add(time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	lookup, err := s.Lines.Lookup(t.Context(), s.Pool, s.parse(number(1)), s.clock)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(lookup.Coverage(mtn), coverage(mtn)); diff != "" {
		t.Errorf("the coverage and its history (+):\n%s", diff)
	}
	during, err := linestore.CoverageDuring(t.Context(), s.Pool, mtn, s.clock.Add(-time.Minute), s.clock.Add(time.Minute))
	if err != nil || len(during[0]) != 3 || !during[0][1].Through.Equal(s.clock.Add(-30*time.Minute)) {
		t.Errorf("a coverage is not in the history: %v, %v", during[0], err)
	}
}
