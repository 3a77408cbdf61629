package supply_test

import (
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// complete stores that the supply of a network has been complete for some days.
func (s *env) complete(network string, days int) {
	s.t.Helper()
	n, _ := s.plan.Network(network)
	at := s.daysAgo(days)
	err := pg.InTx(s.t.Context(), s.Pool, func(tx pg.Tx) error {
		return linestore.ExtendCoverage(s.t.Context(), tx, at, linestore.Extension{Network: n, Topic: line.TopicLifecycle, CompleteSince: at, Through: at},
			linestore.Extension{Network: n, Topic: line.TopicSIM, CompleteSince: at, Through: at})
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// first returns an ASSIGNED with the mark of a first holder.
func (s *env) first(number string, days int) supply.Item {
	e := s.event(number, "ASSIGNED", days)
	e.FirstHolder = true
	return e
}

// wantHolder checks whether the holder of a number is its first, and the status that
// follows.
func (s *env) wantHolder(number string, first bool) {
	s.t.Helper()
	lookup, err := s.Lines.Lookup(s.t.Context(), s.Pool, s.parse(number), s.clock)
	if err != nil {
		s.t.Fatal(err)
	}
	status, signal := line.Recycled, line.Recycled
	if first {
		status, signal = line.Normal, line.New
	}
	if v := lookup.View(s.clock); v.Status != status || len(v.Signals) != 1 || v.Signals[0].Status != signal {
		s.t.Errorf("the line is %+v, want %s with the signal %s", v, status, signal)
	}
}

// The mark of a first holder is granted if the supply was complete for the rest and
// 30 days before, and nothing earlier is known about the number. It is decided when
// the event arrives.
func TestFirstHolderIsGrantedWhereTheSupplyWasComplete(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	mtn := operator("MTN")
	s.complete("MTN", 120)
	s.supplyThroughNow("MTN")
	s.wantLate(mtn, s.first(number(1), 0), "APPLIED")
	s.wantHolder(number(1), true)
	s.wantLate(mtn, s.event(number(2), "ASSIGNED", 0), "APPLIED") // without the mark
	s.wantHolder(number(2), false)
	s.wantLate(mtn, s.first(number(3), 1), "APPLIED") // the supply was complete for 119 days then
	s.wantHolder(number(3), false)
	end := s.event(number(4), "ENDED", 1)
	end.Reason = "CHURNED"
	s.wantLate(mtn, end, "APPLIED")
	s.wantLate(mtn, s.first(number(4), 0), "APPLIED") // somebody had it before
	s.wantHolder(number(4), false)
	s.wantLate(mtn, s.event(number(1), "ASSIGNED", 0), "APPLIED")
	s.wantHolder(number(1), false) // the next one is not the first
	park := s.event(number(5), "PARKED", 0)
	park.FirstHolder = true
	s.wantLate(mtn, park, "REFUSED NOT_ALLOWED")
	s.wantLate(mtn, s.first("+2348020000001", 0), "REFUSED NOT_YOURS")
}

// Otherwise it is granted if the range was allocated within the last year.
func TestFirstHolderIsGrantedInANewRange(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	mtn := operator("MTN")
	rows, source, _ := numbering.Shipped("NG")
	for prefix, days := range map[string]int{"23480381": 365, "23480382": 366} {
		rows = append(rows, numbering.Row{Prefix: prefix, Network: "MTN", Name: "MTN", Allocated: s.daysAgo(days).Truncate(24 * time.Hour)})
	}
	plans := &numbering.Service{Pool: s.Pool, Now: func() time.Time { return s.daysAgo(1) }}
	if _, err := plans.Set(t.Context(), rows, source, time.Time{}); err != nil {
		t.Fatal(err, violations(err))
	}
	s.supplyThroughNow("MTN")
	s.clock = s.clock.Truncate(24 * time.Hour) // a year of the range, to the second
	s.wantLate(mtn, s.first("+2348038100001", 0), "APPLIED")
	s.wantHolder("+2348038100001", true)
	s.wantLate(mtn, s.first("+2348038200001", 0), "APPLIED")
	s.wantHolder("+2348038200001", false)
}

// An event is the same when it is sent again, whether its mark was granted or not.
func TestFirstHolderSentTwiceIsADuplicate(t *testing.T) {
	t.Parallel()
	for _, granted := range []bool{true, false} {
		s := newEnv(t)
		if granted {
			s.complete("MTN", 130)
			s.supplyThroughNow("MTN")
		}
		e := s.first(number(1), 0)
		s.wantLate(operator("MTN"), e, "APPLIED")
		if first := s.row(number(1)).Bits&line.FirstHolder != 0; first != granted {
			t.Errorf("granted: %v, want %v", first, granted)
		}
		s.wantLate(operator("MTN"), e, "DUPLICATE")
	}
}
