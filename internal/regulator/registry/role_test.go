package registry_test

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

func staffForm(role string) registry.StaffForm {
	return registry.StaffForm{Name: "S", Email: uuid.NewString() + "@regulator.example", Role: role, Password: "quiet-river-9"}
}

func roleOf(t *testing.T, r *registry.Registry, id uuid.UUID) (role string) {
	t.Helper()
	if err := r.Pool.QueryRow(t.Context(), `SELECT role FROM account WHERE id = $1`, id).Scan(&role); err != nil {
		t.Fatal(err)
	}
	return role
}

// Once there are founders, a new administrator starts as an auditor, until an
// administrator other than the requester has confirmed.
func TestAdministratorNeedsTwoPeople(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	first, second := founders(t, r)
	for name, c := range map[string]struct{ asks, confirms audit.Actor }{
		"the operator and staff": {operator, first},
		"staff and the operator": {first, operator},
		"staff and staff":        {first, second},
	} {
		s, err := r.CreateStaff(t.Context(), staffForm("administrator"), c.asks, uuid.Nil)
		if err != nil || s.Role != "auditor" || s.Pending == uuid.Nil || roleOf(t, r, s.ID) != "auditor" {
			t.Fatalf("%s: %+v, %v", name, s, err)
		}
		for _, alone := range []audit.Actor{c.asks, {Kind: audit.Account, ID: s.ID}} {
			if _, err := desk(r).Confirm(t.Context(), s.Pending, alone, uuid.Nil); err == nil || roleOf(t, r, s.ID) != "auditor" {
				t.Errorf("%s: %s alone: %v", name, alone.Kind, err)
			}
		}
		if _, err := desk(r).Confirm(t.Context(), s.Pending, c.confirms, uuid.Nil); err != nil || roleOf(t, r, s.ID) != "administrator" {
			t.Errorf("%s: %v, the role is %s", name, err, roleOf(t, r, s.ID))
		}
		list, err := audit.List(t.Context(), r.Pool, audit.Filter{Subject: s.ID, Action: "staff.role_given"})
		if err != nil || len(list) != 1 || !list[0].Actor.Same(c.confirms) || list[0].Before["role"] != "auditor" || list[0].After["role"] != "administrator" {
			t.Errorf("%s: the trail says %+v, %v", name, list, err)
		}
	}
}

// Auditors decide nothing: they need no second person, and only an administrator or the
// operator creates them.
func TestAuditorsNeedOnePerson(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	admin := person(t, r, "administrator")
	for _, role := range []string{"auditor"} {
		s, err := r.CreateStaff(t.Context(), staffForm(role), admin, uuid.Nil)
		if err != nil || s.Role != role || s.Pending != uuid.Nil || roleOf(t, r, s.ID) != role {
			t.Errorf("%+v, %v", s, err)
		}
		by := audit.Actor{Kind: audit.Account, ID: s.ID}
		if _, err := r.CreateStaff(t.Context(), staffForm("auditor"), by, uuid.Nil); !errors.Is(err, registry.ErrNotAdministrator) {
			t.Errorf("a %s makes staff: %v", role, err)
		}
	}
	if _, err := r.CreateStaff(t.Context(), staffForm("chief"), admin, uuid.Nil); !slices.Equal(fieldsOf(err), []string{"role"}) {
		t.Errorf("a role that is none: %v", err)
	}
}

// However many the operator creates at the same time, at most two become
// administrators without a second person.
func TestOperatorCreatesOnlyTwoAdministratorsAlone(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	var all sync.WaitGroup
	roles := make(chan string, 6)
	for range cap(roles) {
		all.Go(func() {
			s, err := r.CreateStaff(t.Context(), staffForm("administrator"), operator, uuid.Nil)
			if err != nil {
				t.Error(err)
			}
			roles <- s.Role
		})
	}
	all.Wait()
	close(roles)
	alone := 0
	for role := range roles {
		if role == "administrator" {
			alone++
		}
	}
	if alone != 2 {
		t.Errorf("%d administrators were made by one, want 2", alone)
	}
}

