package registry_test

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/secret"
)

var operator = audit.Actor{Kind: audit.Operator}

// bank creates a relying party.
func bank(t *testing.T, r *registry.Registry) uuid.UUID {
	t.Helper()
	e, err := r.CreateRelyingParty(t.Context(), "Harbour Bank", "RC 7", operator, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	return e.ID
}

// person creates a member of staff and returns it as an actor.
func person(t *testing.T, r *registry.Registry, role string) audit.Actor {
	t.Helper()
	s, err := r.CreateStaff(t.Context(), registry.StaffForm{
		Name: "S", Email: uuid.NewString() + "@regulator.example", Role: role, Password: "quiet-river-9",
	}, operator, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.Pending != uuid.Nil { // as if somebody else had confirmed it
		if _, err := r.Pool.Exec(t.Context(), `WITH a AS (UPDATE approval SET state = 'lapsed' WHERE id = $2) UPDATE account SET role = $3 WHERE id = $1`, s.ID, s.Pending, role); err != nil {
			t.Fatal(err)
		}
	}
	return audit.Actor{Kind: audit.Account, ID: s.ID, From: netip.MustParseAddr("192.0.2.1")}
}

func desk(r *registry.Registry) *approval.Service {
	return &approval.Service{Pool: r.Pool, CheckStaff: registry.CheckStaff, CheckIndependent: registry.CheckIndependent, Effects: r.Effects(), Now: r.Now}
}

// place sets the status of an entity directly in the database.
func place(t *testing.T, r *registry.Registry, id uuid.UUID, s registry.Status) {
	t.Helper()
	if _, err := r.Pool.Exec(t.Context(), `UPDATE entity SET status = $2 WHERE id = $1`, id, string(s)); err != nil {
		t.Fatal(err)
	}
}

func status(t *testing.T, r *registry.Registry, id uuid.UUID) registry.Status {
	t.Helper()
	e, err := r.Entity(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return e.Status
}

// These are all transitions: from each status, by each verb. Only restoring a
// revoked entity waits for a second person.
func TestStatusTransitions(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	verbs := map[string]func(id uuid.UUID) (registry.StatusChange, error){
		"suspend": func(id uuid.UUID) (registry.StatusChange, error) {
			return r.Suspend(t.Context(), id, "Because", operator, uuid.Nil)
		},
		"restore": func(id uuid.UUID) (registry.StatusChange, error) {
			return r.Restore(t.Context(), id, "Because", operator, uuid.Nil)
		},
		"revoke": func(id uuid.UUID) (registry.StatusChange, error) {
			return r.Revoke(t.Context(), id, "Because", operator, uuid.Nil)
		},
	}
	want := map[string]string{
		"Approved suspend": "Suspended", "Approved restore": "no", "Approved revoke": "Revoked",
		"Suspended suspend": "no", "Suspended restore": "Approved", "Suspended revoke": "Revoked",
		"Revoked suspend": "no", "Revoked restore": "Revoked, waits", "Revoked revoke": "no",
	}
	got := map[string]string{}
	for _, from := range []registry.Status{registry.Approved, registry.Suspended, registry.Revoked} {
		for verb, move := range verbs {
			id := bank(t, r)
			place(t, r, id, from)
			moved, err := move(id)
			outcome := string(moved.Entity.Status)
			switch {
			case errors.Is(err, registry.ErrTransition):
				outcome = "no"
			case err != nil:
				t.Errorf("%s %s: %v", from, verb, err)
			case moved.Pending != uuid.Nil:
				outcome += ", waits"
			}
			if now := status(t, r, id); err == nil && now != moved.Entity.Status || err != nil && now != from {
				t.Errorf("%s %s: the entity is %s and the answer said %s, %v", from, verb, now, outcome, err)
			}
			got[fmt.Sprint(from, " ", verb)] = outcome
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := verbs["suspend"](uuid.New()); !errors.Is(err, registry.ErrNoEntity) {
		t.Errorf("an entity that is not there: %v", err)
	}
}

// The audit trail and the entity record who changed the status, from what to
// what, and why.
func TestStatusChangeIsAudited(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	id, by, request := bank(t, r), person(t, r, "administrator"), uuid.New()
	if _, err := r.Suspend(t.Context(), id, "No answer to our letter", by, request); err != nil {
		t.Fatal(err)
	}
	list, err := audit.List(t.Context(), r.Pool, audit.Filter{Action: "entity.suspended"})
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	e := list[0].Entry
	if e.Actor != by || e.Subject != id || e.Entity != id || e.Request != request {
		t.Errorf("entry %+v", e)
	}
	if diff := cmp.Diff([]map[string]any{{"status": "Approved"}, {"status": "Suspended", "reason": "No answer to our letter"}}, []map[string]any{e.Before, e.After}); diff != "" {
		t.Errorf("before and after (-want +got):\n%s", diff)
	}
	s, err := r.Entity(t.Context(), id)
	if err != nil || s.Reason != "No answer to our letter" || !s.Since.Equal(e.At) {
		t.Errorf("%+v, %v", s, err)
	}
	suspended, err := r.Entities(t.Context(), registry.Suspended, 10)
	if err != nil || len(suspended) != 1 || suspended[0].ID != id {
		t.Errorf("suspended are %+v, %v", suspended, err)
	}
	if approved, err := r.Entities(t.Context(), registry.Approved, 10); err != nil || len(approved) != 0 {
		t.Errorf("approved are %+v, %v", approved, err)
	}
}

// Only administrators and the operator change the status of entities, and only
// with a reason.
func TestOnlyAdministratorsChangeStatus(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	id := bank(t, r)
	for name, by := range map[string]audit.Actor{
		"a reviewer": person(t, r, "reviewer"), "an auditor": person(t, r, "auditor"),
		"a client": {Kind: audit.Client, ID: uuid.New()}, "the service itself": {Kind: audit.System}, "nobody": {},
	} {
		if _, err := r.Revoke(t.Context(), id, "Because", by, uuid.Nil); !errors.Is(err, registry.ErrNotAdministrator) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := r.CreateRelyingParty(t.Context(), "Another", "RC 8", by, uuid.Nil); !errors.Is(err, registry.ErrNotAdministrator) {
			t.Errorf("%s makes an organisation: %v", name, err)
		}
	}
	for _, reason := range []string{"", "  ", strings.Repeat("x", 501), "a\x00b"} {
		if _, err := r.Revoke(t.Context(), id, reason, operator, uuid.Nil); len(fieldsOf(err)) == 0 {
			t.Errorf("the reason %.10q: %v", reason, err)
		}
	}
	if got := status(t, r, id); got != registry.Approved {
		t.Errorf("the entity is %s", got)
	}
	if _, err := r.Revoke(t.Context(), id, "Because", person(t, r, "administrator"), uuid.Nil); err != nil {
		t.Errorf("an administrator: %v", err)
	}
}

// Of many concurrent changes of the status of an entity, one succeeds.
func TestConcurrentStatusChangesAreSerialised(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	id := bank(t, r)
	var all sync.WaitGroup
	done := make(chan error, 8)
	for range cap(done) {
		all.Go(func() {
			_, err := r.Suspend(t.Context(), id, "Because", operator, uuid.Nil)
			done <- err
		})
	}
	all.Wait()
	close(done)
	won := 0
	for err := range done {
		if err == nil {
			won++
		} else if !errors.Is(err, registry.ErrTransition) {
			t.Error(err)
		}
	}
	list, err := audit.List(t.Context(), r.Pool, audit.Filter{Action: "entity.suspended"})
	if err != nil || won != 1 || len(list) != 1 {
		t.Errorf("%d moved it, %d entries, %v; want one of each", won, len(list), err)
	}
}

// A suspension and a revocation disable the keys and sessions of the entity and
// of no other, and all of them work again after it is restored: also from a
// revocation, once two people have confirmed it.
func TestKeysAndSessionsStopAndComeBack(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	peppers, err := secret.NewPeppers([]secret.Text{"a pepper for tests, thirty-two bytes long"})
	if err != nil {
		t.Fatal(err)
	}
	keeper := &access.Service{
		Pool: r.Pool, Peppers: peppers, TokenLifetime: time.Hour, SessionLifetime: time.Hour, SessionIdle: time.Hour, Now: time.Now,
	}
	by := sponsor(t, r.Pool)
	credentials := func(email, number string) (uuid.UUID, []secret.Text) {
		e, err := onboard(t.Context(), r, form(func(f *registry.ApplicationForm) { f.AdminEmail, f.AdminPhone = email, number }), by)
		if err != nil {
			t.Fatal(err)
		}
		key, err := keeper.CreateKey(t.Context(), access.KeyForm{Entity: e.ID, Name: "app", Mode: "live"}, operator, uuid.Nil)
		if err != nil {
			t.Fatal(err)
		}
		var admin uuid.UUID
		if err := r.Pool.QueryRow(t.Context(), `SELECT id FROM account WHERE entity_id = $1`, e.ID).Scan(&admin); err != nil {
			t.Fatal(err)
		}
		var session access.NewSession
		err = pg.InTx(t.Context(), r.Pool, func(tx pg.Tx) (err error) {
			session, err = keeper.OpenSession(t.Context(), tx, access.SessionForm{Account: admin, Entity: e.ID})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return e.ID, []secret.Text{key.Text, session.Text}
	}
	id, own := credentials("ada@one.example", "+2348012345671")
	_, others := credentials("bola@two.example", "+2348012345672") // the same client brought it in
	opens := func(texts []secret.Text, want bool, when string) {
		t.Helper()
		for i, text := range texts {
			_, err := keeper.Authenticate(t.Context(), text.Reveal(), netip.MustParseAddr("192.0.2.1"))
			if (err == nil) != want {
				t.Errorf("%s: credential %d: %v, want it to open: %v", when, i, err, want)
			}
		}
	}
	opens(own, true, "approved")
	moved := func(m registry.StatusChange, err error) registry.StatusChange {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	moved(r.Suspend(t.Context(), id, "Because", operator, uuid.Nil))
	opens(own, false, "suspended")
	opens(others, true, "another of the client's entities")
	moved(r.Restore(t.Context(), id, "Because", operator, uuid.Nil))
	opens(own, true, "restored")
	moved(r.Revoke(t.Context(), id, "Because", operator, uuid.Nil))
	opens(own, false, "revoked")
	asked := moved(r.Restore(t.Context(), id, "A mistake", operator, uuid.Nil))
	opens(own, false, "while it waits")
	admin, _ := founders(t, r)
	if _, err := desk(r).Confirm(t.Context(), asked.Pending, operator, uuid.Nil); !errors.Is(err, approval.ErrSecondPerson) {
		t.Errorf("alone: %v", err)
	}
	opens(own, false, "after one person tried alone")
	if _, err := desk(r).Confirm(t.Context(), asked.Pending, admin, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	opens(own, true, "restored by two")
	list, err := audit.List(t.Context(), r.Pool, audit.Filter{Subject: id, Action: "entity.restored", Limit: 1})
	if err != nil || len(list) != 1 || !list[0].Actor.Same(admin) || list[0].After["askedBy"] != "operator" || list[0].After["reason"] != "A mistake" {
		t.Errorf("the trail says %+v, %v", list, err)
	}
}
