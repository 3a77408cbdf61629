package supply_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

// nth returns a number of MTN. There are more of them than of [number].
func nth(i int) string { return fmt.Sprintf("+234803%07d", 1000+i) }

// withLines returns an env in which MTN has so many running lines, by its snapshot of
// 30 days ago, and has supplied everything up to now.
func withLines(t *testing.T, lines int) *importEnv {
	t.Helper()
	k := newImportEnv(t)
	rows := make([]string, lines)
	for i := range rows {
		rows[i] = nth(i) + ",2024-02-03,,ACTIVE,"
	}
	k.importFile(asOf(k.at(30)), snapshotOf(rows...))
	k.supplyThroughNow("MTN")
	return k
}

// change reports one event for each number from one index up to another, in calls of
// at most 500, and counts the outcomes.
func (k *importEnv) change(kind string, from, to int) map[string]int {
	k.t.Helper()
	got := map[string]int{}
	for first := from; first < to; first += 500 {
		var items []supply.Item
		for i := first; i < min(first+500, to); i++ {
			e := k.event(nth(i), kind, 0)
			switch kind {
			case "CHURN_NOTICE":
				e.ChurnAt = k.clock.AddDate(0, 0, 20).Format(time.DateOnly)
			case "ENDED":
				e.Reason = "CHURNED"
			}
			items = append(items, e)
		}
		for _, word := range k.reportNow(operator("MTN"), items...) {
			got[word]++
		}
	}
	return got
}

func (k *importEnv) wantChange(kind string, from, to, applied, held int) {
	k.t.Helper()
	got := k.change(kind, from, to)
	if got["APPLIED"] != applied || got["WAITING MASS"] != held || applied+held != to-from {
		k.t.Errorf("%d events %s: %v, want %d applied and %d held", to-from, kind, got, applied, held)
	}
}

// Calls end no more lines than a file could without being held: 1,000 of 1,501. What is
// beyond that waits, its lines answer UNKNOWN, and it takes two people to let one count.
func TestEventsBeyondTheShareAreHeld(t *testing.T) {
	t.Parallel()
	k := withLines(t, 1501)
	k.wantChange("ENDED", 0, 600, 600, 0)
	k.clock = k.clock.Add(3 * time.Hour)
	k.wantChange("ENDED", 600, 1498, 400, 498)
	k.wantStatus(nth(999), "QUARANTINED MTN")
	k.wantStatus(nth(1000), "UNKNOWN DISPUTED MTN")
	k.wantStatus(nth(1499), "NORMAL MTN")
	asker := regulator()
	o, err := k.orders().Create(t.Context(), asker, order.Form{PhoneNumber: nth(1000), Action: "CONFIRM", Event: k.seq(nth(1000), line.End), Note: "why"})
	if err != nil || o.State != order.Pending || o.Kind() != order.KindConfirmShare {
		t.Fatalf("a confirmation: %+v, %v", o, err)
	}
	if _, err := k.orders().Confirm(t.Context(), accountHolder(), o.ID); err != nil {
		t.Fatal(err)
	}
	k.wantStatus(nth(1000), "QUARANTINED MTN")
	k.wantChange("SIM_CHANGED", 1498, 1501, 3, 0) // everything else goes on
}

// The share is a percentage of the lines that the network has, and at least 1,000 lines.
func TestShareGrowsWithTheNetwork(t *testing.T) {
	t.Parallel()
	k := withLines(t, 2400)
	k.setPolicy(func(p *policy.Policy) { p.HoldPercent = 49 })
	k.wantChange("TRANSFERRED", 0, 1200, 1176, 24)
}

// The share slides: a week later as many lines can change again. A number that changes
// several times within a week counts once, from its last change on.
func TestShareSlidesAndCountsNumbersOnce(t *testing.T) {
	t.Parallel()
	k := withLines(t, 2100)
	k.wantChange("CHURN_NOTICE", 0, 1000, 1000, 0)
	k.days(3)
	k.wantChange("ENDED", 0, 1000, 1000, 0)
	k.wantChange("ENDED", 1000, 1001, 0, 1)
	k.days(5) // 8 after the notices, 5 after the ends
	k.wantChange("ENDED", 1001, 1002, 0, 1)
	k.days(2)
	k.clock = k.clock.Add(time.Hour)
	k.wantChange("ENDED", 1002, 2002, 1000, 0)
	k.wantChange("ENDED", 2002, 2003, 0, 1)
}

