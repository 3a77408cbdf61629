package supply_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// openEvents returns the open events that staff see, one string for each.
func (s *env) openEvents(q supply.OpenQuery) []string {
	s.t.Helper()
	if q.Limit == 0 {
		q.Limit = 100
	}
	list, err := s.OpenEvents(s.t.Context(), q)
	if err != nil {
		s.t.Fatal(err)
	}
	var words []string
	for _, o := range list {
		word := o.Type + " by " + o.Network
		if o.Recipient != "" {
			word += " to " + o.Recipient
		}
		words = append(words, word+", held by "+o.Holder+": "+o.Outcome+" "+o.Reason)
	}
	return words
}

// wantOpen checks which open events staff see.
func (s *env) wantOpen(want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(want, s.openEvents(supply.OpenQuery{})); diff != "" {
		s.t.Errorf("open events:\n%s", diff)
	}
}

// release returns the donor's release of a port.
func (s *env) release(number, to string, days int) supply.Item {
	e := s.event(number, "PORT_RELEASED", days)
	e.Network = to
	return e
}

// port returns the clearing house's report of a port to AIRTEL.
func (s *env) port(number string, days int) supply.Item {
	e := s.event(number, "PORTED", days)
	e.Network = "AIRTEL"
	return e
}

// void returns an event that voids another.
func (s *env) void(of supply.Item) supply.Item {
	v := s.event(of.PhoneNumber, "VOIDED", 0)
	v.Voids, v.Note = of.ID, "a mistake"
	return v
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

// A claim without the holder's release does not move the number: everything else
// that the claimant reports waits for the port, and staff see the claim until it is
// voided.
func TestClaimAloneChangesNothing(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	airtel, before := operator("AIRTEL"), s.row(number(1))
	claim := s.event(number(1), "PORT_CLAIMED", 3)
	s.wantOutcome(airtel, claim, "WAITING HALF_PORT")
	s.wantStatus(number(1), "NORMAL MTN")
	for _, kind := range []string{"SIM_CHANGED", "USED", "PARKED", "INACTIVE", "TRANSFERRED"} {
		s.wantOutcome(airtel, s.event(number(1), kind, 1), "WAITING NOT_SERVING")
	}
	s.wantOutcome(airtel, s.event(number(1), "ASSIGNED", 1), "REFUSED NOT_YOURS")
	s.wantOutcome(airtel, s.release(number(1), "GLO", 1), "WAITING NOT_SERVING")
	after := s.row(number(1))
	if diff := cmp.Diff(before, after, cmpopts.IgnoreFields(line.Row{}, "Version", "Newest")); diff != "" {
		t.Errorf("the claim changed the row:\n%s", diff)
	}
	s.wantStatus(number(1), "NORMAL MTN")
	s.wantOutcome(operator("MTN"), s.event(number(1), "PARKED", 1), "APPLIED")
	s.wantOpen("PORT_CLAIMED by AIRTEL to AIRTEL, held by MTN: WAITING HALF_PORT")

	s.wantOutcome(airtel, s.void(claim), "APPLIED")
	s.wantOpen()
}

// A release alone does not move the number either. Staff see it, and because the
// network that serves the line reports it, the line is in doubt until it is voided.
func TestReleaseAloneLeavesTheLineInDoubt(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	const open = "PORT_RELEASED by MTN to AIRTEL, held by MTN: WAITING HALF_PORT"
	release := s.release(number(1), "AIRTEL", 3)
	s.wantOutcome(operator("MTN"), release, "WAITING HALF_PORT")
	s.wantStatus(number(1), "UNKNOWN DISPUTED MTN")
	s.wantOpen(open)
	s.wantOutcome(operator("GLO"), s.event(number(1), "PORT_CLAIMED", 2), "WAITING HALF_PORT") // it was not released to Glo
	s.wantStatus(number(1), "UNKNOWN DISPUTED MTN")
	s.wantOpen(open, "PORT_CLAIMED by GLO to GLO, held by MTN: WAITING HALF_PORT")
	s.wantOutcome(operator("MTN"), s.void(release), "APPLIED")
	s.wantStatus(number(1), "NORMAL MTN") // the claim of a rival raises no doubt
	s.wantOpen("PORT_CLAIMED by GLO to GLO, held by MTN: WAITING HALF_PORT")
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
				s.wantLate(operator("AIRTEL"), s.event(number(1), "PORT_CLAIMED", tc.claimed), want)
			}
			release := func(want string) { s.wantLate(operator("MTN"), s.release(number(1), "AIRTEL", tc.released), want) }
			s.wantLate(operator("GLO"), s.event(number(1), "PORT_CLAIMED", 5), "WAITING HALF_PORT")
			if tc.claimFirst {
				claim("WAITING HALF_PORT")
				release("APPLIED")
			} else {
				release("WAITING HALF_PORT")
				claim("APPLIED")
			}
			s.wantStatus(number(1), "PORTED AIRTEL")
			row := s.row(number(1))
			if at := row.PortAt.Time(); !at.Equal(s.daysAgo(2)) {
				t.Errorf("ported at %v, want when the second half took effect", at)
			}
			s.wantOpen("PORT_CLAIMED by GLO to GLO, held by AIRTEL: WAITING HALF_PORT")
		})
	}
}

