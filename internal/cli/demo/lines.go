package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// demoNumber is the number in the printed curl command.
const demoNumber = "+2348031234567"

// demoNetworks are the networks that supply lines in the demo, with a range of
// each. T2 supplies nothing, so that there is a number with the status UNKNOWN.
var demoNetworks = []struct{ code, prefix string }{{"MTN", "+234806"}, {"AIRTEL", "+234802"}, {"GLO", "+234805"}}

const (
	linesPerNetwork = 1500
	// scatter spreads the numbers over a range. It is coprime to the size of the
	// range, so that no number is repeated.
	scatter   = 6180339
	rangeSize = 10_000_000
)

var errDemoRegion = fault.New(fault.IncompatibleState, "the demo has Nigerian lines only; unset LINEPROOF_REGION")

// statusNumber is a number with a known status, and the event that leads to it.
type statusNumber struct {
	status line.Status
	number string
	event  supply.Item // without id and number; no type if the snapshot is enough
	since  time.Duration
}

// demoNumbers has one number for each status, in the order of precedence.
func demoNumbers(now time.Time) []statusNumber {
	number := func(i int) string { return demoLine(0, i) }
	day := 24 * time.Hour
	churn := now.Add(20 * day).Format(time.RFC3339)
	return []statusNumber{
		{line.Blacklisted, number(1), supply.Item{Type: "BLACKLISTED"}, time.Hour},
		{line.Barred, number(2), supply.Item{Type: "BARRED", Reason: "LOST"}, time.Hour},
		{line.Flagged, number(3), supply.Item{Type: "FLAGGED", Level: "HIGH"}, 2 * day},
		{line.Quarantined, number(4), supply.Item{Type: "ENDED", Reason: "CHURNED"}, 3 * day},
		{line.Recycled, number(5), supply.Item{Type: "ASSIGNED"}, 20 * day},
		{line.Swapped, number(6), supply.Item{Type: "SIM_CHANGED"}, 4 * time.Hour},
		{line.Ported, number(7), supply.Item{Type: "PORTED", Network: "AIRTEL"}, 5 * day},
		{line.PendingChurn, number(8), supply.Item{Type: "CHURN_NOTICE", ChurnAt: churn}, day},
		{line.Parked, number(9), supply.Item{Type: "PARKED"}, 25 * day},
		{line.Inactive, number(10), supply.Item{Type: "INACTIVE"}, 10 * day},
		{line.Normal, demoNumber, supply.Item{}, 0},
		{line.Unallocated, "+2348060000001", supply.Item{}, 0},
		{line.Unknown, "+2348090000001", supply.Item{}, 0},
	}
}

// demoLine returns the i-th number of a network in the demo.
func demoLine(network, i int) string {
	return fmt.Sprintf("%s%07d", demoNetworks[network].prefix, (i+1)*scatter%rangeSize)
}

// supplyDemo sets the numbering plan, imports a snapshot of each network and
// reports the events that give one line of every status.
func supplyDemo(ctx context.Context, b *backend.Backend) (lines int, err error) {
	rows, source, ok := numbering.Shipped(b.Config.Region)
	if !ok || b.Config.Region != "NG" {
		return 0, errDemoRegion
	}
	plans := &numbering.Service{Pool: b.Pool, Now: time.Now}
	if _, err := plans.Set(ctx, rows, source, time.Time{}); err != nil {
		return 0, err
	}
	now := time.Now().UTC()
	for n := range demoNetworks {
		var file strings.Builder
		file.WriteString("number,tenureStart,simChangedAt,state,stateSince\n")
		for i := range linesPerNetwork {
			fmt.Fprintf(&file, "%s,%s,NEVER,ACTIVE,\n", demoLine(n, i), now.AddDate(-1, 0, -i).Format(time.DateOnly))
		}
		if n == 0 {
			fmt.Fprintf(&file, "%s,2019-05-01,NEVER,ACTIVE,\n", demoNumber)
		}
		im, err := b.Supply.Begin(ctx, backend.OperatorSupplier(demoNetworks[n].code), supply.ImportForm{Kind: linefile.Snapshot, AsOf: now.Add(-time.Minute)}, "cli")
		if err != nil {
			return 0, err
		}
		open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(file.String())), nil }
		if im, err = b.Supply.Run(ctx, im.ID, supply.Source{Open: open}, nil); err != nil {
			return 0, err
		}
		if im.State != supply.Finished || im.Counts.Refused > 0 {
			return 0, fmt.Errorf("the demo snapshot ended %s with %d rejected rows: %s", im.State, im.Counts.Refused, im.Reason)
		}
		lines += int(im.Rows)
	}
	return lines, reportDemoEvents(ctx, b, now)
}

// reportDemoEvents applies the events of [demoNumbers].
func reportDemoEvents(ctx context.Context, b *backend.Backend, now time.Time) error {
	var items []supply.Item
	for _, l := range demoNumbers(now) {
		if l.event.Type == "" {
			continue
		}
		e := l.event
		e.ID, e.PhoneNumber, e.EffectiveAt = "demo "+e.Type, l.number, now.Add(-l.since).Format(time.RFC3339)
		items = append(items, e)
	}
	supplier := supply.Supplier{
		Authorities: []line.Authority{line.Operator, line.ClearingHouse, line.Sector, line.Regulator}, Network: demoNetworks[0].code, Actor: access.Operator,
	}
	receipt, err := b.Supply.ApplyEvents(ctx, supplier, items, supply.Assurance{Topic: line.TopicLifecycle, Through: now},
		supply.Assurance{Topic: line.TopicSIM, Through: now}, supply.Assurance{Topic: line.TopicPort, Through: now})
	if err != nil {
		return err
	}
	for _, r := range receipt.Results {
		if r.Outcome != supply.Applied {
			return errors.New("the demo event " + r.ID + " was not applied: " + r.Message)
		}
	}
	return nil
}
