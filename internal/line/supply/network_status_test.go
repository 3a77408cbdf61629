package supply_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/supply"
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
		want.Topics = [3]line.TopicState{{Topic: line.TopicLifecycle, Required: true}, {Topic: line.TopicSIM, Required: true}, {Topic: line.TopicPort}}
		if got.Network == "MTN" {
			want.Silent, want.KnownSince, want.SuppliedThrough, want.FreshUntil = false, s.clock, s.clock, s.clock.Add(36*time.Hour)
			want.Topics[0].Span, want.Topics[0].Fresh = line.Span{KnownSince: s.clock, Through: s.clock}, true
			want.Topics[1].Span, want.Topics[1].Fresh = line.Span{KnownSince: s.clock, Through: s.clock}, true
		}
		if diff := cmp.Diff(want, got); diff != "" || got.Capacity == 0 || got.Name == "" {
			t.Errorf("%s:\n%s", got.Network, diff)
		}
	}
	if _, err := s.NetworkStatuses(t.Context(), "NOBODY", time.Time{}); !errors.Is(err, supply.ErrNoNetwork) {
		t.Errorf("a network that is not on the plan: %v", err)
	}
}

// An operator is silent exactly when a required topic is so old that its lines are
// stale.
func TestNetworkIsSilentWhenItsCoverageIsStale(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, tc := range map[string]struct {
		topic line.Topic // which falls behind
		fresh time.Duration
	}{
		"LIFECYCLE": {line.TopicLifecycle, 7 * day},
		"SIM":       {line.TopicSIM, 36 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t)
			s.wantOutcome(operator("MTN"), s.event(number(1), "ASSIGNED", 400), "APPLIED")
			s.supplyThroughNow("MTN")
			supplied := s.clock
			for _, after := range []time.Duration{0, tc.fresh - time.Second, tc.fresh} {
				s.clock = supplied.Add(after)
				for _, a := range through(s.clock) {
					if a.Topic != tc.topic {
						s.assure("MTN", a)
					}
				}
				silent := after == tc.fresh
				until := supplied.Add(tc.fresh)
				if sim := s.clock.Add(36 * time.Hour); tc.topic == line.TopicLifecycle && sim.Before(until) {
					until = sim
				}
				list, err := s.NetworkStatuses(t.Context(), "MTN", time.Time{})
				if err != nil || len(list) != 1 || list[0].Silent != silent || !list[0].SuppliedThrough.Equal(supplied) || !list[0].FreshUntil.Equal(until) {
					t.Errorf("after %v: %+v, %v", after, list, err)
				}
				if stale := s.status(number(1)) == "UNKNOWN STALE MTN"; stale != silent {
					t.Errorf("after %v a line is stale: %v, and the network silent: %v", after, stale, silent)
				}
			}
		})
	}
}

// A network that has assured one of the required topics only has supplied nothing
// completely.
func TestNetworkThatSuppliesOneTopicIsSilent(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	s.assure("MTN", through(s.clock)[0])
	s.assure("AIRTEL", through(s.clock)[1])
	for _, network := range []string{"MTN", "AIRTEL"} {
		list, err := s.NetworkStatuses(t.Context(), network, time.Time{})
		if err != nil || len(list) != 1 || !list[0].Silent || !list[0].SuppliedThrough.IsZero() || !list[0].FreshUntil.IsZero() {
			t.Errorf("%s: %+v, %v", network, list, err)
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
	bar := func(hours int) supply.Item {
		e := s.event(number(4), "BARRED", 0)
		e.Reason, e.EffectiveAt = "DEBT", s.clock.Add(-time.Duration(hours)*time.Hour).Format(time.RFC3339)
		return e
	}
	s.reportNow(mtn, end(number(1), 7), end(number(2), 8), s.event("1", "USED", 1), s.event("+2348020000001", "ASSIGNED", 1))
	first := s.clock
	s.days(1)
	s.reportNow(mtn, end(number(3), 1), s.event(number(1), "ASSIGNED", 0), s.event(number(4), "ASSIGNED", 20), s.event(number(4), "SIM_CHANGED", 2), bar(24), bar(25))
	s.reportNow(operator("AIRTEL"), s.event("+2348020000001", "USED", 3))
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
		{Kind: "ASSIGNED", Accepted: 2, Early: 1, MeanDelay: 10 * day, MaxDelay: 20 * day},
		{Kind: "SIM_CHANGED", Accepted: 1, Late: 1, MeanDelay: 2 * day, MaxDelay: 2 * day},
		{Kind: "BARRED", Accepted: 2, Late: 1, MeanDelay: 49 * time.Hour / 2, MaxDelay: 25 * time.Hour},
		{Kind: "ENDED", Accepted: 3, Late: 1, MeanDelay: 16 * day / 3, MaxDelay: 8 * day},
	}
	if diff := cmp.Diff(want, got.Kinds); diff != "" {
		t.Errorf("since the start:\n%s", diff)
	}
	if got.Refused != 2 || got.Lines != 2 || !got.KnownSince.Equal(first) || !got.CompleteSince.IsZero() || !got.SuppliedThrough.Equal(s.clock) {
		t.Errorf("the status is %+v", got)
	}
	got, want[3] = of(s.clock), supply.KindTimeliness{Kind: "ENDED", Accepted: 1, MeanDelay: day, MaxDelay: day}
	if diff := cmp.Diff(want, got.Kinds); diff != "" || got.Refused != 0 || got.Lines != 2 {
		t.Errorf("since today: %d refused\n%s", got.Refused, diff)
	}
}

// Whether a bare date is late is judged by its last second, also that of an end,
// which is ordered at the first.
func TestBareDateIsLateByItsEnd(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	for i, kind := range []string{"ENDED", "PORT_CLAIMED"} {
		e := supply.Item{ID: kind, PhoneNumber: []string{number(1), "+2348020000001"}[i], Type: kind, EffectiveAt: "2026-05-31"}
		if kind == "ENDED" {
			e.Reason = "CHURNED"
		}
		deadline := time.Date(2026, 5, 31, 22, 59, 59, 0, time.UTC).Add([]time.Duration{7 * 24 * time.Hour, 24 * time.Hour}[i])
		s.atTime(deadline, func() { s.reportNow(operator("MTN"), e) })
		e.ID, e.PhoneNumber = e.ID+" late", []string{number(2), "+2348020000002"}[i]
		s.atTime(deadline.Add(time.Second), func() { s.reportNow(operator("MTN"), e) })
	}
	list, err := s.NetworkStatuses(t.Context(), "MTN", time.Time{})
	if err != nil || len(list) != 1 || len(list[0].Kinds) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, k := range list[0].Kinds {
		if k.Accepted != 2 || k.Late != 1 {
			t.Errorf("%s: %d of %d are late, want one of two", k.Kind, k.Late, k.Accepted)
		}
	}
}

// Whether a new holder is early is judged by the line as it was then: an end that
// came later does not make it early.
func TestEarlyIsJudgedByTheLineAsItWas(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	end := s.event(number(1), "ENDED", 10)
	end.Reason = "CHURNED"
	s.reportNow(operator("MTN"), end, s.event(number(1), "ASSIGNED", 20))
	list, err := s.NetworkStatuses(t.Context(), "MTN", time.Time{})
	if err != nil || len(list) != 1 || len(list[0].Kinds) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	if list[0].Kinds[0].Early != 0 {
		t.Errorf("%d are early, want none: %+v", list[0].Kinds[0].Early, list[0].Kinds)
	}
}