// The void of half of a port counts once the other network has voided the other half, too.
// Until then the port stands, and staff see the void. What the recipient reported waits
// again, and nobody hears that nothing has changed.
func TestPortOfHalvesIsUndoneByBothNetworks(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	airtel, mtn := operator("AIRTEL"), operator("MTN")
	claim, release := s.event(number(1), "PORT_CLAIMED", 2), s.release(number(1), "AIRTEL", 2)
	s.wantOutcome(airtel, claim, "WAITING HALF_PORT")
	s.wantOutcome(mtn, release, "APPLIED")
	s.wantOutcome(airtel, s.event(number(1), "PARKED", 1), "APPLIED")
	s.wantOutcome(mtn, s.void(release), "WAITING HALF_PORT")
	s.wantStatus(number(1), "PORTED AIRTEL")
	s.wantOpen("VOIDED by MTN, held by AIRTEL: WAITING HALF_PORT")
	s.wantOutcome(airtel, s.void(claim), "APPLIED")
	s.wantStatus(number(1), "NORMAL MTN")
	s.wantOpen()
	row := s.row(number(1))
	if row.PortAt != line.Never || !row.ContestedPort.Time().Equal(s.daysAgo(2)) || row.State != line.StateActive {
		t.Errorf("the row is %+v", row)
	}
	if n := s.count(`SELECT count(*) FROM line_open WHERE outcome = $1`, int16(line.Waiting)); n != 1 {
		t.Errorf("%d events of the recipient are pending again, want 1", n)
	}
}

// The regulator can withdraw either half of a port, also when its network has tried
// to. Nothing is left of the port.
func TestRegulatorWithdrawsHalfOfAPort(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		kind     line.Kind
		voidedBy string // the network that voids its half first
	}{
		"the claim": {line.ClaimPort, ""}, "the release": {line.ReleasePort, ""},
		"the claim that its network voided": {line.ClaimPort, "AIRTEL"}, "the release that its network voided": {line.ReleasePort, "MTN"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := onMTN(t)
			claim, release := s.event(number(1), "PORT_CLAIMED", 2), s.release(number(1), "AIRTEL", 2)
			s.wantOutcome(operator("AIRTEL"), claim, "WAITING HALF_PORT")
			s.wantOutcome(operator("MTN"), release, "APPLIED")
			switch tc.voidedBy {
			case "AIRTEL":
				s.wantLate(operator("AIRTEL"), s.void(claim), "WAITING HALF_PORT")
			case "MTN":
				s.wantLate(operator("MTN"), s.void(release), "WAITING HALF_PORT")
			}
			s.createOrder(regulator(), number(1), "VOID", of(s.seq(number(1), tc.kind)))
			s.wantRefusedOrder("VOID", s.seq(number(1), tc.kind), "event NOT_ALLOWED")
			if got := s.status(number(1)); got != "NORMAL MTN" && (tc.kind != line.ClaimPort || got != "UNKNOWN DISPUTED MTN") { // MTN's release is alone now
				t.Errorf("the line is %s", got)
			}
			if row := s.row(number(1)); row.PortAt != line.Never || row.ContestedPort != line.Never {
				t.Errorf("the row is %+v", row)
			}
		})
	}
}

// An end at most 72 hours before a port gives way to it. An older one stands; the port
// then begins a new tenure.
func TestPortAfterAnEnd(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	house := newSupplier(line.ClearingHouse, "")
	for n, days := range map[int]int{1: 5, 2: 6} {
		if n == 2 {
			s.wantOutcome(operator("MTN"), s.event(number(2), "ASSIGNED", 400), "APPLIED")
		}
		end := s.event(number(n), "ENDED", days)
		end.Reason = "SURRENDERED"
		s.wantOutcome(operator("MTN"), end, "APPLIED")
	}
	s.wantOutcome(house, s.port(number(1), 2), "APPLIED")
	s.wantStatus(number(1), "PORTED AIRTEL")
	s.wantOutcome(house, s.port(number(2), 2), "APPLIED")
	s.wantStatus(number(2), "RECYCLED AIRTEL")
	if a, b := s.row(number(1)), s.row(number(2)); !a.Tenure.Time().Equal(s.daysAgo(400)) || !b.Tenure.Time().Equal(s.daysAgo(2)) {
		t.Errorf("the tenures began at %v and %v", a.Tenure.Time(), b.Tenure.Time())
	}
	s.wantOpen()
}

