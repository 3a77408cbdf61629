package supply_test

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

func regulator() supply.Supplier { return newSupplier(line.Regulator, "") }

// accountHolder is a staff account of the regulator.
func accountHolder() supply.Supplier {
	return supply.Supplier{Actor: audit.Actor{Kind: audit.Account, ID: uuid.New()}}
}

// orders returns the service that keeps orders.
func (s *env) orders() *order.Service {
	return &order.Service{Supply: s.Service, CheckClient: access.CheckOrders}
}

// giveOrder gives an order, and another client of the regulator confirms it if it
// waits, or would lapse.
func giveOrder(ctx context.Context, s *supply.Service, who supply.Supplier, f order.Form) (order.Order, error) {
	orders := order.Service{Supply: s, CheckClient: access.CheckOrders}
	o, err := orders.Create(ctx, who, f)
	if err == nil && o.State == order.Pending {
		o, err = orders.Confirm(ctx, regulator(), o.ID)
	}
	if err == nil && o.State == order.Unconfirmed {
		_, err = orders.Confirm(ctx, regulator(), o.ID)
	}
	return o, err
}

// createOrder creates an order, which another client confirms if it waits. A
// blacklisting keeps waiting.
func (s *env) createOrder(who supply.Supplier, number, action string, change ...func(f *order.Form)) order.Order {
	s.t.Helper()
	f := order.Form{PhoneNumber: number, Action: action, Note: "case 12 of 2026"}
	if action == "BAR" {
		f.Reason = "COURT"
	}
	for _, c := range change {
		c(&f)
	}
	give := giveOrder
	if action == "BLACKLIST" {
		give = func(ctx context.Context, _ *supply.Service, who supply.Supplier, f order.Form) (order.Order, error) {
			return s.orders().Create(ctx, who, f)
		}
	}
	o, err := give(s.t.Context(), s.Service, who, f)
	if err != nil {
		s.t.Fatal(err)
	}
	return o
}

// blacklist blacklists a number by two clients of the regulator.
func (s *env) blacklist(number string) {
	s.t.Helper()
	if _, err := s.orders().Confirm(s.t.Context(), regulator(), s.createOrder(regulator(), number, "BLACKLIST").ID); err != nil {
		s.t.Fatal(err)
	}
}

// An order becomes an event of the regulator, and the order, the event and the audit
// trail refer to each other.
func TestOrderIsAnEventOfTheRegulator(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	s.wantOutcome(operator("MTN"), s.event(number(1), "ASSIGNED", 400), "APPLIED")
	s.supplyThroughNow("MTN")
	for _, who := range []supply.Supplier{regulator(), accountHolder(), {Actor: audit.Actor{Kind: audit.Operator}}} {
		got := s.createOrder(who, number(1), "BAR")
		want := order.Order{
			ID: got.ID, Number: s.parse(number(1)), Action: "BAR", Reason: "COURT", State: order.Unconfirmed, Note: "case 12 of 2026", RequestedAt: s.clock, EffectiveAt: s.clock,
			LapsesAt: s.clock.Add(order.Lapse), RequestedBy: who.Actor, Result: supply.Result{ID: got.ID.String(), Outcome: supply.Applied},
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateComparable(phone.Number{}, netip.Addr{}), cmpopts.IgnoreUnexported(order.Order{})); diff != "" {
			t.Errorf("%s:\n%s", who.Actor.Kind, diff)
		}
		s.wantStatus(number(1), "BARRED MTN")
		n := s.count(`SELECT count(*) FROM line_order o JOIN line_event e ON e.number = o.number AND e.seq = o.seq JOIN audit a ON a.subject_id = o.id
			WHERE o.id = $1 AND e.event_id = o.id::text AND e.authority = 4 AND e.code = 3 AND e.note = o.reason AND e.network = 0
			AND a.action = 'order.given' AND a.actor_kind = $2 AND a.at = $3`, got.ID, string(who.Actor.Kind), s.clock)
		if n != 1 {
			t.Errorf("%s: %d orders with an event and an entry, want 1", who.Actor.Kind, n)
		}
		s.clock = s.clock.Add(time.Minute)
		s.createOrder(who, number(1), "UNBAR")
		s.wantStatus(number(1), "NORMAL MTN")
		s.clock = s.clock.Add(time.Minute)
	}
	if n := s.count(`SELECT count(*) FROM audit WHERE action = 'order.given'`); n != 6 {
		t.Errorf("%d orders are in the audit trail, want 6", n)
	}
	list, err := s.orders().List(t.Context(), false, 4)
	if err != nil || len(list) != 4 || list[0].Action != "UNBAR" || list[1].Action != "BAR" || !list[0].RequestedAt.After(list[1].RequestedAt) {
		t.Errorf("the list is %+v, %v", list, err)
	}
	if list, err = s.orders().List(t.Context(), true, 4); err != nil || len(list) != 0 {
		t.Errorf("pending are %+v, %v", list, err)
	}
}

