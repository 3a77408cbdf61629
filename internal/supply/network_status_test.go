package supply_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/supply"
)

// Every network on the plan has a status, and one that never reported is silent.
func TestEveryNetworkHasAStatus(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	s.supplyThroughNow("MTN")
	list, err := s.NetworkStatuses(t.Context(), "", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != len(s.plan.Networks()) || len(list) < 5 {
		t.Fatalf("%d networks, want %d", len(list), len(s.plan.Networks()))
	}
	for _, got := range list {
		n, _ := s.plan.Network(got.Network)
		want := supply.NetworkStatus{Network: got.Network, Name: s.plan.Name(n), Silent: true, Capacity: s.plan.Capacity(n, s.clock)}
		if got.Network == "MTN" {
			want.Silent, want.KnownSince, want.SuppliedThrough = false, s.clock, s.clock
		}
		if diff := cmp.Diff(want, got); diff != "" || got.Capacity == 0 || got.Name == "" {
			t.Errorf("%s:\n%s", got.Network, diff)
		}
	}
	if _, err := s.NetworkStatuses(t.Context(), "NOBODY", time.Time{}); !errors.Is(err, supply.ErrNoNetwork) {
		t.Errorf("a network that is not on the plan: %v", err)
	}
}

// An operator is silent exactly when its coverage is so old that its lines are
// stale.
func TestNetworkIsSilentWhenItsCoverageIsStale(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	s.wantOutcome(operator("MTN"), s.event(number(1), "ASSIGNED", 400), "APPLIED")
	s.supplyThroughNow("MTN")
	supplied := s.clock
	const fresh = 14 * 24 * time.Hour
	for _, after := range []time.Duration{0, fresh - time.Second, fresh} {
		s.clock = supplied.Add(after)
		silent := after == fresh
		list, err := s.NetworkStatuses(t.Context(), "MTN", time.Time{})
		if err != nil || len(list) != 1 || list[0].Silent != silent {
			t.Errorf("after %v: %+v, %v", after, list, err)
		}
		if stale := s.status(number(1)) == "UNKNOWN STALE MTN"; stale != silent {
			t.Errorf("after %v a line is stale: %v, and the network silent: %v", after, stale, silent)
		}
	}
}

// The status counts what was reported, how late, and what was refused.
func TestNetworkStatusCountsReports(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	mtn := operator("MTN")
	end := func(n string, days int) supply.Item {
		e := s.event(n, "ENDED", days)
		e.Reason = "CHURNED"
		return e
	}
	s.report(mtn, end(number(1), 7), end(number(2), 8), s.event("1", "USED", 1), s.event("+2348020000001", "USED", 1))
	first := s.clock
	s.days(1)
	s.report(mtn, end(number(3), 1), s.event(number(1), "ASSIGNED", 0), s.event(number(4), "ASSIGNED", 400), s.event(number(4), "SIM_CHANGED", 2))
	s.report(operator("AIRTEL"), s.event("+2348020000001", "USED", 3))
	s.supplyThroughNow("MTN")

	const day = 24 * time.Hour
	of := func(since time.Time) supply.NetworkStatus {
		t.Helper()
		list, err := s.NetworkStatuses(t.Context(), "MTN", since)
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		return list[0]
	}
	got := of(time.Time{})
	want := []supply.KindTimeliness{
		{Kind: "ASSIGNED", Accepted: 2, Early: 1, MeanDelay: 200 * day, MaxDelay: 400 * day},
		{Kind: "SIM_CHANGED", Accepted: 1, MeanDelay: 2 * day, MaxDelay: 2 * day},
		{Kind: "ENDED", Accepted: 3, Late: 1, MeanDelay: 16 * day / 3, MaxDelay: 8 * day},
	}
	if diff := cmp.Diff(want, got.Kinds); diff != "" {
		t.Errorf("since the start:\n%s", diff)
	}
	if got.Refused != 2 || got.Lines != 2 || !got.KnownSince.Equal(first) || !got.CompleteSince.IsZero() || !got.SuppliedThrough.Equal(s.clock) {
		t.Errorf("the status is %+v", got)
	}
	got, want[2] = of(s.clock), supply.KindTimeliness{Kind: "ENDED", Accepted: 1, MeanDelay: day, MaxDelay: day}
	if diff := cmp.Diff(want, got.Kinds); diff != "" || got.Refused != 0 || got.Lines != 2 {
		t.Errorf("since today: %d refused\n%s", got.Refused, diff)
	}
}
