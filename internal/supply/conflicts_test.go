package supply_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/supply"
)

// conflicts returns the unmatched ports that staff see, one string for each.
func (s *env) conflicts() []string {
	s.t.Helper()
	list, err := s.Conflicts(s.t.Context(), 100)
	if err != nil {
		s.t.Fatal(err)
	}
	var words []string
	for _, h := range list {
		words = append(words, h.Type+" by "+h.Network+" to "+h.Recipient+", held by "+h.Holder)
	}
	return words
}

// wantConflicts checks which unmatched ports staff see.
func (s *env) wantConflicts(want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(want, s.conflicts()); diff != "" {
		s.t.Errorf("conflicts:\n%s", diff)
	}
}

// release returns the donor's release of a port.
func (s *env) release(number, to string, days int) supply.Item {
	e := s.event(number, "PORT_RELEASED", days)
	e.Network = to
	return e
}

// onMTN returns an env with a number whose tenure with MTN began long ago. MTN and
// AIRTEL both supply.
func onMTN(t *testing.T) *env {
	t.Helper()
	s := newEnv(t)
	s.wantOutcome(operator("MTN"), s.event(number(1), "ASSIGNED", 400), "APPLIED")
	s.supplyThroughNow("MTN")
	s.supplyThroughNow("AIRTEL")
	s.wantStatus(number(1), "NORMAL MTN")
	return s
}

// A claim without the holder's release does not move the number: the claimant may
// report nothing else about it, and staff see the claim until it is voided.
func TestClaimAloneChangesNothing(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	airtel, before := operator("AIRTEL"), s.row(number(1))
	claim := s.event(number(1), "PORT_CLAIMED", 3)
	s.wantOutcome(airtel, claim, "CONFLICT HALF_PORT")
	s.wantStatus(number(1), "NORMAL MTN")
	after := s.row(number(1))
	if diff := cmp.Diff(before, after, cmpopts.IgnoreFields(line.Row{}, "Version", "Newest")); diff != "" {
		t.Errorf("the claim changed the row:\n%s", diff)
	}
	for _, kind := range []string{"SIM_CHANGED", "USED", "PARKED", "INACTIVE", "RETURNED", "ASSIGNED"} {
		s.wantOutcome(airtel, s.event(number(1), kind, 1), "REFUSED NOT_YOURS")
	}
	s.wantOutcome(airtel, s.release(number(1), "GLO", 1), "REFUSED NOT_YOURS")
	s.wantOutcome(operator("MTN"), s.event(number(1), "PARKED", 1), "APPLIED")
	s.wantConflicts("PORT_CLAIMED by AIRTEL to AIRTEL, held by MTN")

	void := s.event(number(1), "VOIDED", 0)
	void.Voids, void.Note = claim.ID, "another customer's"
	s.wantOutcome(airtel, void, "APPLIED")
	s.wantConflicts()
}

// A release alone changes nothing either, and staff see it.
func TestReleaseAloneChangesNothing(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	s.wantOutcome(operator("MTN"), s.release(number(1), "AIRTEL", 3), "CONFLICT HALF_PORT")
	s.wantStatus(number(1), "NORMAL MTN")
	s.wantConflicts("PORT_RELEASED by MTN to AIRTEL, held by MTN")
	s.wantOutcome(operator("GLO"), s.event(number(1), "PORT_CLAIMED", 2), "CONFLICT HALF_PORT") // it was not released to Glo
	s.wantStatus(number(1), "NORMAL MTN")
	s.wantConflicts("PORT_RELEASED by MTN to AIRTEL, held by MTN", "PORT_CLAIMED by GLO to GLO, held by MTN")
}

// A claim and a release together move the number, whichever takes effect first and
// whichever is reported first. A false claim of another network changes nothing.
func TestClaimAndReleaseMoveTheNumber(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		claimed, released int // days ago
		claimFirst        bool
	}{
		"claimed first":                        {3, 2, true},
		"released first":                       {2, 3, false},
		"claimed first, reported last":         {3, 2, false},
		"released first, reported last":        {2, 3, true},
		"in the same second":                   {2, 2, true},
		"in the same second, reported in turn": {2, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := onMTN(t)
			claim := func(want string) {
				s.wantOutcome(operator("AIRTEL"), s.event(number(1), "PORT_CLAIMED", tc.claimed), want)
			}
			release := func(want string) { s.wantOutcome(operator("MTN"), s.release(number(1), "AIRTEL", tc.released), want) }
			s.wantOutcome(operator("GLO"), s.event(number(1), "PORT_CLAIMED", 5), "CONFLICT HALF_PORT")
			if tc.claimFirst {
				claim("CONFLICT HALF_PORT")
				release("APPLIED")
			} else {
				release("CONFLICT HALF_PORT")
				claim("APPLIED")
			}
			s.wantStatus(number(1), "PORTED AIRTEL")
			if at := s.row(number(1)).PortAt.Time(); !at.Equal(s.clock.AddDate(0, 0, -2)) {
				t.Errorf("ported at %v, want when the second half took effect", at)
			}
			s.wantConflicts("PORT_CLAIMED by GLO to GLO, held by AIRTEL")
		})
	}
}