// An order may take effect in the past, and then later events prevail over it. It is
// not held for that.
func TestOrderMayTakeEffectInThePast(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	s.report(operator("MTN"), s.event(number(1), "ASSIGNED", 400), s.event(number(1), "ASSIGNED", 100))
	s.supplyThroughNow("MTN")
	past := func(f *order.Form) { f.EffectiveAt = s.ago(200) }
	o := s.createOrder(regulator(), number(1), "BAR", past, scope("HOLDER"))
	if !o.EffectiveAt.Equal(s.daysAgo(200)) || o.Result.Outcome != supply.Applied {
		t.Errorf("the order is %+v", o)
	}
	s.wantStatus(number(1), "NORMAL MTN") // the bar was over 90 days after the tenure
	s.createOrder(regulator(), number(1), "BAR", past, scope("NUMBER"))
	s.wantStatus(number(1), "BARRED MTN")
	s.report(operator("MTN"), s.event(number(4), "ASSIGNED", 400), s.event(number(4), "ASSIGNED", 60)) // early, before the bar was known
	s.createOrder(regulator(), number(4), "BAR", past, scope("HOLDER"))
	s.atTime(s.clock.AddDate(0, 0, 30).Add(-time.Second), func() { s.wantStatus(number(4), "BARRED MTN") })
	s.atTime(s.clock.AddDate(0, 0, 30), func() { s.supplyThroughNow("MTN"); s.wantStatus(number(4), "NORMAL MTN") })
	o = s.createOrder(regulator(), number(2), "BAR")
	if o.Result.Outcome != supply.Applied {
		t.Errorf("a number without events: %+v", o.Result)
	}
	end := s.event(number(3), "ENDED", 3)
	end.Reason = "CHURNED"
	s.wantOutcome(operator("MTN"), end, "APPLIED")
	if o = s.createOrder(regulator(), number(3), "BAR", scope("HOLDER")); o.Result.Outcome != supply.NoEffect || o.Result.Reason != "STATE" {
		t.Errorf("the bar on the holder of a line that has ended: %+v", o.Result)
	}
	s.wantStatus(number(3), "QUARANTINED MTN")
	if o = s.createOrder(regulator(), number(3), "BAR", scope("NUMBER")); o.Result.Outcome != supply.Applied {
		t.Errorf("the bar on the number of a line that has ended: %+v", o.Result)
	}
	s.wantStatus(number(3), "BARRED MTN")
}

// Of orders within one second the last prevails.
func TestOrdersOfOneSecondTakeEffectInOrder(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	s.wantOutcome(operator("MTN"), s.event(number(1), "USED", 0), "APPLIED")
	s.supplyThroughNow("MTN")
	s.createOrder(regulator(), number(1), "BAR")
	s.createOrder(regulator(), number(1), "UNBAR")
	s.wantStatus(number(1), "NORMAL MTN")
	s.createOrder(regulator(), number(1), "BAR")
	s.wantStatus(number(1), "BARRED MTN")
	s.blacklist(number(1))
	s.wantStatus(number(1), "BLACKLISTED MTN")
	s.createOrder(regulator(), number(1), "RELEASE")
	s.wantStatus(number(1), "BARRED MTN")
}