// A report of the clearing house alone moves a number, and matches the claims and
// releases of the same port.
func TestClearingHouseAloneMovesTheNumber(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	house := newSupplier(line.ClearingHouse, "")
	s.wantOutcome(operator("AIRTEL"), s.event(number(1), "PORT_CLAIMED", 6), "WAITING HALF_PORT")
	s.wantOutcome(operator("AIRTEL"), s.event(number(1), "PORT_CLAIMED", 5), "WAITING HALF_PORT") // sent again, under a new id
	s.wantOutcome(operator("GLO"), s.event(number(1), "PORT_CLAIMED", 4), "WAITING HALF_PORT")
	port := s.port(number(1), 3)
	s.wantOutcome(operator("AIRTEL"), port, "REFUSED NOT_ALLOWED")
	s.wantStatus(number(1), "NORMAL MTN")
	s.wantOutcome(house, port, "APPLIED")
	s.wantStatus(number(1), "PORTED AIRTEL")
	s.wantOpen("PORT_CLAIMED by GLO to GLO, held by AIRTEL: WAITING HALF_PORT")
	s.wantOutcome(house, s.event(number(1), "SIM_CHANGED", 1), "REFUSED NOT_ALLOWED")
}

// The donor's events about the time after the port are refused. Those about the time
// before it that are reported when the port is known are held if they would change the
// line and are no new SIM and no bar.
func TestDonorReportsOnlyAboutTheTimeBeforeThePort(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	mtn := operator("MTN")
	s.wantOutcome(newSupplier(line.ClearingHouse, ""), s.port(number(1), 20), "APPLIED")
	s.wantStatus(number(1), "NORMAL AIRTEL")
	bar := s.event(number(1), "BARRED", 19)
	bar.Reason = "DEBT"
	end := func(days int) supply.Item {
		e := s.event(number(1), "ENDED", days)
		e.Reason = "CHURNED"
		return e
	}
	for _, lie := range []supply.Item{
		bar, end(1), s.event(number(1), "SIM_CHANGED", 2), s.event(number(1), "ASSIGNED", 3), s.event(number(1), "TRANSFERRED", 3), s.release(number(1), "GLO", 2),
	} {
		s.wantOutcome(mtn, lie, "REFUSED NOT_YOURS")
	}
	s.wantStatus(number(1), "NORMAL AIRTEL")
	late := s.event(number(1), "BARRED", 22)
	late.Reason = "DEBT"
	s.wantLate(mtn, late, "APPLIED")
	s.wantStatus(number(1), "BARRED AIRTEL")
	s.wantLate(mtn, s.event(number(1), "UNBARRED", 21), "WAITING DONOR_LATE")
	s.wantLate(mtn, s.void(late), "WAITING DONOR_LATE")
	s.wantLate(mtn, end(24), "WAITING DONOR_LATE")
	s.wantLate(mtn, end(22), "NO_EFFECT PORTED") // as donors do when a number leaves
	s.wantStatus(number(1), "BARRED AIRTEL")
	s.wantOutcome(operator("AIRTEL"), s.event(number(1), "UNBARRED", 1), "APPLIED")
	s.wantStatus(number(1), "NORMAL AIRTEL")
	s.wantLate(operator("AIRTEL"), s.event(number(1), "SIM_CHANGED", 24), "WAITING NOT_SERVING") // nor the recipient about a time more than 72 hours before
	s.wantLate(operator("AIRTEL"), s.event(number(1), "SIM_CHANGED", 22), "NO_EFFECT STATE")     // the SIM that came with the port
	s.wantStatus(number(1), "NORMAL AIRTEL")
	s.wantOpen("UNBARRED by MTN, held by AIRTEL: WAITING DONOR_LATE", "VOIDED by MTN, held by AIRTEL: WAITING DONOR_LATE",
		"ENDED by MTN, held by AIRTEL: WAITING DONOR_LATE")
}