// A change of role waits for approval in both directions, and is checked again
// when it is confirmed.
func TestChangeOfRoleNeedsTwo(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	first, second := founders(t, r)
	reviewer := person(t, r, "reviewer")
	give := func(account uuid.UUID, role string, by audit.Actor) (waits uuid.UUID, err error) {
		err = pg.InTx(t.Context(), r.Pool, func(tx pg.Tx) error {
			waits, err = r.GiveRole(t.Context(), tx, account, role, "Because", by, uuid.Nil)
			return err
		})
		return waits, err
	}
	for name, c := range map[string]struct {
		account uuid.UUID
		role    string
		by      audit.Actor
		want    error
	}{
		"the role that they have": {first.ID, "administrator", second, registry.ErrHasRole},
		"nobody":                  {uuid.New(), "reviewer", first, registry.ErrNoStaff},
		"by a reviewer":           {reviewer.ID, "administrator", reviewer, registry.ErrNotAdministrator},
	} {
		if _, err := give(c.account, c.role, c.by); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	for _, role := range []string{"administrator", "auditor"} {
		waits, err := give(reviewer.ID, role, first)
		if err != nil || waits == uuid.Nil || roleOf(t, r, reviewer.ID) == role {
			t.Fatalf("%v, %v", waits, err)
		}
		if _, err := desk(r).Confirm(t.Context(), waits, reviewer, uuid.Nil); err == nil {
			t.Error("somebody confirmed a role of their own")
		}
		if _, err := desk(r).Confirm(t.Context(), waits, second, uuid.Nil); err != nil || roleOf(t, r, reviewer.ID) != role {
			t.Errorf("%v, the role is %s", err, roleOf(t, r, reviewer.ID))
		}
	}
	waits, err := give(reviewer.ID, "reviewer", operator)
	if err != nil || waits == uuid.Nil {
		t.Fatalf("the operator, where two administrators stand: %v, %v", waits, err)
	}
	if _, err := r.Pool.Exec(t.Context(), `UPDATE account SET role = 'reviewer' WHERE id = $1`, reviewer.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := desk(r).Confirm(t.Context(), waits, first, uuid.Nil); !errors.Is(err, registry.ErrHasRole) {
		t.Errorf("a role that they have by then: %v", err)
	}
	if list, err := desk(r).List(t.Context(), false, 10); err != nil || len(list) != 1 || list[0].State != approval.Waiting {
		t.Errorf("waiting are %+v, %v", list, err)
	}
}

// Names are found for people and organisations, with the role of staff and the
// organisation of others; unknown ids have none.
func TestNamesOfIDs(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	somebody := person(t, r, "auditor")
	e, err := r.CreateRelyingParty(t.Context(), "Harbour Bank", "RC 7", audit.Actor{Kind: audit.Operator}, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := r.Account(t.Context(), r.Pool, somebody.ID)
	if err != nil {
		t.Fatal(err)
	}
	member := uuid.New()
	if _, err := r.Pool.Exec(t.Context(), `INSERT INTO account (id, kind, entity_id, name, email, email_key, created_at) VALUES ($1, 'member', $2, 'Zainab Sule', 'z@bank.example', 'z@bank.example', now())`, member, e.ID); err != nil {
		t.Fatal(err)
	}
	names, err := r.Names(t.Context(), []uuid.UUID{somebody.ID, e.ID, member, uuid.New()})
	want := map[uuid.UUID]registry.DisplayName{somebody.ID: {Name: a.Name, Role: "auditor"}, e.ID: {Name: "Harbour Bank"}, member: {Name: "Zainab Sule", Entity: "Harbour Bank"}}
	if err != nil || !maps.Equal(names, want) || names[member].String() != "Zainab Sule of Harbour Bank" {
		t.Errorf("names %v, %v", names, err)
	}
}
