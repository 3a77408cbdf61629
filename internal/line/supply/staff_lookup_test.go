package supply_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/staffaccess"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

func (s *env) budget() staffaccess.Budget { return staffaccess.Budget{Pool: s.Pool, Now: s.Now} }

// A lookup is in the audit trail with its reason and can be found by its number, also
// after the pepper was replaced, until the old one is removed. The number itself is
// not in the trail.
func TestStaffLookupsAreFoundByNumber(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	peppers := func(list ...secret.Text) *secret.Peppers {
		p, err := secret.NewPeppers(list)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	const old, fresh secret.Text = "an old pepper, of thirty-two bytes and more", "a fresh pepper, of thirty-two bytes and more"
	by := audit.Actor{Kind: audit.Account, ID: uuid.New()}
	look := func(number string) {
		t.Helper()
		r := staffaccess.Access{Budget: s.budget(), By: by, Reason: "Complaint 12 of 2026", Request: uuid.New()}
		if _, err := s.StaffLookup(t.Context(), supply.HistoryQuery{Number: s.parse(number), AsOf: s.daysAgo(1)}, r); err != nil {
			t.Fatal(err)
		}
	}
	found := func(want int) {
		t.Helper()
		list, err := s.StaffLookups(t.Context(), s.parse(number(1)), 10)
		if err != nil || len(list) != want {
			t.Fatalf("%d lookups, %v, want %d", len(list), err, want)
		}
		for _, e := range list {
			if !e.Actor.Same(by) || e.After["reason"] != "Complaint 12 of 2026" || e.After["phoneNumber"] != "…01" || e.After["asOf"] == nil {
				t.Errorf("the trail has %+v", e)
			}
		}
	}
	s.Peppers = peppers(old)
	look(number(1))
	look(number(2))
	found(1)
	s.Peppers = peppers(fresh, old)
	look(number(1))
	found(2)
	s.Peppers = peppers(fresh)
	found(1)
}

// A lookup without a reason, without peppers, or at a future time is refused, and
// everything that is wrong is reported at once.
func TestStaffLookupsThatAreRefused(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	q := supply.HistoryQuery{Number: s.parse(number(1)), AsOf: s.clock.Add(time.Hour)}
	_, err := s.StaffLookup(t.Context(), q, staffaccess.Access{Budget: s.budget(), By: audit.Actor{Kind: audit.Operator}, Reason: "why not"})
	if f, ok := errors.AsType[*fault.Error](err); !ok || len(f.Violations) != 2 {
		t.Errorf("refused with %v", err)
	}
	q.AsOf = time.Time{}
	if _, err := s.StaffLookup(t.Context(), q, staffaccess.Access{Budget: s.budget(), By: audit.Actor{Kind: audit.Operator}, Reason: "Complaint 12 of 2026"}); err == nil {
		t.Error("a service without peppers looks numbers up")
	}
	if list, err := audit.List(t.Context(), s.Pool, audit.Filter{Action: string(audit.HistoryRead)}); err != nil || len(list) != 0 {
		t.Errorf("the trail has %v, %v", list, err)
	}
}

// A pending order can be refused by either person, never becomes an event, and cannot
// be confirmed after that. Decided orders are listed, the newest first.
func TestOrdersAreRefused(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	asker, other := regulator(), accountHolder()
	var ids []uuid.UUID
	for _, by := range []supply.Supplier{asker, other} {
		o := s.createOrder(asker, number(1), "BLACKLIST")
		s.clock = s.clock.Add(time.Minute)
		got, err := s.orders().Refuse(t.Context(), by.Actor, o.ID, "The letter names another number.", uuid.New())
		if err != nil || got.State != order.Withdrawn || !got.DecidedBy.Same(by.Actor) || !got.EffectiveAt.IsZero() {
			t.Errorf("%+v, %v", got, err)
		}
		for _, err := range []error{
			errorOf(s.orders().Confirm(t.Context(), accountHolder(), o.ID)), errorOf(s.orders().Refuse(t.Context(), by.Actor, o.ID, "Once more.", uuid.Nil)),
		} {
			if !errors.Is(err, order.ErrNotPending) {
				t.Errorf("decided again: %v", err)
			}
		}
		if kept, err := s.orders().Find(t.Context(), o.ID); err != nil || kept.State != order.Withdrawn || kept.RejectedFor != "The letter names another number." || !kept.RequestedBy.Same(asker.Actor) || !kept.ConfirmedAt.IsZero() {
			t.Errorf("stored as %+v, %v", kept, err)
		}
		ids = append(ids, o.ID)
	}
	if _, err := s.orders().Create(t.Context(), asker, order.Form{PhoneNumber: number(2), Action: "BAR", Reason: "COURT", Note: "why"}); err != nil { // nobody has decided it
		t.Fatal(err)
	}
	list, err := s.orders().Decided(t.Context(), 10)
	if err != nil || len(list) != 2 || list[0].ID != ids[1] || list[1].ID != ids[0] {
		t.Errorf("decided are %+v, %v", list, err)
	}
	if entries, err := audit.List(t.Context(), s.Pool, audit.Filter{Action: string(audit.OrderRefused)}); err != nil || len(entries) != 2 {
		t.Errorf("the trail has %v, %v", entries, err)
	}
	if past := s.numberHistory(supply.HistoryQuery{Number: s.parse(number(1))}); len(past.Events) != 0 {
		t.Errorf("a refused order is an event: %+v", past.Events)
	}
	for _, err := range []error{errorOf(s.orders().Find(t.Context(), uuid.New())), errorOf(s.orders().Refuse(t.Context(), asker.Actor, uuid.New(), "", uuid.Nil))} {
		if !errors.Is(err, order.ErrNotFound) {
			t.Errorf("of an order that does not exist: %v", err)
		}
	}
}

func errorOf[T any](_ T, err error) error { return err }
