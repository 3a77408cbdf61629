package supply_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// member inserts a member of staff.
func (k *importEnv) member(role string) audit.Actor {
	k.t.Helper()
	id := uuid.New()
	_, err := k.Pool.Exec(k.t.Context(), `INSERT INTO account (id, kind, role, name, email, email_key, created_at) VALUES ($1, 'staff', $2, 'S', $3, $3, now())`, id, role, id.String())
	if err != nil {
		k.t.Fatal(err)
	}
	return audit.Actor{Kind: audit.Account, ID: id}
}

// A held file is applied, and a snapshot voided, only when a second person confirms
// what the first requested with a reason. Before there are two administrators the
// operator acts alone.
func TestDecisionsAboutImportsTakeTwoPeople(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		request        func(*order.Service, context.Context, order.ImportDecision) (uuid.UUID, error)
		rows           int // of the second snapshot
		before, after  string
		already        error // for a second request
		confirmsAction audit.Action
	}{
		"apply a held file": {(*order.Service).ConfirmHeld, 20, supply.Held, supply.Applying, supply.ErrNotHeld, audit.ImportConfirmed},
		"void a snapshot":   {(*order.Service).VoidSnapshot, 40, supply.Finished, supply.Voiding, supply.ErrNotApplied, audit.ImportVoided},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newImportEnv(t)
			orders := &order.Service{Supply: k.Service}
			approvals := &approval.Service{Pool: k.Pool, CheckStaff: registry.CheckStaff, CheckIndependent: registry.CheckIndependent, Effects: orders.Effects(), Now: k.Now}
			k.importFile(asOf(march), snapshotOf(actives(0, 40)...))
			im := k.run(k.create(asOf(may)), snapshotOf(actives(0, c.rows)...), c.before)
			state := func() string {
				now, err := k.Import(t.Context(), im.ID)
				if err != nil {
					t.Fatal(err)
				}
				return now.State
			}
			ask := func(by audit.Actor, reason string) (uuid.UUID, error) {
				return c.request(orders, t.Context(), order.ImportDecision{Import: im.ID, Reason: reason, By: by})
			}
			ada, bola, auditor := k.member("administrator"), k.member("reviewer"), k.member("auditor")
			k.member("administrator")
			if _, err := ask(ada, " "); !isFault(err, fault.InvalidArgument) {
				t.Errorf("without a reason: %v", err)
			}
			if _, err := ask(auditor, "Because"); !errors.Is(err, approval.ErrNotDecider) {
				t.Errorf("by an auditor: %v", err)
			}
			if _, err := c.request(orders, t.Context(), order.ImportDecision{Import: uuid.New(), Reason: "Because", By: ada}); !errors.Is(err, supply.ErrNoImport) {
				t.Errorf("of no import: %v", err)
			}
			pending, err := ask(ada, "The operator merged two systems")
			if err != nil || pending == uuid.Nil || state() != c.before {
				t.Fatalf("requested: %v, %v, the import is %s", pending, err, state())
			}
			for who, alone := range map[string]audit.Actor{"the requester": ada, "an auditor": auditor} {
				if _, err := approvals.Confirm(t.Context(), pending, alone, uuid.Nil); !isFault(err, fault.PermissionDenied) || state() != c.before {
					t.Errorf("%s: %v, the import is %s", who, err, state())
				}
			}
			if _, err := approvals.Confirm(t.Context(), pending, bola, uuid.Nil); err != nil || state() != c.after {
				t.Errorf("two people: %v, the import is %s", err, state())
			}
			list, err := audit.List(t.Context(), k.Pool, audit.Filter{Subject: im.ID, Action: string(c.confirmsAction)})
			if err != nil || len(list) != 1 || !list[0].Actor.Same(bola) || list[0].After["askedBy"] != ada.ID.String() || list[0].After["reason"] != "The operator merged two systems" {
				t.Errorf("the trail says %+v, %v", list, err)
			}
			if _, err := ask(ada, "Because"); !errors.Is(err, c.already) {
				t.Errorf("once more: %v, want %v", err, c.already)
			}
		})
		t.Run(name+" by the operator alone", func(t *testing.T) {
			t.Parallel()
			k := newImportEnv(t)
			k.importFile(asOf(march), snapshotOf(actives(0, 40)...))
			im := k.run(k.create(asOf(may)), snapshotOf(actives(0, c.rows)...), c.before)
			k.member("administrator") // one is not enough
			pending, err := c.request(&order.Service{Supply: k.Service}, t.Context(), order.ImportDecision{Import: im.ID, Reason: "Because", By: console})
			now, err2 := k.Import(t.Context(), im.ID)
			if err := errors.Join(err, err2); err != nil || pending != uuid.Nil || now.State != c.after {
				t.Errorf("%v, %v, the import is %s", pending, err, now.State)
			}
		})
	}
}