// The last donor is refused, unless it has claimed the number back since the port:
// what it reports then waits for that port, and counts when it arrives.
func TestLastDonorReportsAgainOnceItHasClaimedTheNumberBack(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	mtn, glo, house := operator("MTN"), operator("GLO"), newSupplier(line.ClearingHouse, "")
	s.wantOutcome(house, s.port(number(1), 20), "APPLIED")
	s.wantOutcome(mtn, s.event(number(1), "SIM_CHANGED", 9), "REFUSED NOT_YOURS")
	s.wantOutcome(glo, s.event(number(1), "SIM_CHANGED", 9), "WAITING NOT_SERVING") // it was never the donor
	s.wantOutcome(mtn, s.event(number(1), "PORT_CLAIMED", 8), "WAITING HALF_PORT")
	s.wantOutcome(mtn, s.event(number(1), "SIM_CHANGED", 7), "WAITING NOT_SERVING")
	s.wantOutcome(mtn, s.event(number(1), "ASSIGNED", 7), "REFUSED NOT_YOURS")
	s.wantStatus(number(1), "NORMAL AIRTEL")
	s.wantOutcome(operator("AIRTEL"), s.release(number(1), "MTN", 8), "APPLIED")
	s.wantStatus(number(1), "SWAPPED MTN") // the SIM change of the day after the port counts now
	s.wantOutcome(operator("AIRTEL"), s.event(number(1), "USED", 2), "REFUSED NOT_YOURS")
	s.wantOutcome(mtn, s.event(number(1), "PARKED", 2), "APPLIED")
	s.wantOutcome(glo, s.event(number(1), "USED", 2), "WAITING NOT_SERVING")
}

// A claim that was voided is none: the last donor is refused again.
func TestLastDonorWithAVoidedClaimIsRefused(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	s.wantOutcome(newSupplier(line.ClearingHouse, ""), s.port(number(1), 20), "APPLIED")
	claim := s.event(number(1), "PORT_CLAIMED", 8)
	s.wantOutcome(operator("MTN"), claim, "WAITING HALF_PORT")
	s.wantLate(operator("MTN"), s.void(claim), "APPLIED")
	s.wantLate(operator("MTN"), s.event(number(1), "SIM_CHANGED", 1), "REFUSED NOT_YOURS")
}

// From the announced churn date on the tenure counts as ended: a ported number is then
// back with the network of its range, and a new holder after the rest is not early.
func TestAnnouncedChurnDateEndsTheTenure(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	airtel, mtn := operator("AIRTEL"), operator("MTN")
	s.wantOutcome(newSupplier(line.ClearingHouse, ""), s.port(number(1), 300), "APPLIED")
	notice := s.event(number(1), "CHURN_NOTICE", 220)
	notice.ChurnAt = s.ago(200)
	s.wantOutcome(airtel, notice, "APPLIED")
	s.wantStatus(number(1), "QUARANTINED MTN")
	flag := s.event(number(1), "FLAGGED", 210)
	flag.Level = "HIGH"
	s.wantOutcome(newSupplier(line.Sector, ""), flag, "APPLIED")
	s.wantOutcome(mtn, s.event(number(1), "ASSIGNED", 100), "APPLIED")
	s.wantStatus(number(1), "NORMAL MTN")
	list, err := s.NetworkStatuses(t.Context(), "MTN", time.Time{})
	if err != nil || len(list) != 1 || len(list[0].Kinds) != 1 || list[0].Kinds[0].Early != 0 {
		t.Errorf("the reports of MTN: %+v, %v", list, err)
	}
}

// The same with a bar on the holder, which is over with the rest.
func TestNewHolderAfterTheRestOfAnAnnouncedChurnIsNotEarly(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	notice := s.event(number(1), "CHURN_NOTICE", 220)
	notice.ChurnAt = s.ago(200)
	s.wantOutcome(operator("MTN"), notice, "APPLIED")
	s.createOrder(regulator(), number(1), "BAR", scope("HOLDER"), func(f *order.Form) { f.EffectiveAt = s.ago(210) })
	s.wantOutcome(operator("MTN"), s.event(number(1), "ASSIGNED", 100), "APPLIED")
	s.wantStatus(number(1), "NORMAL MTN")
}

