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

// conflicts returns the halves of ports that staff see, in a few words.
func (s *stage) conflicts() []string {
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

// disputes checks which halves of ports staff see.
func (s *stage) disputes(want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(want, s.conflicts()); diff != "" {
		s.t.Errorf("conflicts:\n%s", diff)
	}
}

// release returns the donor's half of a port.
func (s *stage) release(number, to string, days int) supply.Item {
	e := s.event(number, "PORT_RELEASED", days)
	e.Network = to
	return e
}

// onMTN returns a stage with a number whose tenure began with MTN long ago.
// Both operators supply.
func onMTN(t *testing.T) *stage {
	t.Helper()
	s := newStage(t)
	s.says(operator("MTN"), s.event(number(1), "ASSIGNED", 400), "APPLIED")
	s.reaches("MTN")
	s.reaches("AIRTEL")
	s.is(number(1), "NORMAL MTN")
	return s
}

// Whoever claims a number without its holder's release has stolen nothing: the
// line stays where it is, the claimant can say nothing about it, and staff see
// the claim until it is withdrawn.
func TestClaimAloneChangesNothing(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	airtel, before := operator("AIRTEL"), s.row(number(1))
	claim := s.event(number(1), "PORT_CLAIMED", 3)
	s.says(airtel, claim, "CONFLICT HALF_PORT")
	s.is(number(1), "NORMAL MTN")
	after := s.row(number(1))
	if diff := cmp.Diff(before, after, cmpopts.IgnoreFields(line.Row{}, "Version", "Newest")); diff != "" {
		t.Errorf("the claim changed the row:\n%s", diff)
	}
	for _, kind := range []string{"SIM_CHANGED", "USED", "PARKED", "INACTIVE", "RETURNED", "ASSIGNED"} {
		s.says(airtel, s.event(number(1), kind, 1), "REFUSED NOT_YOURS")
	}
	s.says(airtel, s.release(number(1), "GLO", 1), "REFUSED NOT_YOURS")
	s.says(operator("MTN"), s.event(number(1), "PARKED", 1), "APPLIED")
	s.disputes("PORT_CLAIMED by AIRTEL to AIRTEL, held by MTN")

	void := s.event(number(1), "VOIDED", 0)
	void.Voids, void.Note = claim.ID, "another customer's"
	s.says(airtel, void, "APPLIED")
	s.disputes()
}

// A release alone changes nothing either, and staff see it.
func TestReleaseAloneChangesNothing(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	s.says(operator("MTN"), s.release(number(1), "AIRTEL", 3), "CONFLICT HALF_PORT")
	s.is(number(1), "NORMAL MTN")
	s.disputes("PORT_RELEASED by MTN to AIRTEL, held by MTN")
	s.says(operator("GLO"), s.event(number(1), "PORT_CLAIMED", 2), "CONFLICT HALF_PORT") // it was not released to Glo
	s.is(number(1), "NORMAL MTN")
	s.disputes("PORT_RELEASED by MTN to AIRTEL, held by MTN", "PORT_CLAIMED by GLO to GLO, held by MTN")
}

// Claim and release together move the number, whichever takes effect first and
// whichever is told first. A false claim beside them changes nothing.
func TestClaimAndReleaseMoveTheNumber(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		claimed, released int // days ago
		claimFirst        bool
	}{
		"claimed first":                    {3, 2, true},
		"released first":                   {2, 3, false},
		"claimed first, told last":         {3, 2, false},
		"released first, told last":        {2, 3, true},
		"in the same second":               {2, 2, true},
		"in the same second, told in turn": {2, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := onMTN(t)
			claim := func(want string) { s.says(operator("AIRTEL"), s.event(number(1), "PORT_CLAIMED", tc.claimed), want) }
			release := func(want string) { s.says(operator("MTN"), s.release(number(1), "AIRTEL", tc.released), want) }
			s.says(operator("GLO"), s.event(number(1), "PORT_CLAIMED", 5), "CONFLICT HALF_PORT")
			if tc.claimFirst {
				claim("CONFLICT HALF_PORT")
				release("APPLIED")
			} else {
				release("CONFLICT HALF_PORT")
				claim("APPLIED")
			}
			s.is(number(1), "PORTED AIRTEL")
			if at := s.row(number(1)).PortAt.Time(); !at.Equal(s.clock.AddDate(0, 0, -2)) {
				t.Errorf("ported at %v, want when the second half took effect", at)
			}
			s.disputes("PORT_CLAIMED by GLO to GLO, held by AIRTEL")
		})
	}
}

