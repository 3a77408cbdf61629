package supply_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/supply"
)

// fillPending stores that many events of a network wait for a port, about numbers
// that no test uses.
func (s *env) fillPending(network string, events int) {
	s.t.Helper()
	n, _ := s.plan.Network(network)
	_, err := s.Pool.Exec(s.t.Context(), `INSERT INTO line_open (number, seq, outcome, half, hold, network, reported_at)
		SELECT i, 2 * i, $1, false, 0, $2, $3 FROM generate_series(1, $4) i`, int16(line.Waiting), int16(n), s.clock, events)
	if err != nil {
		s.t.Fatal(err)
	}
}

// An operator may have 10,000 pending events, or one percent of its lines if that is
// more. Further ones are refused and can be sent again. What others report does not
// use the room up.
func TestPendingEventsAreBounded(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	airtel, glo := operator("AIRTEL"), operator("GLO")
	s.fillPending("AIRTEL", 9_998)
	var call []supply.Item
	for i := range 4 {
		call = append(call, s.event(number(i), "USED", 1))
	}
	const waiting, full = "WAITING NOT_SERVING", "REFUSED TOO_MANY_WAITING"
	if diff := cmp.Diff([]string{waiting, waiting, full, full}, s.reportNow(airtel, call...)); diff != "" {
		t.Errorf("at the limit:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"DUPLICATE", "DUPLICATE", full, full}, s.reportNow(airtel, call...)); diff != "" {
		t.Errorf("sent again:\n%s", diff)
	}
	if n := s.count(`SELECT count(*) FROM line_event`); n != 2 {
		t.Errorf("%d events were stored, want 2", n)
	}
	s.wantLate(airtel, s.event("+2348020000001", "USED", 1), "APPLIED") // of its own range
	s.wantLate(airtel, s.event(number(5), "PORT_CLAIMED", 1), "WAITING HALF_PORT")
	s.wantLate(glo, s.event(number(2), "USED", 1), waiting)

	s.wantLate(newSupplier(line.ClearingHouse, ""), s.port(number(0), 2), "APPLIED") // one waits no longer
	if diff := cmp.Diff([]string{waiting, full}, s.reportNow(airtel, call[2:]...)); diff != "" {
		t.Errorf("after a port:\n%s", diff)
	}
	if _, err := s.Pool.Exec(t.Context(), `UPDATE network_lines SET lines = 1000100 WHERE lines > 0`); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"DUPLICATE", waiting}, s.reportNow(airtel, call[2:]...)); diff != "" {
		t.Errorf("of a large network:\n%s", diff)
	}
	s.wantLate(airtel, s.event(number(6), "USED", 1), full)
}

// A pending event counts once the port arrives that it waited for; if the port is
// withdrawn, it waits again.
func TestPendingEventCountsOnceThePortIsReported(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	house, port := newSupplier(line.ClearingHouse, ""), s.port(number(1), 9)
	s.wantOutcome(operator("AIRTEL"), s.event(number(1), "SIM_CHANGED", 8), "WAITING NOT_SERVING")
	s.wantStatus(number(1), "NORMAL MTN")
	s.wantLate(house, port, "APPLIED")
	s.wantStatus(number(1), "SWAPPED AIRTEL")
	if row := s.row(number(1)); !row.SIM.Time().Equal(s.daysAgo(8)) || !row.PortAt.Time().Equal(s.daysAgo(9)) {
		t.Errorf("the row is %+v", row)
	}
	s.wantLate(house, s.void(port), "APPLIED")
	s.wantStatus(number(1), "NORMAL MTN")
	if n := s.count(`SELECT count(*) FROM line_open WHERE outcome = $1`, int16(line.Waiting)); n != 1 {
		t.Errorf("%d events are pending, want 1", n)
	}
}

// Where nobody has a number, a report of a network that does not hold its range makes
// it disputed, and does nothing else.
func TestReportAboutAnUnallocatedNumberDisputesIt(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	s.complete("MTN", 10)
	s.supplyThroughNow("MTN")
	s.wantStatus(number(1), "UNALLOCATED NUMBER MTN")
	s.wantLate(operator("AIRTEL"), s.event(number(1), "USED", 1), "WAITING NOT_SERVING")
	s.wantStatus(number(1), "UNKNOWN DISPUTED MTN")
	if row := s.row(number(1)); row.State != line.StateNone {
		t.Errorf("the row is %+v", row)
	}
}
