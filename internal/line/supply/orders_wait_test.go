package supply_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

// Every order that lowers a guard, and every order that takes effect in the past,
// changes nothing before a second, independent person confirms it: not by its
// requester, not by the operator, not by an account that the requester created.
func TestOrdersThatLowerAGuardWait(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare       func(s *env)
		form          func(s *env) order.Form
		kind          approval.Kind
		before, after string
	}{
		"void a SIM swap": {
			func(s *env) { s.wantOutcome(operator("MTN"), s.event(number(1), "SIM_CHANGED", 0), "APPLIED") },
			func(s *env) order.Form {
				return order.Form{Action: "VOID", Event: s.seq(number(1), line.ChangeSIM)}
			},
			order.KindVoid, "SWAPPED MTN", "NORMAL MTN",
		},
		"release a blacklisted number": {
			func(s *env) { s.blacklist(number(1)) },
			func(*env) order.Form { return order.Form{Action: "RELEASE"} },
			order.KindRelease, "BLACKLISTED MTN", "NORMAL MTN",
		},
		"lift a bar": {
			func(s *env) { s.createOrder(regulator(), number(1), "BAR") },
			func(*env) order.Form { return order.Form{Action: "UNBAR"} },
			order.KindUnbar, "BARRED MTN", "NORMAL MTN",
		},
		"bar since last week": {
			func(*env) {},
			func(s *env) order.Form {
				return order.Form{Action: "BAR", Reason: "COURT", EffectiveAt: s.ago(7)}
			},
			order.KindBackdated, "NORMAL MTN", "BARRED MTN",
		},
		"blacklist": {
			func(*env) {},
			func(*env) order.Form { return order.Form{Action: "BLACKLIST"} },
			order.KindBlacklist, "NORMAL MTN", "BLACKLISTED MTN",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := onMTN(t)
			c.prepare(s)
			s.clock = s.clock.Add(time.Minute)
			s.supplyThroughNow("MTN")
			s.wantStatus(number(1), c.before)
			asker, puppet, operator := regulator(), accountHolder(), supply.Supplier{Actor: audit.Actor{Kind: audit.Operator}}
			err := pg.InTx(t.Context(), s.Pool, func(tx pg.Tx) error {
				return registry.RecordAccess(t.Context(), tx, puppet.Actor.ID, registry.AccessCreated, asker.Actor, s.clock)
			})
			if err != nil {
				t.Fatal(err)
			}
			f := c.form(s)
			f.PhoneNumber = number(1)
			would, err := s.orders().Preview(t.Context(), asker, f)
			if err != nil || would.Kind != c.kind || string(would.Before.Status)+" MTN" != c.before || string(would.After.Status)+" MTN" != c.after {
				t.Fatalf("the preview is %+v, %v", would, err)
			}
			s.wantStatus(number(1), c.before)
			f.Note = "case 12 of 2026"
			o, err := s.orders().Create(t.Context(), asker, f)
			if err != nil || o.State != order.Pending || o.Kind() != c.kind || o.Result != (supply.Result{}) || !o.EffectiveAt.IsZero() {
				t.Fatalf("the order is %+v, %v", o, err)
			}
			for who, alone := range map[string]struct {
				by   supply.Supplier
				want error
			}{"the requester": {asker, order.ErrSecondPerson}, "the operator": {operator, order.ErrSecondPerson}, "a puppet": {puppet, approval.ErrNotIndependent}} {
				if _, err := s.orders().Confirm(t.Context(), alone.by, o.ID); !errors.Is(err, alone.want) {
					t.Errorf("%s: %v", who, err)
				}
			}
			s.wantStatus(number(1), c.before)
			again, err := s.orders().PreviewOf(t.Context(), accountHolder(), o)
			if err != nil || again.Kind != c.kind || again.Before.Status != would.Before.Status || again.After.Status != would.After.Status {
				t.Errorf("the second person previews %+v, %v", again, err)
			}
			done, err := s.orders().Confirm(t.Context(), accountHolder(), o.ID)
			if err != nil || done.State != order.Done || done.Result.Outcome != supply.Applied || done.Kind() != c.kind {
				t.Errorf("confirmed: %+v, %v", done, err)
			}
			s.wantStatus(number(1), c.after)
			if want := s.daysAgo(7); f.EffectiveAt != "" && !done.EffectiveAt.Equal(want) {
				t.Errorf("it takes effect at %s, want %s", done.EffectiveAt, want)
			}
		})
	}
}

