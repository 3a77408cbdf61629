package supply_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// of sets the event of an order.
func of(seq string) func(f *order.Form) { return func(f *order.Form) { f.Event = seq } }

// heldCase leads to a held event about number(1).
type heldCase struct {
	prepare func(s *env)
	kind    line.Kind
	outcome string // of the held event
	before  string // the status while it is held
	after   string // the status once it is confirmed
	voided  string // the status once it is voided; empty if it cannot be
}

var heldCases = map[string]heldCase{
	"the lifting of a bar, of long ago": {
		func(s *env) {
			e := s.event(number(1), "BARRED", 40)
			e.Reason = "LOST"
			s.wantOutcome(operator("MTN"), e, "APPLIED")
			s.wantLate(operator("MTN"), s.event(number(1), "UNBARRED", 31), "WAITING TOO_OLD")
		},
		line.Unbar, "WAITING TOO_OLD", "BARRED MTN", "NORMAL MTN", "BARRED MTN",
	},
	"a reinstatement of long ago": {
		func(s *env) {
			e := s.event(number(1), "ENDED", 40)
			e.Reason = "CHURNED"
			s.wantOutcome(operator("MTN"), e, "APPLIED")
			s.wantLate(operator("MTN"), s.event(number(1), "REINSTATED", 31), "WAITING TOO_OLD")
		},
		line.Reinstate, "WAITING TOO_OLD", "QUARANTINED MTN", "NORMAL MTN", "QUARANTINED MTN",
	},
	"an end that the donor reports when the port is known": { // not of the network that serves the line, so it raises no doubt
		func(s *env) {
			s.wantOutcome(newSupplier(line.ClearingHouse, ""), s.port(number(1), 20), "APPLIED")
			e := s.event(number(1), "ENDED", 24)
			e.Reason = "CHURNED"
			s.wantLate(operator("MTN"), e, "WAITING DONOR_LATE")
		},
		line.End, "WAITING DONOR_LATE", "NORMAL AIRTEL", "RECYCLED AIRTEL", "NORMAL AIRTEL",
	},
	"a new holder while the holder is barred": {
		func(s *env) {
			s.createOrder(regulator(), number(1), "BAR", scope("HOLDER"))
			s.clock = s.clock.Add(time.Minute)
			s.wantLate(operator("MTN"), s.event(number(1), "ASSIGNED", 0), "WAITING EARLY")
		},
		line.Assign, "WAITING EARLY", "BARRED MTN", "RECYCLED MTN", "BARRED MTN",
	},
	"a new holder while the number is barred": {
		func(s *env) {
			s.createOrder(regulator(), number(1), "BAR", scope("NUMBER"))
			s.clock = s.clock.Add(time.Minute)
			s.wantLate(operator("MTN"), s.event(number(1), "ASSIGNED", 0), "WAITING EARLY")
		},
		line.Assign, "WAITING EARLY", "BARRED MTN", "BARRED MTN", "BARRED MTN",
	},
}

// Staff see a held event with what the line is and what it would be. If they confirm
// it, the line is that; if they void it, the line is as if nobody had reported it.
// Either way it is no longer open.
func TestHeldEventsAreConfirmedOrVoided(t *testing.T) {
	t.Parallel()
	for name, tc := range heldCases {
		for action, want := range map[string]string{"CONFIRM": tc.after, "VOID": tc.voided} {
			if want == "" {
				continue
			}
			t.Run(name+" "+action, func(t *testing.T) {
				t.Parallel()
				s := onMTN(t)
				tc.prepare(s)
				s.wantStatus(number(1), tc.before)
				open, err := s.OpenEvents(t.Context(), supply.OpenQuery{Held: true, Limit: 10})
				if err != nil || len(open) != 1 {
					t.Fatalf("held are %+v, %v", open, err)
				}
				word := func(status line.Status) string {
					return string(status) + tc.before[strings.LastIndex(tc.before, " "):]
				}
				o, seq := open[0], s.seq(number(1), tc.kind)
				if o.Type != tc.kind.String() || o.Outcome+" "+o.Reason != tc.outcome || word(o.Status) != tc.before || word(o.IfConfirmed) != tc.after || o.Message == "" {
					t.Errorf("staff see %+v", o)
				}
				done := s.createOrder(regulator(), number(1), action, of(seq))
				if done.Result.Outcome != supply.Applied || done.State != order.Done || !done.EffectiveAt.Equal(o.EffectiveAt) {
					t.Errorf("the order is %+v", done)
				}
				s.wantStatus(number(1), want)
				s.wantOpen()
				s.wantRefusedOrder("CONFIRM", seq, "event NOT_ALLOWED") // it has been decided
			})
		}
	}
}

