package registry_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

// given is one act in the past: who alone gave whom access.
type given struct {
	by, to audit.Actor
	how    registry.AccessChange
	days   int // ago
}

// Two actors are two people unless one person could act as both: the one who alone
// created, raised or reset the access of the other, or of both, directly or through
// further accounts. Only a second administrator who confirms the person ends that; time
// does not.
func TestTwoPeopleAreIndependent(t *testing.T) {
	t.Parallel()
	actor := func() audit.Actor { return audit.Actor{Kind: audit.Account, ID: uuid.New()} }
	ada, bola, chidi, puppet, second := actor(), actor(), actor(), actor(), actor()
	const created, raised, reset, cosigned = registry.AccessCreated, registry.AccessRaised, registry.AccessReset, registry.AccessChange("cosigned")
	for name, c := range map[string]struct {
		acts       []given
		one, other audit.Actor
		want       error
	}{
		"one and the same":                     {nil, ada, ada, approval.ErrNotIndependent},
		"strangers":                            {nil, ada, bola, nil},
		"a creator and the account":            {[]given{{ada, puppet, created, 1}}, ada, puppet, approval.ErrNotIndependent},
		"the account and its creator":          {[]given{{ada, puppet, created, 1}}, puppet, ada, approval.ErrNotIndependent},
		"after five years":                     {[]given{{ada, puppet, created, 1900}}, ada, puppet, approval.ErrNotIndependent},
		"another person and the account":       {[]given{{ada, puppet, created, 1}}, bola, puppet, nil},
		"two accounts of one creator":          {[]given{{ada, puppet, created, 1}, {ada, second, created, 2}}, puppet, second, approval.ErrNotIndependent},
		"two accounts of two creators":         {[]given{{ada, puppet, created, 1}, {bola, second, created, 2}}, puppet, second, nil},
		"two creators of one account":          {[]given{{ada, puppet, created, 1}, {bola, puppet, reset, 1}}, ada, bola, nil},
		"through a second account":             {[]given{{ada, puppet, reset, 1}, {puppet, second, created, 1}}, ada, second, approval.ErrNotIndependent},
		"a role that one person gave":          {[]given{{ada, bola, raised, 1}}, ada, bola, approval.ErrNotIndependent},
		"a role that a second person cosigned": {[]given{{ada, puppet, created, 2}, {bola, puppet, cosigned, 1}}, ada, puppet, nil},
		"raised again after the second person": {[]given{{bola, puppet, cosigned, 2}, {ada, puppet, raised, 1}}, ada, puppet, approval.ErrNotIndependent},
		"a reset before the confirmation":      {[]given{{ada, puppet, reset, 2}, {bola, puppet, cosigned, 1}}, ada, puppet, nil},
		"a reset after the confirmation":       {[]given{{bola, puppet, cosigned, 2}, {ada, puppet, reset, 1}}, ada, puppet, approval.ErrNotIndependent},
		"who cosigned":                         {[]given{{ada, puppet, created, 2}, {bola, puppet, cosigned, 1}}, bola, puppet, nil},
		"the operator after a reset":           {[]given{{operator, chidi, reset, 1}}, operator, chidi, approval.ErrNotIndependent},
		"others after the operator's reset":    {[]given{{operator, chidi, reset, 1}}, ada, chidi, nil},
		"one's own reset":                      {[]given{{ada, ada, reset, 1}}, ada, bola, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRegistry(t)
			plantAdministrators(t, r, 2)
			now := r.Now()
			for _, g := range c.acts {
				record(t, r, g, now)
			}
			if err := registry.CheckIndependent(t.Context(), r.Pool, c.one, c.other); !errors.Is(err, c.want) {
				t.Errorf("CheckIndependent = %v, want %v", err, c.want)
			}
		})
	}
}

