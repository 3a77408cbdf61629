package supply_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/supply"
)

// A supplier can report only so many events about one number, and fewer about its ports:
// each costs time for all that were reported before. Others still can, and what the
// supplier reported it can still void.
func TestSupplierCannotFillAHistory(t *testing.T) {
	t.Parallel()
	const events, ports, full = 500, 100, "REFUSED TOO_MANY_EVENTS"
	s := newEnv(t)
	mtn, house := operator("MTN"), newSupplier(line.ClearingHouse, "")
	s.wantOutcome(mtn, s.event(number(1), "ASSIGNED", 29), "APPLIED")
	send := func(who supply.Supplier, n int, kind, network, prefix string) (refused int) {
		for batch := range slices.Chunk(make([]supply.Item, n), supply.MaxEvents) {
			for i := range batch {
				batch[i] = supply.Item{
					ID: prefix + strconv.Itoa(i), PhoneNumber: number(1), Type: kind, Network: network,
					EffectiveAt: s.clock.Add(-20*24*time.Hour + time.Duration(i)*time.Minute).Format(time.RFC3339),
				}
			}
			for _, word := range s.reportNow(who, batch...) {
				if word == full {
					refused++
				}
			}
		}
		return refused
	}
	if n := send(mtn, ports+20, "PORT_RELEASED", "AIRTEL", "r"); n != 20 {
		t.Errorf("%d releases were refused", n)
	}
	if n := send(mtn, events, "SIM_CHANGED", "", "s"); n != ports+1 {
		t.Errorf("%d events were refused", n)
	}
	s.wantOutcome(mtn, s.void(supply.Item{ID: "s7", PhoneNumber: number(1)}), "APPLIED")
	s.wantOutcome(mtn, supply.Item{ID: "s7", PhoneNumber: number(1), Type: "SIM_CHANGED", EffectiveAt: s.clock.Add(-20*24*time.Hour + 7*time.Minute).Format(time.RFC3339)}, "DUPLICATE")
	port := s.event(number(1), "PORTED", 1)
	port.Network = "AIRTEL"
	s.wantOutcome(house, port, "APPLIED")
	s.wantOutcome(operator("AIRTEL"), s.event(number(1), "SIM_CHANGED", 0), "APPLIED")
}