// wantRefusedOrder checks that an order about an event of number(1) is refused.
func (s *env) wantRefusedOrder(action, seq string, want ...string) {
	s.t.Helper()
	_, err := s.orders().Create(s.t.Context(), regulator(), order.Form{PhoneNumber: number(1), Action: action, Note: "why", Event: seq})
	if diff := cmp.Diff(want, violations(err)); diff != "" {
		s.t.Errorf("%s: %v\n%s", action, err, diff)
	}
}

// Only a held event can be confirmed, once, and the supplier itself may withdraw it
// before that.
func TestOnlyHeldEventsAreConfirmed(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	s.wantRefusedOrder("CONFIRM", s.seq(number(1), line.Assign), "event NOT_ALLOWED")
	s.wantRefusedOrder("CONFIRM", "999999", "event NOT_ALLOWED")
	s.wantOutcome(operator("MTN"), s.event(number(1), "PARKED", 50), "APPLIED")
	held := s.event(number(1), "USED", 40)
	s.wantLate(operator("MTN"), held, "WAITING TOO_OLD")
	s.wantLate(operator("MTN"), s.void(held), "APPLIED")
	s.wantStatus(number(1), "PARKED MTN")
	s.wantOpen()
	s.wantRefusedOrder("CONFIRM", s.seq(number(1), line.Use), "event NOT_ALLOWED")
	if n := s.count(`SELECT count(*) FROM line_order`); n != 0 {
		t.Errorf("%d orders were stored, want none", n)
	}
}

// The limit of backdating is exact: 30 days are no backdating. A bare date is judged by
// its last second. It binds what operators report and what would lift something; what
// adds caution counts however old it is, and the regulator may report any time.
func TestOldEventsThatLiftAreHeld(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	limit := s.clock.AddDate(0, 0, -30)
	lastOfDay := time.Date(2026, 5, 2, 22, 59, 59, 0, time.UTC).AddDate(0, 0, 30) // of 2 May in Lagos, and the limit
	item := func(n int, kind, at string) supply.Item {
		e := s.event(number(n), kind, 0)
		if e.EffectiveAt = at; kind == "ENDED" {
			e.Reason = "CHURNED"
		}
		if kind == "FLAGGED" {
			e.Level = "HIGH"
		}
		return e
	}
	older := limit.Add(-time.Second).Format(time.RFC3339)
	for n := range 5 {
		s.wantOutcome(operator("MTN"), s.event(number(n), "PARKED", 300), "APPLIED")
	}
	s.wantLate(operator("MTN"), item(1, "USED", limit.Format(time.RFC3339)), "APPLIED")
	s.wantLate(operator("MTN"), item(2, "USED", older), "WAITING TOO_OLD")
	s.wantLate(newSupplier(line.Sector, ""), item(1, "FLAGGED", older), "APPLIED")
	s.wantLate(operator("MTN"), item(1, "SIM_CHANGED", older), "APPLIED")
	s.wantLate(operator("MTN"), item(0, "ENDED", older), "APPLIED")
	s.wantLate(newSupplier(line.ClearingHouse, ""), s.port(number(9), 300), "APPLIED")
	s.atTime(lastOfDay, func() { s.wantLate(operator("MTN"), item(3, "USED", "2026-05-02"), "APPLIED") })
	s.atTime(lastOfDay.Add(time.Second), func() { s.wantLate(operator("MTN"), item(4, "USED", "2026-05-02"), "WAITING TOO_OLD") })
}

// A supplier may void its own event within the limit of backdating, counted from the
// report; the regulator may void any.
func TestVoidsOfOldReportsAreRefused(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	mtn := operator("MTN")
	recent, old := s.event(number(1), "SIM_CHANGED", 30), s.event(number(1), "PARKED", 31)
	s.report(mtn, old, recent)
	s.clock = s.clock.Add(time.Minute) // both were reported a minute after their effect
	s.wantLate(mtn, s.void(recent), "APPLIED")
	if got := s.reportNow(mtn, s.void(old)); len(got) != 1 || got[0][:7] != supply.Refused {
		t.Errorf("the void of an event that was reported 31 days ago: %v", got)
	}
	s.createOrder(regulator(), number(1), "VOID", of(s.seq(number(1), line.Park)))
	s.wantStatus(number(1), "NORMAL MTN")
}

