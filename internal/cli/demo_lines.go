package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/supply"
)

// demoNumber is the number that the printed curl command asks about.
const demoNumber = "+2348031234567"

// demoNetworks are the networks that supply in the demonstration, with a range
// of each. T2 supplies nothing, so that something is UNKNOWN.
var demoNetworks = []struct{ code, prefix string }{{"MTN", "+234806"}, {"AIRTEL", "+234802"}, {"GLO", "+234805"}}

const (
	linesPerNetwork = 1500
	// scatter spreads the numbers over a range. It has no factor in common with
	// the size of the range, so no number comes twice.
	scatter   = 6180339
	rangeSize = 10_000_000
)

var errDemoRegion = fault.New(fault.IncompatibleState, "the demonstration's lines are Nigerian; unset LINEPROOF_REGION for it")

// demoLife is a number that ends in a status, and the event that leads there.
type demoLife struct {
	status line.Status
	number string
	event  supply.Item // without id and number; no type when the snapshot is enough
	since  time.Duration
}

// demoLives has one number for each status, in the order of precedence.
func demoLives(now time.Time) []demoLife {
	number := func(i int) string { return demoLine(0, i) }
	day := 24 * time.Hour
	churn := now.Add(20 * day).Format(time.RFC3339)
	return []demoLife{
		{line.Blacklisted, number(1), supply.Item{Type: "BLACKLISTED"}, time.Hour},
		{line.Barred, number(2), supply.Item{Type: "BARRED", Reason: "LOST"}, time.Hour},
		{line.Flagged, number(3), supply.Item{Type: "FLAGGED", Level: "HIGH"}, 2 * day},
		{line.Quarantined, number(4), supply.Item{Type: "ENDED", Reason: "CHURNED"}, 3 * day},
		{line.Recycled, number(5), supply.Item{Type: "ASSIGNED"}, 30 * day},
		{line.Swapped, number(6), supply.Item{Type: "SIM_CHANGED"}, 4 * time.Hour},
		{line.Ported, number(7), supply.Item{Type: "PORTED", Network: "AIRTEL"}, 5 * day},
		{line.PendingChurn, number(8), supply.Item{Type: "CHURN_NOTICE", ChurnAt: churn}, day},
		{line.Parked, number(9), supply.Item{Type: "PARKED"}, 40 * day},
		{line.Inactive, number(10), supply.Item{Type: "INACTIVE"}, 10 * day},
		{line.Normal, demoNumber, supply.Item{}, 0},
		{line.Unallocated, "+2348060000001", supply.Item{}, 0},
		{line.Unknown, "+2348090000001", supply.Item{}, 0},
	}
}

// demoLine returns the i-th number of a network of the demonstration.
func demoLine(network, i int) string {
	return fmt.Sprintf("%s%07d", demoNetworks[network].prefix, (i+1)*scatter%rangeSize)
}

// supplyDemo sets the numbering plan, supplies a snapshot of each network and
// tells the events that make one line of every status.
func (p *parts) supplyDemo(ctx context.Context) (lines int, err error) {
	rows, source, ok := numbering.Shipped(p.cfg.Region)
	if !ok || p.cfg.Region != "NG" {
		return 0, errDemoRegion
	}
	plans := &numbering.Book{Pool: p.pool, Now: time.Now}
	if _, err := plans.Set(ctx, rows, source, time.Time{}); err != nil {
		return 0, err
	}
	now := time.Now().UTC()
	for n := range demoNetworks {
		var b strings.Builder
		b.WriteString("number,tenureStart,simChangedAt,state,stateSince\n")
		for i := range linesPerNetwork {
			fmt.Fprintf(&b, "%s,%s,,ACTIVE,\n", demoLine(n, i), now.AddDate(-1, 0, -i).Format(time.DateOnly))
		}
		if n == 0 {
			fmt.Fprintf(&b, "%s,2019-05-01,,ACTIVE,\n", demoNumber)
		}
		im, err := p.desk.Begin(ctx, operatorFor(demoNetworks[n].code), supply.ImportForm{Kind: linefile.Snapshot, AsOf: now.Add(-time.Minute)}, "cli")
		if err != nil {
			return 0, err
		}
		open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(b.String())), nil }
		if im, err = p.desk.Run(ctx, im.ID, supply.Source{Open: open}, nil); err != nil {
			return 0, err
		}
		if im.State != supply.Finished || im.Counts.Refused > 0 {
			return 0, fmt.Errorf("the demonstration's snapshot ended %s with %d rows refused: %s", im.State, im.Counts.Refused, im.Reason)
		}
		lines += int(im.Rows)
	}
	return lines, p.tellDemo(ctx, now)
}

func (p *parts) tellDemo(ctx context.Context, now time.Time) error {
	var items []supply.Item
	for _, l := range demoLives(now) {
		if l.event.Type == "" {
			continue
		}
		e := l.event
		e.ID, e.PhoneNumber, e.EffectiveAt = "demo "+e.Type, l.number, now.Add(-l.since).Format(time.RFC3339)
		items = append(items, e)
	}
	everyone := supply.Speaker{
		Authorities: []line.Authority{line.Operator, line.ClearingHouse, line.Sector, line.Regulator}, Network: demoNetworks[0].code, Actor: access.Operator,
	}
	receipt, err := p.desk.Tell(ctx, everyone, items, now)
	if err != nil {
		return err
	}
	for _, r := range receipt.Results {
		if r.Outcome != supply.Applied {
			return errors.New("the demonstration's event " + r.ID + " was not applied: " + r.Message)
		}
	}
	return nil
}
