package people_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/people"
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
		{"two-factor authentication alone", func() { verified(false) }, []string{people.EmailField}},
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