// When a ported tenure ends, the number returns to the holder of its range.
func TestPortedNumberReturnsAtTheEnd(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	airtel := operator("AIRTEL")
	end := s.event(number(1), "ENDED", 120)
	end.Reason = "SURRENDERED"
	s.wantOutcome(newSupplier(line.ClearingHouse, ""), s.port(number(1), 300), "APPLIED")
	s.wantOutcome(airtel, end, "APPLIED")
	s.wantStatus(number(1), "QUARANTINED MTN")
	s.wantOutcome(airtel, s.event(number(1), "ASSIGNED", 10), "REFUSED NOT_YOURS")
	s.wantOutcome(airtel, s.event(number(1), "USED", 10), "WAITING NOT_SERVING")
	s.wantOutcome(operator("MTN"), s.event(number(1), "ASSIGNED", 10), "APPLIED")
	s.wantStatus(number(1), "RECYCLED MTN")
	s.wantOutcome(airtel, s.event(number(1), "SIM_CHANGED", 5), "WAITING NOT_SERVING")
}

// The list has every open event once, the oldest report first, in parts if needed,
// of one network if asked. Ports that took effect are not in it, and events that wait
// for a port only once they are 30 days old.
func TestOpenEventsAreListed(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	airtel, mtn := operator("AIRTEL"), operator("MTN")
	n := func(i int) string { return "+234803" + strconv.Itoa(1000000+i) }
	var claims, releases, waiting []supply.Item
	var want []supply.OpenEvent
	for i := range 40 {
		claims = append(claims, s.event(n(i), "PORT_CLAIMED", 2))
		if i%8 != 7 {
			claims = append(claims, s.event(n(i), "PORT_CLAIMED", 3)) // many events do not hide a number
			releases = append(releases, s.release(n(i), "AIRTEL", 1))
			continue
		}
		waiting = append(waiting, s.event(n(i), "USED", 1))
		want = append(want, supply.OpenEvent{
			Number: s.parse(n(i)), Type: "PORT_CLAIMED", ID: claims[len(claims)-1].ID, Source: "OPERATOR", Network: "AIRTEL", Recipient: "AIRTEL", Holder: "MTN",
			EffectiveAt: s.daysAgo(2), ReportedAt: s.clock, Outcome: supply.Waiting, Reason: "HALF_PORT", Status: line.Unknown,
		})
	}
	s.reportNow(airtel, claims...)
	s.reportNow(airtel, waiting...)
	s.reportNow(mtn, releases...)
	list := func(q supply.OpenQuery) []supply.OpenEvent {
		t.Helper()
		list, err := s.OpenEvents(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	options := cmp.Options{cmpopts.IgnoreFields(supply.OpenEvent{}, "Seq", "Message"), cmpopts.EquateComparable(phone.Number{})}
	all := list(supply.OpenQuery{Limit: 100})
	if diff := cmp.Diff(want, all, options); diff != "" {
		t.Error(diff)
	}
	for _, o := range all {
		if n := s.count(`SELECT count(*) FROM line_event WHERE number = $1 AND seq = $2 AND event_id = $3`, o.Number.Int(), o.Seq, o.ID); n != 1 || o.Message == "" {
			t.Errorf("%d events have this id, want 1: %+v", n, o)
		}
	}
	var parts []supply.OpenEvent
	for q := (supply.OpenQuery{Limit: 2}); ; {
		part := list(q)
		if parts = append(parts, part...); len(part) < q.Limit {
			break
		}
		q.After = supply.OpenPosition{ReportedAt: part[1].ReportedAt, Seq: part[1].Seq}
	}
	if diff := cmp.Diff(all, parts, cmpopts.EquateComparable(phone.Number{})); diff != "" {
		t.Errorf("read in parts:\n%s", diff)
	}
	if n := len(list(supply.OpenQuery{Network: "AIRTEL", Limit: 100})); n != len(want) {
		t.Errorf("%d of AIRTEL, want %d", n, len(want))
	}
	if n := len(list(supply.OpenQuery{Network: "MTN", Limit: 100})) + len(list(supply.OpenQuery{Held: true, Limit: 100})); n != 0 {
		t.Errorf("%d of MTN or held, want none", n)
	}
	if _, err := s.OpenEvents(t.Context(), supply.OpenQuery{Network: "NOBODY", Limit: 1}); err == nil {
		t.Error("a network that is not on the plan has a list")
	}
	s.days(30)
	if n := len(list(supply.OpenQuery{Limit: 100})); n != len(want) {
		t.Errorf("after 30 days %d are open, want %d", n, len(want))
	}
	s.clock = s.clock.Add(time.Second)
	all = list(supply.OpenQuery{Limit: 100})
	if last := all[len(all)-1]; len(all) != 2*len(want) || last.Type != "USED" || last.Outcome != supply.Waiting || last.Reason != "NOT_SERVING" || last.IfConfirmed != "" {
		t.Errorf("once the waiting events are older there are %d, the last is %+v", len(all), last)
	}
}
