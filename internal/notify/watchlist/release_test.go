package watchlist_test

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/notify/watchlist"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

// administrator inserts an account of staff.
func (e *env) administrator() audit.Actor {
	e.t.Helper()
	id := uuid.New()
	_, err := e.pool.Exec(e.t.Context(), `INSERT INTO account (id, kind, role, name, email, email_key, created_at) VALUES ($1, 'staff', 'administrator', 'S', $2, $2, now())`, id, id.String())
	if err != nil {
		e.t.Fatal(err)
	}
	return audit.Actor{Kind: audit.Account, ID: id, From: netip.MustParseAddr("192.0.2.1")}
}

// Two people release the list that was requested. If its organisation changes it in the
// meantime the confirmation fails, and the list stays held; a new request releases it.
func TestReleaseIsOfTheListAsItWasRequested(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	at := time.Now().UTC()
	e.Now = func() time.Time { return at }
	o := e.bank("live", 0)
	id := e.create(o)
	if state := e.change(o, id, numbers(50_000, 3_000, 1), nil); state != watchlist.Held {
		t.Fatal(state)
	}
	one, two := e.administrator(), e.administrator()
	approvals := &approval.Service{Pool: e.pool, CheckStaff: registry.CheckStaff, CheckIndependent: registry.CheckIndependent, Now: time.Now, Effects: watchlist.Effects()}
	request := func() uuid.UUID {
		t.Helper()
		err := watchlist.RequestRelease(t.Context(), e.pool, time.Now(), watchlist.ReleaseForm{List: id, Reason: "checked with the bank", By: one})
		waits, ok := errors.AsType[*approval.WaitsError](err)
		if !ok {
			t.Fatalf("a request: %v", err)
		}
		return waits.ID
	}
	first := request()
	at = at.Add(time.Second)
	e.change(o, id, numbers(60_000, 10, 1), nil)
	if _, err := approvals.Confirm(t.Context(), first, two, uuid.Nil); !errors.Is(err, watchlist.ErrChangedSince) {
		t.Errorf("a list that has changed since the request: %v", err)
	}
	if l, err := e.List(t.Context(), o, id); err != nil || l.State != watchlist.Held {
		t.Fatalf("the list is %+v, %v", l, err)
	}
	if _, err := approvals.Refuse(t.Context(), first, "", one, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	if _, err := approvals.Confirm(t.Context(), request(), two, uuid.Nil); err != nil {
		t.Errorf("a list that has not changed: %v", err)
	}
	if l, err := e.List(t.Context(), o, id); err != nil || l.State != watchlist.Active {
		t.Errorf("the list is %+v, %v", l, err)
	}
}
