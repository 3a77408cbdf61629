package people_test

import (
	"errors"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

// Whoever invites a member of staff, starts a new password for them or resets their
// two-factor authentication, is not a second person beside them.
func TestWhoGivesAccessIsNoSecondPerson(t *testing.T) {
	t.Parallel()
	for name, give := range map[string]func(t *testing.T, w *world, ada audit.Actor, invite people.InviteForm) uuid.UUID{
		"an invitation": func(t *testing.T, w *world, ada audit.Actor, invite people.InviteForm) uuid.UUID {
			t.Helper()
			return must(w.CreateInvited(t.Context(), invite, ada, uuid.Nil))(t).ID
		},
		"a new password": func(t *testing.T, w *world, ada audit.Actor, invite people.InviteForm) uuid.UUID {
			t.Helper()
			a := w.join(t, invite)
			a = must(w.Registry.Account(t.Context(), w.Pool, a.ID))(t) // after the acceptance
			link, _, err := w.StartReset(t.Context(), a, false, "Lost it", ada, uuid.Nil)
			if w.agree(t, err); link != "" || w.trail(t, audit.ResetStarted) != 1 {
				t.Fatalf("%q, %v", link, err)
			}
			return a.ID
		},
		"a reset factor": func(t *testing.T, w *world, ada audit.Actor, invite people.InviteForm) uuid.UUID {
			t.Helper()
			a := w.join(t, invite)
			_, who := w.in(t, w.attempt(invite.Email, password))
			w.enrol(t, who)
			w.agree(t, w.ResetFactor(t.Context(), a.ID, "Lost it", ada, uuid.Nil))
			return a.ID
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ada, bola := w.administrator(t), w.administrator(t)
			them := audit.Actor{Kind: audit.Account, ID: give(t, w, ada, people.InviteForm{Email: "r@regulator.example", Kind: registry.StaffAccount, Role: "reviewer"})}
			if err := registry.CheckIndependent(t.Context(), w.Pool, ada, them); !errors.Is(err, approval.ErrNotIndependent) {
				t.Errorf("who gave it: %v", err)
			}
			if err := registry.CheckIndependent(t.Context(), w.Pool, bola, them); err != nil {
				t.Errorf("somebody else: %v", err)
			}
		})
	}
}

// administrator inserts an administrator of the regulator whom nobody created.
func (w *world) administrator(t *testing.T) audit.Actor {
	t.Helper()
	id := uuid.New()
	must(w.pool.Exec(t.Context(), `INSERT INTO account (id, kind, role, name, email, email_key, created_at) VALUES ($1, 'staff', 'administrator', 'S', $2, $2, now())`, id, id.String()))(t)
	return audit.Actor{Kind: audit.Account, ID: id}
}

// agree has another administrator confirm what waits for a second person.
func (w *world) agree(t *testing.T, waits error) {
	t.Helper()
	pending, ok := errors.AsType[*approval.WaitsError](waits)
	if !ok {
		t.Fatalf("it does not wait: %v", waits)
	}
	approvals := &approval.Service{Pool: w.pool, CheckStaff: registry.CheckStaff, CheckIndependent: registry.CheckIndependent, Effects: w.Effects(), Now: w.Now}
	must(approvals.Confirm(t.Context(), pending.ID, w.administrator(t), uuid.Nil))(t)
}
