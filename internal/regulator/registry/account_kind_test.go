package registry_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

// works creates an account of an entity that has accepted its invitation.
func works(t *testing.T, r *registry.Registry, entity uuid.UUID, kind registry.AccountKind) registry.Account {
	t.Helper()
	var a registry.Account
	err := pg.InTx(t.Context(), r.Pool, func(tx pg.Tx) (err error) {
		if a, err = r.Invite(t.Context(), tx, registry.Invitee{Kind: kind, Entity: entity, Email: uuid.NewString() + "@bank.example"}); err != nil {
			return err
		}
		if _, err := r.Accept(t.Context(), tx, a, "Ngozi Eze", "no hash of any password"); err != nil {
			return err
		}
		a, err = r.Account(t.Context(), tx, a.ID)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func setKind(t *testing.T, r *registry.Registry, a registry.Account, kind registry.AccountKind) error {
	t.Helper()
	return pg.InTx(t.Context(), r.Pool, func(tx pg.Tx) error { return r.SetKind(t.Context(), tx, a, kind) })
}

// The last admin of an organisation stays admin: a person who was only invited,
// was removed, or works elsewhere does not count.
func TestLastAdminCannotStepDown(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	id := bank(t, r)
	last := works(t, r, id, registry.AdminAccount)
	works(t, r, id, registry.MemberAccount)
	works(t, r, bank(t, r), registry.AdminAccount)
	gone := works(t, r, id, registry.AdminAccount)
	err := pg.InTx(t.Context(), r.Pool, func(tx pg.Tx) error {
		if _, err := r.Invite(t.Context(), tx, registry.Invitee{Kind: registry.AdminAccount, Entity: id, Email: "invited@bank.example"}); err != nil {
			return err
		}
		return r.Disable(t.Context(), tx, gone)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := setKind(t, r, last, registry.MemberAccount); !errors.Is(err, registry.ErrLastAdmin) {
		t.Errorf("the last admin became a member: %v", err)
	}
	works(t, r, id, registry.AdminAccount)
	if err := setKind(t, r, last, registry.MemberAccount); err != nil {
		t.Errorf("one of two admins: %v", err)
	}
	now, err := r.Account(t.Context(), r.Pool, last.ID)
	if err != nil || now.Kind != registry.MemberAccount {
		t.Errorf("the account is %+v, %v", now, err)
	}
	if err := setKind(t, r, now, registry.MemberAccount); !errors.Is(err, registry.ErrHasKind) {
		t.Errorf("a member became a member: %v", err)
	}
	if err := setKind(t, r, now, registry.StaffAccount); err == nil {
		t.Error("a member became staff")
	}
}

// Of two admins who turn each other into members at the same time, one stays
// admin.
func TestTwoAdminsDoNotBothStepDown(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	for range 8 {
		id := bank(t, r)
		pair := []registry.Account{works(t, r, id, registry.AdminAccount), works(t, r, id, registry.AdminAccount)}
		var both sync.WaitGroup
		for _, a := range pair {
			both.Go(func() { _ = setKind(t, r, a, registry.MemberAccount) })
		}
		both.Wait()
		admins := 0
		for _, a := range pair {
			if now, err := r.Account(t.Context(), r.Pool, a.ID); err == nil && now.Kind == registry.AdminAccount {
				admins++
			}
		}
		if admins == 0 {
			t.Fatal("nobody looks after the organisation any more")
		}
	}
}
