package people_test

import (
	"errors"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/people"
	"github.com/lineproof/lineproof/internal/registry"
)

func (w *world) entities(t *testing.T) int {
	t.Helper()
	return len(must(w.Registry.Search(t.Context(), registry.EntityFilter{}))(t).Entities)
}

// An organisation and the invitation of its admin are created together: if the
// address belongs to another account, there is no organisation either, and no
// audit entry.
func TestOrganisationIsCreatedWithItsAdmin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	boss := w.principal(t, w.staff)
	e, i, err := w.AdmitOrganisation(t.Context(), people.NewOrganisation{Name: "Lagoon Bank", CAC: "RC 8", Email: "bola@lagoon.example"}, boss, uuid.Nil)
	if err != nil || i.Entity != e.ID || i.Kind != registry.AdminAccount || i.Accepted {
		t.Fatalf("LetIn = %+v, %+v, %v", e, i, err)
	}
	w.deliver(t)
	w.token(t, "bola@lagoon.example", "invited")
	before, made, sent := w.entities(t), w.trail(t, audit.EntityCreated), w.trail(t, audit.Invited)
	_, _, err = w.AdmitOrganisation(t.Context(), people.NewOrganisation{Name: "Delta Bank", CAC: "RC 9", Email: w.admin}, boss, uuid.Nil)
	if !errors.Is(err, registry.ErrTaken) || w.entities(t) != before || w.trail(t, audit.EntityCreated) != made || w.trail(t, audit.Invited) != sent {
		t.Errorf("with the address of somebody else: %v, and %d entities where there were %d", err, w.entities(t), before)
	}
}

// Every violation is reported at once, and only an administrator admits an
// organisation.
func TestOnlyAdministratorsAdmitOrganisations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, _, err := w.AdmitOrganisation(t.Context(), people.NewOrganisation{}, w.principal(t, w.staff), uuid.Nil)
	if f, ok := errors.AsType[*fault.Error](err); !ok || len(f.Violations) != 3 {
		t.Errorf("an empty form: %v", err)
	}
	n := people.NewOrganisation{Name: "Lagoon Bank", CAC: "RC 8", Email: "bola@lagoon.example"}
	for _, who := range []access.Principal{w.principal(t, w.admin), {Kind: access.Session, Role: access.Reviewer}, {Kind: access.Session, Role: access.Auditor}, {}} {
		if _, _, err := w.AdmitOrganisation(t.Context(), n, who, uuid.Nil); !errors.Is(err, access.ErrPermission) {
			t.Errorf("%+v let an organisation in: %v", who, err)
		}
	}
	// A session that still says so is not enough: the account must be one.
	gone := w.join(t, people.InviteForm{Email: "ex@regulator.example", Kind: registry.StaffAccount, Role: "auditor"})
	if _, _, err := w.AdmitOrganisation(t.Context(), n, access.Principal{Kind: access.Session, Account: gone.ID, Role: access.Administrator}, uuid.Nil); !errors.Is(err, registry.ErrNotAdministrator) {
		t.Errorf("an auditor with the session of an administrator: %v", err)
	}
}

// principal returns the principal of an account, as its session would have it.
func (w *world) principal(t *testing.T, email string) access.Principal {
	t.Helper()
	a := must(w.Registry.AccountByEmail(t.Context(), w.pool, email))(t)
	return access.Principal{Kind: access.Session, Account: a.ID, Entity: a.Entity, Role: access.Role(a.Role), Manages: a.Kind == registry.AdminAccount, From: home}
}
