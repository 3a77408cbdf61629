package linefile_test

import (
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/phone"
)

var asOf = time.Date(2026, 10, 31, 0, 0, 0, 0, time.UTC)

func region(tb testing.TB) *phone.Region {
	tb.Helper()
	r, err := phone.NewRegion("NG")
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// options are those with which most tests read a file.
func options(tb testing.TB, kind linefile.Kind) linefile.Options {
	tb.Helper()
	return linefile.Options{Kind: kind, Region: region(tb), AsOf: asOf, Now: asOf.Add(24 * time.Hour)}
}

// shipped is the numbering plan that ships with the program.
func shipped(tb testing.TB) *numbering.Plan {
	tb.Helper()
	rows, _, ok := numbering.Shipped("NG")
	if !ok {
		tb.Fatal("there is no plan for Nigeria")
	}
	plan, err := numbering.New(rows, 13)
	if err != nil {
		tb.Fatal(err)
	}
	return plan
}

// nation describes lines of MTN.
func nation(tb testing.TB, lines int64) linefile.SyntheticNetwork {
	tb.Helper()
	plan := shipped(tb)
	network, ok := plan.Network("MTN")
	if !ok {
		tb.Fatal("the plan has no MTN")
	}
	return linefile.SyntheticNetwork{Seed: 1, Plan: plan, Network: network, Lines: lines, AsOf: asOf}
}

func zone(tb testing.TB, name string) *time.Location {
	tb.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		tb.Fatal(err)
	}
	return z
}