// A report of the clearing house alone moves a number, and matches the claims and
// releases of the same port.
func TestClearingHouseAloneMovesTheNumber(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	house := newSupplier(line.ClearingHouse, "")
	s.wantOutcome(operator("AIRTEL"), s.event(number(1), "PORT_CLAIMED", 6), "CONFLICT HALF_PORT")
	s.wantOutcome(operator("AIRTEL"), s.event(number(1), "PORT_CLAIMED", 5), "CONFLICT HALF_PORT") // sent again, under a new id
	s.wantOutcome(operator("GLO"), s.event(number(1), "PORT_CLAIMED", 4), "CONFLICT HALF_PORT")
	port := s.event(number(1), "PORTED", 3)
	port.Network = "AIRTEL"
	s.wantOutcome(operator("AIRTEL"), port, "REFUSED NOT_ALLOWED")
	s.wantStatus(number(1), "NORMAL MTN")
	s.wantOutcome(house, port, "APPLIED")
	s.wantStatus(number(1), "PORTED AIRTEL")
	s.wantConflicts("PORT_CLAIMED by GLO to GLO, held by AIRTEL")
	s.wantOutcome(house, s.event(number(1), "SIM_CHANGED", 1), "REFUSED NOT_ALLOWED")
}

// The donor's events count up to the port and not after it, whenever they are
// reported. It still holds the range, but cannot assign the number to a new holder.
func TestDonorReportsOnlyAboutTheTimeBeforeThePort(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	mtn := operator("MTN")
	port := s.event(number(1), "PORTED", 20)
	port.Network = "AIRTEL"
	s.wantOutcome(newSupplier(line.ClearingHouse, ""), port, "APPLIED")
	s.wantStatus(number(1), "NORMAL AIRTEL")
	bar := s.event(number(1), "BARRED", 19)
	bar.Reason = "DEBT"
	end := s.event(number(1), "ENDED", 1)
	end.Reason = "CHURNED"
	for _, lie := range []supply.Item{bar, end, s.event(number(1), "SIM_CHANGED", 2), s.event(number(1), "ASSIGNED", 3), s.release(number(1), "GLO", 2)} {
		s.wantOutcome(mtn, lie, "REFUSED NOT_YOURS")
	}
	s.wantStatus(number(1), "NORMAL AIRTEL")
	late := s.event(number(1), "BARRED", 21)
	late.Reason = "DEBT"
	s.wantOutcome(mtn, late, "APPLIED")
	s.wantStatus(number(1), "BARRED AIRTEL")
	s.wantOutcome(operator("AIRTEL"), s.event(number(1), "UNBARRED", 1), "APPLIED")
	s.wantStatus(number(1), "NORMAL AIRTEL")
	s.wantOutcome(operator("AIRTEL"), s.event(number(1), "SIM_CHANGED", 22), "REFUSED NOT_YOURS") // nor the recipient of the time before
}

// When a ported tenure ends, the number returns to the holder of its range.
func TestPortedNumberReturnsAtTheEnd(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	airtel := operator("AIRTEL")
	port, end := s.event(number(1), "PORTED", 300), s.event(number(1), "ENDED", 120)
	port.Network, end.Reason = "AIRTEL", "SURRENDERED"
	s.wantOutcome(newSupplier(line.ClearingHouse, ""), port, "APPLIED")
	s.wantOutcome(airtel, end, "APPLIED")
	s.wantStatus(number(1), "QUARANTINED MTN")
	s.wantOutcome(airtel, s.event(number(1), "ASSIGNED", 10), "REFUSED NOT_YOURS")
	s.wantOutcome(airtel, s.event(number(1), "USED", 10), "REFUSED NOT_YOURS")
	s.wantOutcome(operator("MTN"), s.event(number(1), "ASSIGNED", 10), "APPLIED")
	s.wantStatus(number(1), "RECYCLED MTN")
	s.wantOutcome(airtel, s.event(number(1), "SIM_CHANGED", 5), "REFUSED NOT_YOURS")
}

// The list of conflicts has each unmatched claim or release, in the order of the
// numbers, up to the limit. Ports that took effect are not in it.
func TestConflictsAreListed(t *testing.T) {
	t.Parallel()
	const many = 2100 // more than one reading
	open := []int{7, 8, 700, 1007, 2007}
	s := newEnv(t)
	airtel, mtn := operator("AIRTEL"), operator("MTN")
	for from := 0; from < many; from += supply.MaxEvents {
		var claims, again, releases []supply.Item
		for i := from; i < min(from+supply.MaxEvents, many); i++ {
			n := "+234803" + strconv.Itoa(1000000+i)
			claims = append(claims, s.event(n, "PORT_CLAIMED", 2))
			if !slices.Contains(open, i) {
				again = append(again, s.event(n, "PORT_CLAIMED", 3)) // many events do not hide a number
				releases = append(releases, s.release(n, "AIRTEL", 1))
			}
		}
		s.report(airtel, claims...)
		s.report(airtel, again...)
		s.report(mtn, releases...)
	}
	list, err := s.Conflicts(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	var want []supply.UnmatchedPort
	for _, i := range open {
		want = append(want, supply.UnmatchedPort{
			Number: s.parse("+234803" + strconv.Itoa(1000000+i)), Type: "PORT_CLAIMED", Network: "AIRTEL", Recipient: "AIRTEL", Holder: "MTN",
			EffectiveAt: s.clock.AddDate(0, 0, -2), ReportedAt: s.clock,
		})
	}
	if diff := cmp.Diff(want, list, cmpopts.IgnoreFields(supply.UnmatchedPort{}, "Seq", "ID"), cmpopts.EquateComparable(phone.Number{})); diff != "" {
		t.Error(diff)
	}
	for _, h := range list {
		if n := s.count(`SELECT count(*) FROM line_event WHERE number = $1 AND seq = $2 AND event_id = $3`, h.Number.Int(), h.Seq, h.ID); n != 1 {
			t.Errorf("%d events have this id, want 1", n)
		}
	}
	if list, err = s.Conflicts(t.Context(), 1); err != nil || len(list) != 1 || list[0].Number != want[0].Number {
		t.Errorf("the first one is %+v, %v", list, err)
	}
}
