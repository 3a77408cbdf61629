package supply_test

import (
	"testing"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
)

// scope sets on what a bar is, and a reason of which that is not the default.
func scope(of string) func(f *order.Form) {
	return func(f *order.Form) {
		if f.Scope, f.Reason = of, "COURT"; of == "NUMBER" {
			f.Reason = "DEBT"
		}
	}
}

// A bar of the regulator is on the holder or on the number; the reason says which, if
// the order does not. One on the holder stays for the rest after the end of the
// tenure, and an early new holder is held meanwhile. One on the number stays, and
// every new holder is held.
func TestBarIsOnTheHolderOrOnTheNumber(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, scope string
		number        bool
	}{
		"NIN": {"NIN", "", false}, "DEBT": {"DEBT", "", false}, "LOST": {"LOST", "", false}, "OTHER": {"OTHER", "", false},
		"COURT": {"COURT", "", true}, "FRAUD": {"FRAUD", "", true},
		"COURT on the holder": {"COURT", "HOLDER", false}, "DEBT on the number": {"DEBT", "NUMBER", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := onMTN(t)
			mtn := operator("MTN")
			s.createOrder(regulator(), number(1), "BAR", func(f *order.Form) { f.Reason, f.Scope = tc.reason, tc.scope })
			row := s.row(number(1))
			if onNumber, onHolder := row.NumberBarAt != line.Never, row.HolderBarAt != line.Never; onNumber != tc.number || onHolder == tc.number {
				t.Fatalf("on the number: %v, on the holder: %v", onNumber, onHolder)
			}
			s.wantOutcome(mtn, s.event(number(1), "UNBARRED", 0), "APPLIED") // lifts only its own
			s.days(1)
			end := s.event(number(1), "ENDED", 0)
			end.Reason = "CHURNED"
			s.wantOutcome(mtn, end, "APPLIED")
			s.wantStatus(number(1), "BARRED MTN")
			s.days(89)
			s.wantOutcome(mtn, s.event(number(1), "ASSIGNED", 0), "WAITING EARLY")
			s.wantStatus(number(1), "BARRED MTN")
			s.days(1)
			if !tc.number {
				s.wantStatus(number(1), "QUARANTINED MTN")
				s.wantOutcome(mtn, s.event(number(1), "ASSIGNED", 0), "APPLIED")
				s.wantStatus(number(1), "RECYCLED MTN")
				return
			}
			s.wantOutcome(mtn, s.event(number(1), "ASSIGNED", 0), "WAITING EARLY")
			s.wantStatus(number(1), "BARRED MTN")
			s.createOrder(regulator(), number(1), "UNBAR")
			s.wantStatus(number(1), "QUARANTINED MTN")
		})
	}
}

// The operator cannot remove the regulator's bar; the regulator can remove both.
func TestHigherAuthorityLiftsABar(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	mtn := operator("MTN")
	bar := s.event(number(1), "BARRED", 5)
	bar.Reason = "DEBT"
	s.wantOutcome(mtn, bar, "APPLIED")
	s.supplyThroughNow("MTN")
	s.createOrder(regulator(), number(1), "BAR", func(f *order.Form) { f.EffectiveAt = s.ago(4) })
	s.wantOutcome(mtn, s.event(number(1), "UNBARRED", 3), "APPLIED")
	s.wantStatus(number(1), "BARRED MTN")
	again := s.event(number(1), "BARRED", 2)
	again.Reason = "LOST"
	s.wantOutcome(mtn, again, "APPLIED")
	s.createOrder(regulator(), number(1), "UNBAR")
	s.wantStatus(number(1), "NORMAL MTN")
}

// A flag can be removed by the supplier that set it, and ends with the tenure. Another
// sector regulator cannot remove it. A new holder before the rest is over is held
// while the flag would be in force.
func TestFlagIsRemovedOnlyByItsSupplier(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	banks, insurers, mtn := newSupplier(line.Sector, ""), newSupplier(line.Sector, ""), operator("MTN")
	s.wantOutcome(mtn, s.event(number(1), "ASSIGNED", 400), "APPLIED")
	s.supplyThroughNow("MTN")
	flag := func(level string, days int) supply.Item {
		e := s.event(number(1), "FLAGGED", days)
		e.Level = level
		return e
	}
	s.wantOutcome(banks, flag("VERY_HIGH", 5), "APPLIED")
	s.wantOutcome(insurers, s.event(number(1), "UNFLAGGED", 4), "NO_EFFECT NOT_YOUR_FLAG")
	s.wantOutcome(mtn, s.event(number(1), "UNFLAGGED", 4), "REFUSED NOT_ALLOWED")
	s.wantStatus(number(1), "FLAGGED MTN")
	s.wantOutcome(banks, s.event(number(1), "UNFLAGGED", 3), "APPLIED")
	s.wantStatus(number(1), "NORMAL MTN")
	s.wantOutcome(banks, flag("MEDIUM", 2), "APPLIED")
	s.wantStatus(number(1), "FLAGGED MTN")
	s.wantOutcome(mtn, s.event(number(1), "ASSIGNED", 1), "WAITING EARLY")
	s.wantStatus(number(1), "FLAGGED MTN")
	s.wantOutcome(mtn, s.event(number(1), "TRANSFERRED", 1), "APPLIED")
	s.wantStatus(number(1), "FLAGGED MTN") // it passes to the new holder
	s.days(89)                             // the flag has expired
	s.wantOutcome(mtn, s.event(number(1), "ASSIGNED", 0), "APPLIED")
	s.wantStatus(number(1), "RECYCLED MTN")
}