// A bar by one person ends after 72 hours, unless a second, independent person confirms
// it: not its requester, not the operator, and not by the order that confirms an event.
func TestBarLapsesUnlessASecondPersonConfirmsIt(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	asker, second := regulator(), accountHolder()
	bar := func(n string) order.Order {
		t.Helper()
		o, err := s.orders().Create(t.Context(), asker, order.Form{PhoneNumber: n, Action: "BAR", Reason: "COURT", Note: "why"})
		if err != nil || o.State != order.Unconfirmed || o.Kind() != order.KindBar || !o.LapsesAt.Equal(s.clock.Add(72*time.Hour)) {
			t.Fatalf("the bar is %+v, %v", o, err)
		}
		return o
	}
	state := func(o order.Order, want string) {
		t.Helper()
		if got, err := s.orders().Find(t.Context(), o.ID); err != nil || got.State != want {
			t.Errorf("the order is %s, %v, want %s", got.State, err, want)
		}
	}
	s.wantOutcome(operator("MTN"), s.event(number(2), "ASSIGNED", 400), "APPLIED")
	lapses, lasts := bar(number(1)), bar(number(2))
	if list, err := s.orders().List(t.Context(), true, 10); err != nil || len(list) != 2 {
		t.Errorf("a second person can confirm %+v, %v", list, err)
	}
	for who, by := range map[string]supply.Supplier{"the requester": asker, "the operator": {Actor: audit.Actor{Kind: audit.Operator}}} {
		if _, err := s.orders().Confirm(t.Context(), by, lasts.ID); !errors.Is(err, order.ErrSecondPerson) {
			t.Errorf("%s: %v", who, err)
		}
	}
	s.wantRefusedOrder("CONFIRM", s.seq(number(1), line.Bar), "event NOT_ALLOWED")
	s.clock = s.clock.Add(time.Hour)
	done, err := s.orders().Confirm(t.Context(), second, lasts.ID)
	if err != nil || done.State != order.Done || !done.EffectiveAt.Equal(lasts.EffectiveAt) || done.Kind() != order.KindBar {
		t.Errorf("confirmed: %+v, %v", done, err)
	}
	s.clock = s.clock.Add(71*time.Hour - time.Second)
	s.supplyThroughNow("MTN")
	s.wantStatus(number(1), "BARRED MTN")
	s.wantStatus(number(2), "BARRED MTN")
	s.clock = s.clock.Add(time.Second)
	s.wantStatus(number(1), "NORMAL MTN")
	s.wantStatus(number(2), "BARRED MTN")
	state(lapses, order.Lapsed)
	state(lasts, order.Done)
	if _, err := s.orders().Confirm(t.Context(), second, lapses.ID); !errors.Is(err, order.ErrLapsed) {
		t.Errorf("confirmed too late: %v", err)
	}
	if list, err := s.orders().List(t.Context(), true, 10); err != nil || len(list) != 0 {
		t.Errorf("a second person can confirm %+v, %v", list, err)
	}
	s.days(1000)
	s.supplyThroughNow("MTN")
	s.wantStatus(number(2), "BARRED MTN")
}

