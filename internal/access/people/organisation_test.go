package people_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/message"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
)

func (w *world) entities(t *testing.T) int {
	t.Helper()
	return len(must(w.Registry.Search(t.Context(), registry.EntityFilter{}))(t).Entities)
}

// An organisation and the invitation of its admin are created together: if the e-mail
// cannot be queued, there is no organisation either, and no audit entry. An address that
// belongs to another account looks like any other.
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
	n, queue, broken := people.NewOrganisation{Name: "Delta Bank", CAC: "RC 9", Email: w.admin}, w.QueueEmail, errors.New("no queue")
	w.QueueEmail = func(context.Context, pg.Tx, people.Email) error { return broken }
	_, _, err = w.AdmitOrganisation(t.Context(), n, boss, uuid.Nil)
	if !errors.Is(err, broken) || w.entities(t) != before || w.trail(t, audit.EntityCreated) != made || w.trail(t, audit.Invited) != sent {
		t.Errorf("without a queue: %v, and %d entities where there were %d", err, w.entities(t), before)
	}
	w.QueueEmail = queue
	if _, i, err = w.AdmitOrganisation(t.Context(), n, boss, uuid.Nil); err != nil || i.Accepted || i.Name != "(invited)" {
		t.Errorf("with the address of somebody else: %+v, %v", i, err)
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

// An administrator who adds an organisation does not do it unseen: every other administrator
// gets an e-mail and a message that name both, and nobody else does. An organisation that
// could not be added notifies nobody.
func TestOtherAdministratorsLearnOfAnAddedOrganisation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	boss := w.principal(t, w.staff)
	other := w.join(t, people.InviteForm{Email: "bayo@regulator.example", Kind: registry.StaffAccount, Role: "administrator"})
	must(w.pool.Exec(t.Context(), `UPDATE account SET role = 'administrator' WHERE id = $1`, other.ID))(t)
	n := people.NewOrganisation{Name: "Lagoon Bank", CAC: "RC 8", Email: "bola@lagoon.example"}
	e, _, err := w.AdmitOrganisation(t.Context(), n, boss, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.AdmitOrganisation(t.Context(), n, boss, uuid.Nil); err == nil {
		t.Error("the same organisation was added twice")
	}
	list := must(message.List(t.Context(), w.pool, other.ID, uuid.Nil, 10))(t)
	if len(list) != 1 || list[0].Kind != string(people.EntityAdded) || list[0].About != n.Name || list[0].Path != "/portal/desk/entities/"+e.ID.String() {
		t.Fatalf("messages: %+v", list)
	}
	for _, who := range []uuid.UUID{boss.Account, w.principal(t, w.admin).Account} {
		if list := must(message.List(t.Context(), w.pool, who, uuid.Nil, 10))(t); len(list) != 0 {
			t.Errorf("messages of %s: %+v", who, list)
		}
	}
	w.deliver(t)
	l := w.mail.Wait(t, other.Email, "Lagoon Bank was added as an organisation")
	for _, want := range []string{w.staff, n.Email, "suspend", list[0].Path} {
		if !strings.Contains(l.Text, want) || !strings.Contains(l.HTML, want) {
			t.Errorf("the e-mail does not say %q:\n%s", want, l.Text)
		}
	}
}