// What the operator sets up before there are two administrators is independent of each
// other, or nobody could ever begin; but not of the operator.
func TestFirstStaffOfTheOperator(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	ada, bola := staffBy(t, r, operator, "administrator"), staffBy(t, r, operator, "administrator")
	chidi, dayo := staffBy(t, r, operator, "auditor"), staffBy(t, r, operator, "auditor")
	for name, c := range map[string]struct {
		one, other audit.Actor
		want       error
	}{
		"the first two":                 {ada, bola, nil},
		"the operator and the first":    {operator, ada, approval.ErrNotIndependent},
		"the first and a later one":     {ada, chidi, nil},
		"two later ones":                {chidi, dayo, approval.ErrNotIndependent},
		"the operator and a later one":  {operator, dayo, approval.ErrNotIndependent},
		"an administrator and a puppet": {ada, staffBy(t, r, ada, "auditor"), approval.ErrNotIndependent},
		"the other one and that puppet": {bola, staffBy(t, r, ada, "auditor"), nil},
	} {
		if err := registry.CheckIndependent(t.Context(), r.Pool, c.one, c.other); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// An administrator whose role a second person confirmed is independent of the one who
// created the account.
func TestCosignedAdministratorIsIndependent(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	ada, bola := staffBy(t, r, operator, "administrator"), staffBy(t, r, operator, "administrator")
	made, err := r.CreateStaff(t.Context(), registry.StaffForm{Name: "C", Email: "c@regulator.example", Role: "administrator", Password: "quiet-river-9"}, ada, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	chidi := audit.Actor{Kind: audit.Account, ID: made.ID}
	if err := registry.CheckIndependent(t.Context(), r.Pool, ada, chidi); !errors.Is(err, approval.ErrNotIndependent) {
		t.Errorf("before the confirmation: %v", err)
	}
	if _, err := desk(r).Confirm(t.Context(), made.Pending, bola, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	for _, other := range []audit.Actor{ada, bola} {
		if err := registry.CheckIndependent(t.Context(), r.Pool, other, chidi); err != nil {
			t.Errorf("after the confirmation: %v", err)
		}
	}
}

// Nobody makes a second person by themselves, however long they wait: an account of staff
// that decides waits for another administrator, and whoever reset it alone stays behind it
// until another administrator confirms who the person is, by confirming the role again.
func TestPuppetNeverBecomesASecondPerson(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	ada, bola := staffBy(t, r, operator, "administrator"), staffBy(t, r, operator, "administrator")
	made, err := r.CreateStaff(t.Context(), registry.StaffForm{Name: "P", Email: "p@regulator.example", Role: "reviewer", Password: "quiet-river-9"}, ada, uuid.Nil)
	if err != nil || made.Role != "auditor" || made.Pending == uuid.Nil {
		t.Fatalf("a reviewer whom one administrator creates: %+v, %v", made, err)
	}
	if _, err := desk(r).Confirm(t.Context(), made.Pending, bola, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	reviewer := audit.Actor{Kind: audit.Account, ID: made.ID}
	again := func(by audit.Actor) (pending uuid.UUID, err error) {
		err = pg.InTx(t.Context(), r.Pool, func(tx pg.Tx) error {
			pending, err = r.GiveRole(t.Context(), tx, reviewer.ID, "reviewer", "Met in person", by, uuid.Nil)
			return err
		})
		return pending, err
	}
	expect := func(when string, want error) {
		t.Helper()
		if err := registry.CheckIndependent(t.Context(), r.Pool, ada, reviewer); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", when, err, want)
		}
	}
	expect("after the confirmation", nil)
	if _, err := again(ada); !errors.Is(err, registry.ErrHasRole) {
		t.Errorf("behind whom nobody stands: %v", err)
	}
	record(t, r, given{ada, reviewer, registry.AccessReset, 0}, time.Now().Add(time.Minute))
	expect("after a reset, which counts for ever", approval.ErrNotIndependent)
	r.Now = func() time.Time { return time.Now().AddDate(2, 0, 0) }
	expect("two years later", approval.ErrNotIndependent)
	pending, err := again(ada)
	if err != nil || pending == uuid.Nil {
		t.Fatalf("the role is requested again: %s, %v", pending, err)
	}
	if _, err := desk(r).Confirm(t.Context(), pending, ada, uuid.Nil); !errors.Is(err, approval.ErrSecondPerson) {
		t.Errorf("by the same administrator: %v", err)
	}
	if _, err := desk(r).Confirm(t.Context(), pending, bola, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	expect("after another administrator has confirmed the person", nil)
}

// staffBy creates an account of staff with the role at once.
func staffBy(t *testing.T, r *registry.Registry, by audit.Actor, role string) audit.Actor {
	t.Helper()
	made, err := r.CreateStaff(t.Context(), registry.StaffForm{Name: "S", Email: uuid.NewString() + "@regulator.example", Role: role, Password: "quiet-river-9"}, by, uuid.Nil)
	if err != nil || made.Pending != uuid.Nil {
		t.Fatalf("%+v, %v", made, err)
	}
	return audit.Actor{Kind: audit.Account, ID: made.ID}
}

// plantAdministrators inserts administrators whom nobody created.
func plantAdministrators(t *testing.T, r *registry.Registry, n int) {
	t.Helper()
	_, err := r.Pool.Exec(t.Context(), `INSERT INTO account (id, kind, role, name, email, email_key, created_at)
		SELECT gen_random_uuid(), 'staff', 'administrator', 'A', e, lower(e), now() FROM (SELECT n::text AS e FROM generate_series(1, $1) n) x`, n)
	if err != nil {
		t.Fatal(err)
	}
}

func record(t *testing.T, r *registry.Registry, g given, now time.Time) {
	t.Helper()
	err := pg.InTx(t.Context(), r.Pool, func(tx pg.Tx) error {
		return registry.RecordAccess(t.Context(), tx, g.to.ID, g.how, g.by, now.AddDate(0, 0, -g.days))
	})
	if err != nil {
		t.Fatal(err)
	}
}