// New numbers are no share: a network that grows is not held. Nor is a bar, a SIM change
// or a reinstatement.
func TestGrowthIsNoShare(t *testing.T) {
	t.Parallel()
	k := withLines(t, 10)
	k.wantChange("ASSIGNED", 10, 1210, 1200, 0)
	k.wantChange("SIM_CHANGED", 10, 1210, 1200, 0)
	k.wantChange("ENDED", 0, 1000, 1000, 0)
	k.wantChange("REINSTATED", 0, 1000, 1000, 0)
}

// While events of a mass change wait, the topic is supplied only up to the earliest of
// them, whatever the operator assures. When the last is decided, its assurances count.
func TestMassHoldSetsTheCoverageBack(t *testing.T) {
	t.Parallel()
	k := withLines(t, 1100)
	k.clock = k.clock.Add(time.Hour)
	k.wantChange("ENDED", 0, 1002, 1000, 2)
	through := func(want time.Time) {
		t.Helper()
		if c := k.coverage(); !c.Lifecycle.Through.Equal(want) || !c.SIM.Through.Equal(k.clock) {
			t.Errorf("lifecycle is supplied through %s, want %s; SIM through %s", c.Lifecycle.Through, want, c.SIM.Through)
		}
	}
	held := k.clock.Add(-time.Second)
	k.supplyThroughNow("MTN")
	through(held)
	k.clock = k.clock.Add(time.Hour)
	k.supplyThroughNow("MTN")
	through(held)
	void := func(i int) {
		t.Helper()
		k.decide(nth(i), "VOID", line.End)
	}
	void(1000)
	through(held)
	void(1001)
	through(k.clock)
	k.wantStatus(nth(1001), "NORMAL MTN")
}

// Reports at the same time do not pass the limit together.
func TestConcurrentReportsShareTheLimit(t *testing.T) {
	t.Parallel()
	k := withLines(t, 1600)
	who := operator("MTN")
	var calls [8][]supply.Item
	for i := range 1600 {
		e := k.event(nth(i), "ENDED", 0)
		e.Reason = "CHURNED"
		calls[i%8] = append(calls[i%8], e)
	}
	var all sync.WaitGroup
	for _, items := range calls {
		all.Go(func() {
			if _, err := k.ApplyEvents(t.Context(), who, items); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	ended, held := k.count(`SELECT count(*) FROM line_now WHERE state = $1`, int16(line.StateEnded)), k.count(`SELECT count(*) FROM line_open WHERE hold = $1`, int16(line.HoldMass))
	if ended != 1000 || held != 600 {
		t.Errorf("%d lines ended, %d events are held", ended, held)
	}
}

// A mass change that staff announced is not held, and does not use up the share. The
// announcement takes two people, and covers as many lines as it names, in its period.
func TestAnnouncedMassChangeIsNotHeld(t *testing.T) {
	t.Parallel()
	k := withLines(t, 4000)
	orders := k.orders()
	approvals := &approval.Service{Pool: k.Pool, CheckStaff: registry.CheckStaff, CheckIndependent: registry.CheckIndependent, Effects: orders.Effects(), Now: k.Now}
	ada, bola := k.member("administrator"), k.member("administrator")
	change := order.MassChange{Network: "MTN", Lines: 1500, From: k.clock, Until: k.clock.AddDate(0, 0, 3), Reason: "2G is switched off", By: ada}
	pending, err := orders.Announce(t.Context(), change)
	if err != nil || pending == uuid.Nil {
		t.Fatalf("%v, %v", pending, err)
	}
	k.wantChange("ENDED", 0, 1001, 1000, 1) // nothing has changed yet
	if _, err := approvals.Confirm(t.Context(), pending, ada, uuid.Nil); !errors.Is(err, approval.ErrSecondPerson) {
		t.Errorf("confirmed alone: %v", err)
	}
	if _, err := approvals.Confirm(t.Context(), pending, bola, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	k.wantChange("ENDED", 1001, 2502, 1500, 1)
	k.days(8)
	k.wantChange("ENDED", 2502, 3503, 1000, 1)
	for name, bad := range map[string]func(m *order.MassChange){
		"network": func(m *order.MassChange) { m.Network = "NOBODY" },
		"lines":   func(m *order.MassChange) { m.Lines = 0 },
		"reason":  func(m *order.MassChange) { m.Reason = "" },
		"until":   func(m *order.MassChange) { m.Until = m.From.AddDate(0, 0, 32) },
	} {
		m := change
		m.From, m.Until = k.clock, k.clock.AddDate(0, 0, 3)
		bad(&m)
		if _, err := orders.Announce(t.Context(), m); len(violations(err)) != 1 || !strings.Contains(violations(err)[0], name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