// The clearing house's word moves a number by itself, and settles the halves
// that said the same.
func TestClearingHouseAloneMovesTheNumber(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	house := speaker(line.ClearingHouse, "")
	s.says(operator("AIRTEL"), s.event(number(1), "PORT_CLAIMED", 6), "CONFLICT HALF_PORT")
	s.says(operator("AIRTEL"), s.event(number(1), "PORT_CLAIMED", 5), "CONFLICT HALF_PORT") // sent again, under a new id
	s.says(operator("GLO"), s.event(number(1), "PORT_CLAIMED", 4), "CONFLICT HALF_PORT")
	port := s.event(number(1), "PORTED", 3)
	port.Network = "AIRTEL"
	s.says(operator("AIRTEL"), port, "REFUSED NOT_ALLOWED")
	s.is(number(1), "NORMAL MTN")
	s.says(house, port, "APPLIED")
	s.is(number(1), "PORTED AIRTEL")
	s.disputes("PORT_CLAIMED by GLO to GLO, held by AIRTEL")
	s.says(house, s.event(number(1), "SIM_CHANGED", 1), "REFUSED NOT_ALLOWED")
}

// What the donor says counts up to the port and not after it, whenever it is
// told: it still holds the range, and cannot give the number to somebody else.
func TestDonorSpeaksOnlyOfTheTimeBeforeThePort(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	mtn := operator("MTN")
	port := s.event(number(1), "PORTED", 20)
	port.Network = "AIRTEL"
	s.says(speaker(line.ClearingHouse, ""), port, "APPLIED")
	s.is(number(1), "NORMAL AIRTEL")
	bar := s.event(number(1), "BARRED", 19)
	bar.Reason = "DEBT"
	end := s.event(number(1), "ENDED", 1)
	end.Reason = "CHURNED"
	for _, lie := range []supply.Item{bar, end, s.event(number(1), "SIM_CHANGED", 2), s.event(number(1), "ASSIGNED", 3), s.release(number(1), "GLO", 2)} {
		s.says(mtn, lie, "REFUSED NOT_YOURS")
	}
	s.is(number(1), "NORMAL AIRTEL")
	late := s.event(number(1), "BARRED", 21)
	late.Reason = "DEBT"
	s.says(mtn, late, "APPLIED")
	s.is(number(1), "BARRED AIRTEL")
	s.says(operator("AIRTEL"), s.event(number(1), "UNBARRED", 1), "APPLIED")
	s.is(number(1), "NORMAL AIRTEL")
	s.says(operator("AIRTEL"), s.event(number(1), "SIM_CHANGED", 22), "REFUSED NOT_YOURS") // nor the recipient of the time before
}

// When a ported tenure ends, the number is its range holder's again.
func TestPortedNumberReturnsAtTheEnd(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	airtel := operator("AIRTEL")
	port, end := s.event(number(1), "PORTED", 300), s.event(number(1), "ENDED", 120)
	port.Network, end.Reason = "AIRTEL", "SURRENDERED"
	s.says(speaker(line.ClearingHouse, ""), port, "APPLIED")
	s.says(airtel, end, "APPLIED")
	s.is(number(1), "QUARANTINED MTN")
	s.says(airtel, s.event(number(1), "ASSIGNED", 10), "REFUSED NOT_YOURS")
	s.says(airtel, s.event(number(1), "USED", 10), "REFUSED NOT_YOURS")
	s.says(operator("MTN"), s.event(number(1), "ASSIGNED", 10), "APPLIED")
	s.is(number(1), "RECYCLED MTN")
	s.says(airtel, s.event(number(1), "SIM_CHANGED", 5), "REFUSED NOT_YOURS")
}

// The list of conflicts names each half, in the order of the numbers, and ends
// where it is told to. Ports that came about do not fill it.
func TestConflictsAreListed(t *testing.T) {
	t.Parallel()
	const many = 2100 // more than one reading
	open := []int{7, 8, 700, 1007, 2007}
	s := newStage(t)
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
		s.tell(airtel, claims...)
		s.tell(airtel, again...)
		s.tell(mtn, releases...)
	}
	list, err := s.Conflicts(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	var want []supply.Half
	for _, i := range open {
		want = append(want, supply.Half{
			Number: s.parse("+234803" + strconv.Itoa(1000000+i)), Type: "PORT_CLAIMED", Network: "AIRTEL", Recipient: "AIRTEL", Holder: "MTN",
			EffectiveAt: s.clock.AddDate(0, 0, -2), ToldAt: s.clock,
		})
	}
	if diff := cmp.Diff(want, list, cmpopts.IgnoreFields(supply.Half{}, "Seq", "ID"), cmpopts.EquateComparable(phone.Number{})); diff != "" {
		t.Error(diff)
	}
	for _, h := range list {
		if n := s.count(`SELECT count(*) FROM line_event WHERE number = $1 AND seq = $2 AND event_id = $3`, h.Number.Int(), h.Seq, h.ID); n != 1 {
			t.Errorf("%d events are called so, want 1", n)
		}
	}
	if list, err = s.Conflicts(t.Context(), 1); err != nil || len(list) != 1 || list[0].Number != want[0].Number {
		t.Errorf("the first one is %+v, %v", list, err)
	}
}