// An order that takes effect now comes after everything that is stored, also after an
// event of today's date, which is ordered at the end of the day.
func TestOrderOfNowComesAfterABareDateOfToday(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	end, assigned := s.event(number(1), "ENDED", 100), s.event(number(1), "ASSIGNED", 0)
	end.Reason, assigned.EffectiveAt = "CHURNED", s.clock.Format(time.DateOnly)
	s.wantOutcome(operator("MTN"), end, "APPLIED")
	s.wantLate(operator("MTN"), assigned, "APPLIED")
	if o := s.createOrder(regulator(), number(1), "BAR", scope("HOLDER")); o.Result.Outcome != supply.Applied {
		t.Errorf("the order is %+v", o.Result)
	}
	s.wantStatus(number(1), "BARRED MTN")
}

// A blacklisting changes nothing until somebody else confirms it, and takes effect
// then.
func TestBlacklistingNeedsTwo(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	s.wantOutcome(operator("MTN"), s.event(number(1), "ASSIGNED", 400), "APPLIED")
	s.supplyThroughNow("MTN")
	asker := regulator()
	o := s.createOrder(asker, number(1), "BLACKLIST")
	if o.State != order.Pending || !o.EffectiveAt.IsZero() || !o.ConfirmedAt.IsZero() || o.Result != (supply.Result{}) {
		t.Errorf("the order is %+v", o)
	}
	s.wantStatus(number(1), "NORMAL MTN")
	list, err := s.orders().List(t.Context(), true, 10)
	if err != nil || len(list) != 1 || list[0].ID != o.ID || !list[0].EffectiveAt.IsZero() {
		t.Errorf("pending are %+v, %v", list, err)
	}
	sameClient := asker
	sameClient.Authorities = nil
	sameClient.Actor.From = netip.MustParseAddr("192.0.2.7") // it is the same client wherever it calls from
	for name, alone := range map[string]supply.Supplier{"the client itself": sameClient, "the command line": {Actor: audit.Actor{Kind: audit.Operator}}} {
		if _, err := s.orders().Confirm(t.Context(), alone, o.ID); !errors.Is(err, order.ErrSecondPerson) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.wantStatus(number(1), "NORMAL MTN")
	asked := s.clock
	s.days(3)
	got, err := s.orders().Confirm(t.Context(), accountHolder(), o.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got.State != order.Done || got.Result.Outcome != supply.Applied || !got.RequestedAt.Equal(asked) || !got.ConfirmedAt.Equal(s.clock) ||
		!got.EffectiveAt.Equal(s.clock) {
		t.Errorf("the order is %+v", got)
	}
	s.wantStatus(number(1), "BLACKLISTED MTN")
	if at := s.row(number(1)).BlackAt.Time(); !at.Equal(s.clock) {
		t.Errorf("blacklisted since %v, want %v", at, s.clock)
	}
	n := s.count(`SELECT count(*) FROM line_order o JOIN line_event e ON e.number = o.number AND e.seq = o.seq JOIN audit a ON a.subject_id = o.id
		AND a.action = 'order.confirmed' AND a.at = $2 WHERE o.id = $1 AND o.second_kind = 'account' AND o.second_by = a.actor_id AND o.second_at = $2`, o.ID, s.clock)
	if n != 1 {
		t.Errorf("%d confirmed orders with an event and an entry, want 1", n)
	}
	if list, err = s.orders().List(t.Context(), true, 10); err != nil || len(list) != 0 {
		t.Errorf("still pending are %+v, %v", list, err)
	}
}

// An order is not confirmed by somebody whom the requester alone gave access, nor by a
// client of the same maker.
func TestOrderNeedsIndependentPeople(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	asker, puppet, sibling := regulator(), accountHolder(), regulator()
	maker := audit.Actor{Kind: audit.Account, ID: uuid.New()}
	err := pg.InTx(t.Context(), s.Pool, func(tx pg.Tx) error {
		return errors.Join(
			registry.RecordAccess(t.Context(), tx, puppet.Actor.ID, registry.AccessReset, asker.Actor, s.clock),
			registry.RecordAccess(t.Context(), tx, asker.Actor.ID, registry.AccessCreated, maker, s.clock),
			registry.RecordAccess(t.Context(), tx, sibling.Actor.ID, registry.AccessCreated, maker, s.clock))
	})
	if err != nil {
		t.Fatal(err)
	}
	o := s.createOrder(asker, number(1), "BLACKLIST")
	for name, second := range map[string]supply.Supplier{"whom the requester reset": puppet, "a client of the same maker": sibling, "the maker": {Actor: maker}} {
		if _, err := s.orders().Confirm(t.Context(), second, o.ID); !errors.Is(err, approval.ErrNotIndependent) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.orders().Confirm(t.Context(), accountHolder(), o.ID); err != nil {
		t.Errorf("a stranger: %v", err)
	}
}

// A pending order is confirmed once, also if several try at the same time, and no
// other order can be confirmed.
func TestOrderIsConfirmedOnce(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	o := s.createOrder(accountHolder(), number(1), "BLACKLIST")
	const many = 4
	errs := make([]error, many)
	var wait sync.WaitGroup
	for i := range many {
		wait.Go(func() { _, errs[i] = s.orders().Confirm(t.Context(), regulator(), o.ID) })
	}
	wait.Wait()
	won := 0
	for _, err := range errs {
		switch {
		case err == nil:
			won++
		case !errors.Is(err, order.ErrNotPending) || fault.CodeOf(err) != fault.IncompatibleState:
			t.Errorf("a second confirmation: %v", err)
		}
	}
	if n := s.count(`SELECT count(*) FROM line_event`); won != 1 || n != 1 {
		t.Errorf("%d confirmations and %d events, want 1 and 1", won, n)
	}
	done := s.createOrder(regulator(), number(1), "BAR")
	if _, err := s.orders().Confirm(t.Context(), regulator(), done.ID); !errors.Is(err, order.ErrNotPending) {
		t.Errorf("a bar that is confirmed: %v", err)
	}
	if _, err := s.orders().Confirm(t.Context(), regulator(), uuid.New()); !errors.Is(err, order.ErrNotFound) {
		t.Errorf("an order that does not exist: %v", err)
	}
	if n := s.count(`SELECT count(*) FROM audit WHERE action = 'order.confirmed'`); n != 2 {
		t.Errorf("%d confirmations in the audit trail, want 2", n)
	}
}

// A blacklisted number gets no new tenure, not by a port either.
func TestBlacklistedNumberIsNotAssigned(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	mtn := operator("MTN")
	end := s.event(number(1), "ENDED", 2)
	end.Reason = "CHURNED"
	s.wantOutcome(mtn, end, "APPLIED")
	s.blacklist(number(1))
	s.wantLate(mtn, s.event(number(1), "ASSIGNED", 0), "REFUSED BLACKLISTED") // in the same second
	s.days(1)
	s.wantOutcome(mtn, s.event(number(1), "ASSIGNED", 0), "REFUSED BLACKLISTED")
	house, revived := newSupplier(line.ClearingHouse, ""), s.port(number(1), 0)
	s.atTime(s.clock.AddDate(0, 0, 2), func() { revived.EffectiveAt = s.ago(0); s.wantOutcome(house, revived, "REFUSED BLACKLISTED") }) // it ended long before
	s.wantStatus(number(1), "BLACKLISTED MTN")
	s.wantOutcome(mtn, s.event(number(2), "ASSIGNED", 300), "APPLIED")
	s.blacklist(number(2))
	s.days(1)
	s.wantOutcome(mtn, s.event(number(2), "TRANSFERRED", 0), "REFUSED BLACKLISTED")
	s.wantOutcome(house, s.port(number(2), 0), "APPLIED") // the same tenure goes on
	if n := s.count(`SELECT count(*) FROM line_event WHERE kind IN ($1, $2)`, int16(line.Assign), int16(line.Transfer)); n != 1 {
		t.Errorf("%d new tenures were stored, want the first one only", n)
	}
	s.days(1)
	s.createOrder(regulator(), number(1), "RELEASE")
	s.days(1)
	s.wantOutcome(mtn, s.event(number(1), "ASSIGNED", 0), "APPLIED")
	s.wantStatus(number(1), "RECYCLED MTN")
}

// An event can be voided by its supplier or by the regulator, and by nobody else. The
// line is then what the other events make of it.
func TestEventIsVoidedByItsSupplierOrTheRegulator(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	mtn, airtel, sector := operator("MTN"), operator("AIRTEL"), newSupplier(line.Sector, "")
	swap, flag := s.event(number(1), "SIM_CHANGED", 2), s.event(number(1), "FLAGGED", 1)
	flag.Level = "HIGH"
	s.report(mtn, s.event(number(1), "ASSIGNED", 400), swap)
	s.wantOutcome(sector, flag, "APPLIED")
	s.wantOutcome(airtel, s.void(swap), "REFUSED NOT_FOUND")
	s.wantOutcome(mtn, s.void(flag), "REFUSED NOT_FOUND")
	s.wantOutcome(newSupplier(line.Sector, ""), s.void(flag), "REFUSED NOT_FOUND")
	s.wantStatus(number(1), "FLAGGED MTN")
	silent := s.void(swap)
	silent.Note = ""
	s.wantOutcome(mtn, silent, "REFUSED MISSING")

	o := s.createOrder(regulator(), number(1), "VOID", func(f *order.Form) { f.Event = s.seq(number(1), line.Flag) })
	if o.Result.Outcome != supply.Applied || !o.EffectiveAt.Equal(s.daysAgo(1)) {
		t.Errorf("the order is %+v", o)
	}
	s.wantStatus(number(1), "SWAPPED MTN")
	void := s.void(swap)
	s.wantOutcome(mtn, void, "APPLIED")
	s.wantOutcome(mtn, void, "DUPLICATE")
	s.wantOutcome(mtn, s.void(swap), "REFUSED VOIDED")
	s.wantOutcome(mtn, s.void(void), "REFUSED NOT_ALLOWED") // a void cannot be voided
	s.wantStatus(number(1), "SWAPPED MTN")                  // contested, until the window of the SIM change ends
	if row := s.row(number(1)); row.SIM != line.Never || !row.ContestedSIM.Time().Equal(s.daysAgo(2)) {
		t.Errorf("the row is %+v", row)
	}
	s.days(8)
	s.supplyThroughNow("MTN")
	s.wantStatus(number(1), "NORMAL MTN")
	s.wantOutcome(mtn, s.event(number(1), "SIM_CHANGED", 1), "APPLIED")
	s.wantStatus(number(1), "SWAPPED MTN")
	s.createOrder(regulator(), number(1), "VOID", func(f *order.Form) { f.Event = s.seq(number(1), line.ChangeSIM) })
	s.wantStatus(number(1), "NORMAL MTN") // the regulator's void leaves nothing

	count := func() int {
		return s.count(`SELECT (SELECT count(*) FROM line_event) + (SELECT count(*) FROM line_order)`)
	}
	before := count()
	for name, event := range map[string]string{"no event": "999999", "no number": "x", "a withdrawal": "", "another number": s.seq(number(1), line.Flag)} {
		f := order.Form{PhoneNumber: number(1), Action: "VOID", Note: "why", Event: event}
		if name == "a withdrawal" {
			f.Event = s.seq(number(1), line.Void)
		}
		if name == "another number" {
			f.PhoneNumber = number(2)
		}
		_, err := s.orders().Create(t.Context(), regulator(), f)
		if diff := cmp.Diff([]string{"event NOT_ALLOWED"}, violations(err)); diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	if n := count(); n != before {
		t.Errorf("a refused order left something: %d, were %d", n, before)
	}
}

// violations returns the fields and codes of an error.
func violations(err error) []string {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return nil
	}
	var list []string
	for _, v := range f.Violations {
		list = append(list, v.Field+" "+v.Code)
	}
	return list
}

// Everything that is wrong with an order is reported at once, and the order is not
// stored.
func TestOrdersThatAreRefused(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	good := order.Form{PhoneNumber: number(1), Note: "why"}
	for name, tc := range map[string]struct {
		change func(f *order.Form)
		want   []string
	}{
		"nothing": {func(f *order.Form) { *f = order.Form{} }, []string{"phoneNumber REQUIRED", "action REQUIRED", "note REQUIRED"}},
		"all wrong": {func(f *order.Form) {
			*f = order.Form{PhoneNumber: "1", Action: "SELL", Note: "a\x00", EffectiveAt: "soon"}
		}, []string{"phoneNumber INVALID_FORMAT", "action NOT_ALLOWED", "note INVALID_FORMAT", "effectiveAt INVALID_FORMAT"}},
		"long note":            {func(f *order.Form) { f.Action, f.Note = "UNBAR", strings.Repeat("ä", 201) }, []string{"note INVALID_FORMAT"}},
		"bar without reason":   {func(f *order.Form) { f.Action = "BAR" }, []string{"reason REQUIRED"}},
		"bar for a churn":      {func(f *order.Form) { f.Action, f.Reason = "BAR", "CHURNED" }, []string{"reason NOT_ALLOWED"}},
		"unbar with a reason":  {func(f *order.Form) { f.Action, f.Reason = "UNBAR", "NIN" }, []string{"reason NOT_ALLOWED"}},
		"release of an event":  {func(f *order.Form) { f.Action, f.Event = "RELEASE", "7" }, []string{"event NOT_ALLOWED"}},
		"void of nothing":      {func(f *order.Form) { f.Action = "VOID" }, []string{"event REQUIRED"}},
		"void at a time":       {func(f *order.Form) { f.Action, f.Event, f.EffectiveAt = "VOID", "7", "2026-01-01" }, []string{"effectiveAt NOT_ALLOWED"}},
		"confirm of nothing":   {func(f *order.Form) { f.Action = "CONFIRM" }, []string{"event REQUIRED"}},
		"confirm at a time":    {func(f *order.Form) { f.Action, f.Event, f.EffectiveAt = "CONFIRM", "7", "2026-01-01" }, []string{"effectiveAt NOT_ALLOWED"}},
		"confirm of no event":  {func(f *order.Form) { f.Action, f.Event = "CONFIRM", "7" }, []string{"event NOT_ALLOWED"}},
		"unbar with a scope":   {func(f *order.Form) { f.Action, f.Scope = "UNBAR", "HOLDER" }, []string{"scope NOT_ALLOWED"}},
		"bar of both":          {func(f *order.Form) { f.Action, f.Reason, f.Scope = "BAR", "NIN", "BOTH" }, []string{"scope NOT_ALLOWED"}},
		"blacklist at a time":  {func(f *order.Form) { f.Action, f.EffectiveAt = "BLACKLIST", "2026-01-01" }, []string{"effectiveAt NOT_ALLOWED"}},
		"release ahead":        {func(f *order.Form) { f.Action, f.EffectiveAt = "RELEASE", "2026-06-01T12:01:01Z" }, []string{"effectiveAt NOT_ALLOWED"}},
		"release within skew":  {func(f *order.Form) { f.Action, f.EffectiveAt = "RELEASE", "2026-06-01T12:01:00Z" }, nil},
		"landline is no line":  {func(f *order.Form) { f.Action, f.PhoneNumber = "RELEASE", "+23412345678" }, []string{"phoneNumber INVALID_FORMAT"}},
		"lower case is a typo": {func(f *order.Form) { f.Action = "release" }, []string{"action NOT_ALLOWED"}},
	} {
		f := good
		tc.change(&f)
		_, err := s.orders().Create(t.Context(), regulator(), f)
		if diff := cmp.Diff(tc.want, violations(err)); diff != "" || (err == nil) != (tc.want == nil) {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	if n := s.count(`SELECT count(*) FROM line_order`); n != 1 {
		t.Errorf("%d orders were stored, want 1", n)
	}
}