// The rest of what is held: an operator that lifts what its newer snapshot still
// shows, while what adds something counts.
func TestEventBeforeTheLastSnapshotIsHeldIfItLifts(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	mtn := operator("MTN")
	s.baseline(number(1), s.daysAgo(2), line.Baseline{Tenure: line.InstantOf(s.daysAgo(900)), SIM: line.Never, State: line.StateParked, StateSince: line.InstantOf(s.daysAgo(50))})
	s.supplyThroughNow("MTN")
	s.wantStatus(number(1), "PARKED MTN")
	s.wantLate(mtn, s.event(number(1), "USED", 3), "WAITING TOO_OLD")
	s.wantStatus(number(1), "PARKED MTN")
	s.wantOpen("USED by MTN, held by MTN: WAITING TOO_OLD")
	s.wantLate(mtn, s.event(number(1), "SIM_CHANGED", 3), "APPLIED")
	s.wantStatus(number(1), "SWAPPED MTN")
	s.wantLate(mtn, s.event(number(1), "USED", 1), "APPLIED")
	if row := s.row(number(1)); row.State != line.StateActive {
		t.Errorf("the row is %+v", row)
	}
}

// The regulator may void any event, also one whose operator has voided it without
// effect, and reject a void that is held. A confirmation stands.
func TestRegulatorVoidsWhatTheOperatorCouldNot(t *testing.T) {
	t.Parallel()
	t.Run("an event whose void is held", func(t *testing.T) {
		t.Parallel()
		s := onMTN(t)
		bar := s.event(number(1), "BARRED", 22)
		bar.Reason = "DEBT"
		s.wantOutcome(operator("MTN"), bar, "APPLIED")
		s.wantOutcome(newSupplier(line.ClearingHouse, ""), s.port(number(1), 20), "APPLIED")
		s.wantLate(operator("MTN"), s.void(bar), "WAITING DONOR_LATE")
		s.createOrder(regulator(), number(1), "VOID", of(s.seq(number(1), line.Bar)))
		s.wantStatus(number(1), "NORMAL AIRTEL")
	})
	t.Run("a confirmation", func(t *testing.T) {
		t.Parallel()
		s := onMTN(t)
		s.wantOutcome(operator("MTN"), s.event(number(1), "PARKED", 50), "APPLIED")
		s.wantLate(operator("MTN"), s.event(number(1), "USED", 40), "WAITING TOO_OLD")
		s.createOrder(regulator(), number(1), "CONFIRM", of(s.seq(number(1), line.Use)))
		s.wantStatus(number(1), "NORMAL MTN")
		s.wantRefusedOrder("VOID", s.seq(number(1), line.Confirm), "event NOT_ALLOWED")
		s.wantStatus(number(1), "NORMAL MTN")
	})
	t.Run("a void that is held", func(t *testing.T) {
		t.Parallel()
		s := onMTN(t)
		bar := s.event(number(1), "BARRED", 22)
		bar.Reason = "DEBT"
		s.wantOutcome(operator("MTN"), bar, "APPLIED")
		s.wantOutcome(newSupplier(line.ClearingHouse, ""), s.port(number(1), 20), "APPLIED")
		s.wantLate(operator("MTN"), s.void(bar), "WAITING DONOR_LATE")
		s.createOrder(regulator(), number(1), "VOID", of(s.seq(number(1), line.Void)))
		s.wantStatus(number(1), "BARRED AIRTEL")
		s.wantOpen()
	})
}

// A backdated port of the clearing house is held once it has supplied its first base,
// also where the port would begin a new tenure.
func TestBackdatedPortsAreHeldOnceThereIsABase(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	err := pg.InTx(t.Context(), s.Pool, func(tx pg.Tx) error {
		return linestore.ExtendCoverage(t.Context(), tx, s.daysAgo(300), linestore.Extension{Network: line.Nation, Topic: line.TopicPort, CompleteSince: s.daysAgo(300), Through: s.clock})
	})
	if err != nil {
		t.Fatal(err)
	}
	house := newSupplier(line.ClearingHouse, "")
	end := s.event(number(2), "ENDED", 100)
	end.Reason = "CHURNED"
	s.wantOutcome(operator("MTN"), end, "APPLIED")
	s.wantLate(house, s.port(number(1), 31), "WAITING TOO_OLD")
	s.wantLate(house, s.port(number(2), 31), "WAITING TOO_OLD")
	s.wantStatus(number(1), "NORMAL MTN")
	s.wantStatus(number(2), "QUARANTINED MTN")
	s.wantLate(house, s.port(number(1), 30), "APPLIED")
}