// After a bar that lapsed or was rejected, a new one of the number takes two people for 30
// days, whoever orders it; and while one acts, a new one does not last longer. So nobody bars
// a number for good alone.
func TestBarAgainTakesTwoPeople(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	asker, second := regulator(), accountHolder()
	f := order.Form{PhoneNumber: number(1), Action: "BAR", Reason: "COURT", Note: "why"}
	bar := func(by supply.Supplier, want string) order.Order {
		t.Helper()
		would, err := s.orders().Preview(t.Context(), by, f)
		if err != nil {
			t.Fatal(err)
		}
		o, err := s.orders().Create(t.Context(), by, f)
		if err != nil || o.State != want || o.Kind() != would.Kind || (o.Kind() == order.KindBarAgain) != (want == order.Pending) {
			t.Fatalf("the bar is %+v, %v, and its preview %+v; want %s", o, err, would, want)
		}
		return o
	}
	first := bar(asker, order.Unconfirmed)
	s.clock = s.clock.Add(order.Lapse - time.Hour)
	if longer := bar(asker, order.Unconfirmed); !longer.LapsesAt.Equal(first.LapsesAt) {
		t.Errorf("a second bar lasts until %s, the first until %s", longer.LapsesAt, first.LapsesAt)
	}
	s.clock = s.clock.Add(time.Hour)
	s.supplyThroughNow("MTN")
	again := bar(asker, order.Pending)
	bar(accountHolder(), order.Pending)
	s.wantStatus(number(1), "NORMAL MTN")
	if done, err := s.orders().Confirm(t.Context(), second, again.ID); err != nil || done.Kind() != order.KindBarAgain {
		t.Errorf("confirmed: %+v, %v", done, err)
	}
	s.wantStatus(number(1), "BARRED MTN")
	s.clock = first.LapsesAt.Add(30*24*time.Hour - time.Second)
	bar(asker, order.Pending)
	s.clock = s.clock.Add(time.Second)
	rejected := bar(asker, order.Unconfirmed)
	if _, err := s.orders().Refuse(t.Context(), second.Actor, rejected.ID, "It is not needed.", uuid.Nil); err != nil {
		t.Fatal(err)
	}
	bar(asker, order.Pending)
}

// A bar that is refused still acts until it lapses, because to lift a bar takes two
// people, and cannot be confirmed any more.
func TestRefusedBarLapses(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	o, err := s.orders().Create(t.Context(), regulator(), order.Form{PhoneNumber: number(1), Action: "BAR", Reason: "COURT", Note: "why"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.orders().Refuse(t.Context(), accountHolder().Actor, o.ID, "It is not needed.", uuid.Nil); err != nil || got.State != order.Withdrawn {
		t.Errorf("refused: %+v, %v", got, err)
	}
	if _, err := s.orders().Confirm(t.Context(), accountHolder(), o.ID); !errors.Is(err, order.ErrNotPending) {
		t.Errorf("confirmed after that: %v", err)
	}
	s.wantStatus(number(1), "BARRED MTN")
	s.clock = s.clock.Add(order.Lapse)
	s.supplyThroughNow("MTN")
	s.wantStatus(number(1), "NORMAL MTN")
}

// A bar protects: it acts at once by one person, also with the time of this minute. So
// does the confirmation of one held event.
func TestOrdersThatProtectActAtOnce(t *testing.T) {
	t.Parallel()
	s := onMTN(t)
	for _, at := range []string{"", s.clock.Add(-time.Second).Format(time.RFC3339), s.clock.Format(time.DateOnly)} {
		o, err := s.orders().Create(t.Context(), regulator(), order.Form{PhoneNumber: number(1), Action: "BAR", Reason: "COURT", Note: "why", EffectiveAt: at})
		if err != nil || o.State != order.Unconfirmed || o.Result.Outcome != supply.Applied {
			t.Errorf("a bar at %q: %+v, %v", at, o, err)
		}
	}
	s.wantStatus(number(1), "BARRED MTN")
	s.wantOutcome(operator("MTN"), s.event(number(2), "PARKED", 450), "APPLIED")
	s.wantLate(operator("MTN"), s.event(number(2), "USED", 400), "WAITING TOO_OLD")
	o, err := s.orders().Create(t.Context(), regulator(), order.Form{PhoneNumber: number(2), Action: "CONFIRM", Event: s.seq(number(2), line.Use), Note: "why"})
	if err != nil || o.State != order.Done {
		t.Errorf("the confirmation of one held event: %+v, %v", o, err)
	}
}
