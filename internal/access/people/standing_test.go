package people_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// A live key needs a confirmed e-mail address and two-factor authentication of the
// person who creates it. Everything that is missing is named at once.
func TestKeyMakerNeedsAConfirmedAddressAndTwoFactorAuthentication(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, who := w.in(t, w.attempt(w.admin, password))
	verified := func(is bool) {
		must(w.pool.Exec(t.Context(), `UPDATE account SET verified_at = CASE WHEN $2 THEN now() END, verified_by = CASE WHEN $2 THEN 'email' END WHERE id = $1`, who.Account, is))(t)
	}
	for _, tc := range []struct {
		name    string
		change  func()
		missing []string
	}{
		{"a new admin", func() { verified(false) }, []string{people.EmailField, people.FactorField}},
		{"a confirmed address", func() { verified(true) }, []string{people.FactorField}},
		{"a set-up that was not completed", func() { must(w.BeginFactor(t.Context(), who, uuid.Nil))(t) }, []string{people.FactorField}},
		{"both", func() { w.enrol(t, who) }, nil},
		{"two-factor authentication that nobody confirmed", func() { verified(false) }, []string{people.EmailField, people.FactorField}},
		{"the same a day later", func() { w.move(24 * time.Hour) }, []string{people.EmailField}},
	} {
		tc.change()
		var got []string
		err := w.CheckKeyMaker(t.Context(), w.pool, who.Account)
		if f, ok := errors.AsType[*fault.Error](err); ok {
			for _, v := range f.Violations {
				got = append(got, v.Field)
			}
		}
		if errors.Is(err, people.ErrIncompleteAccount) != (tc.missing != nil) || !slices.Equal(got, tc.missing) {
			t.Errorf("%s: %v naming %v, want %v", tc.name, err, got, tc.missing)
		}
	}
	if err := w.CheckKeyMaker(t.Context(), w.pool, uuid.New()); !errors.Is(err, access.ErrPermission) {
		t.Errorf("nobody's account: %v", err)
	}
}

// A member creates live keys only with the right, which an admin of the same entity
// gives and takes, and an invitation anew takes away. It is in the audit trail.
func TestKeyMakerNeedsTheRight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	member := w.join(t, people.InviteForm{Email: "zainab@bank.example", Kind: registry.MemberAccount, Entity: w.bank.ID})
	_, who := w.in(t, w.attempt(member.Email, password))
	w.enrol(t, who)
	admin := w.principal(t, w.admin)
	check := func(want error) {
		t.Helper()
		if err := w.CheckKeyMaker(t.Context(), w.pool, member.ID); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	check(people.ErrNoKeyRight)
	stranger := admin
	stranger.Entity = uuid.New()
	for name, by := range map[string]access.Principal{"the member": who, "an admin of another entity": stranger} {
		if err := w.SetRight(t.Context(), member.ID, registry.MakesKeys, true, by, uuid.Nil); err == nil {
			t.Errorf("%s gave the right", name)
		}
	}
	check(people.ErrNoKeyRight)
	for _, right := range []bool{true, false, true} {
		if err := w.SetRight(t.Context(), member.ID, registry.MakesKeys, right, admin, uuid.Nil); err != nil {
			t.Fatal(err)
		}
		check(map[bool]error{true: nil, false: people.ErrNoKeyRight}[right])
	}
	if err := w.SetRight(t.Context(), member.ID, registry.MakesKeys, true, admin, uuid.Nil); !errors.Is(err, registry.ErrHasRight) {
		t.Errorf("twice: %v", err)
	}
	if err := w.SetRight(t.Context(), admin.Account, registry.MakesKeys, true, admin, uuid.Nil); !errors.Is(err, registry.ErrHasRight) {
		t.Errorf("to an admin: %v", err)
	}
	if n := w.trail(t, audit.KeyRightSet); n != 3 {
		t.Errorf("%d entries in the audit trail, want 3", n)
	}
	if err := w.Remove(t.Context(), member.ID, "", admin, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	w.join(t, people.InviteForm{Email: member.Email, Kind: registry.MemberAccount, Entity: w.bank.ID})
	check(people.ErrNoKeyRight)
}

// A member supplies lines only with the right that an admin of the entity has given, a
// confirmed address and two-factor authentication; an admin needs only these two.
func TestSupplierNeedsTheRightAndACompleteAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	member := w.join(t, people.InviteForm{Email: "zainab@bank.example", Kind: registry.MemberAccount, Entity: w.bank.ID})
	_, who := w.in(t, w.attempt(member.Email, password))
	admin := w.principal(t, w.admin)
	check := func(account uuid.UUID, want error) {
		t.Helper()
		if err := w.CheckSupplier(t.Context(), w.pool, account); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	check(admin.Account, people.ErrIncompleteSupplier)
	check(member.ID, people.ErrNoSupplyRight)
	if err := w.SetRight(t.Context(), member.ID, registry.Supplies, true, who, uuid.Nil); err == nil {
		t.Error("the member gave the right")
	}
	if err := w.SetRight(t.Context(), member.ID, registry.Supplies, true, admin, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	check(member.ID, people.ErrIncompleteSupplier)
	w.EntityFactor = false
	check(member.ID, nil)
	if err := w.CheckKeyMaker(t.Context(), w.pool, member.ID); !errors.Is(err, people.ErrNoKeyRight) {
		t.Errorf("the right to supply makes keys: %v", err)
	}
	if n := w.trail(t, audit.SupplyRightSet); n != 1 {
		t.Errorf("%d entries in the audit trail, want 1", n)
	}
}
