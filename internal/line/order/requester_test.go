package order_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/values/secret"
)

func must[T any](v T, err error) func(testing.TB) T {
	return func(tb testing.TB) T {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return v
	}
}

// An order whose requester has left since, lost the role for it, or is a client that was
// suspended or revoked or lost the scope, cannot be confirmed: the second person would
// act alone. It can still be refused.
func TestOrderOfARequesterWhoHasLeftIsNotConfirmed(t *testing.T) {
	t.Parallel()
	ctx, pool := t.Context(), pgtest.New(t)
	region := must(phone.NewRegion("NG"))(t)
	rows, source, _ := numbering.Shipped("NG")
	must((&numbering.Service{Pool: pool, Now: time.Now}).Set(ctx, rows, source, time.Time{}))(t)
	peppers := must(secret.NewPeppers([]secret.Text{"a pepper for tests, thirty-two bytes long"}))(t)
	reg := &registry.Registry{Pool: pool, Region: region, Passwords: secret.NewPasswords(peppers, secret.Cost{MemoryKiB: 64, Time: 1, Threads: 1}, 2, 16), PasswordMin: 8, Now: time.Now}
	orders := &order.Service{Supply: &supply.Service{Pool: pool, Region: region, Lines: &linestore.Resolver{}, Now: time.Now}, CheckClient: access.CheckOrders}
	by := func(kind audit.ActorKind, id uuid.UUID) supply.Supplier {
		return supply.Supplier{Authorities: []line.Authority{line.Regulator}, Actor: audit.Actor{Kind: kind, ID: id}}
	}
	client := must((&access.Service{Pool: pool, Peppers: peppers, Now: time.Now}).
		CreateClient(ctx, access.ClientForm{Name: "The court", Scopes: []string{"line:order"}}, access.Operator, uuid.Nil))(t).ID
	founder := func(i string) registry.StaffForm {
		return registry.StaffForm{Name: "Founder", Email: "founder" + i + "@regulator.example", Password: "quiet-river-9"}
	}
	ids := must(reg.Found(ctx, []registry.StaffForm{founder("1"), founder("2")}, access.Operator, uuid.Nil))(t)
	second := by(audit.Account, ids[1])
	for name, c := range map[string]struct {
		asker       supply.Supplier
		leave, back string
	}{
		"a person who was removed":     {by(audit.Account, ids[0]), `UPDATE account SET disabled_at = now() WHERE id = $1`, `UPDATE account SET disabled_at = NULL WHERE id = $1`},
		"a person who is now auditor":  {by(audit.Account, ids[0]), `UPDATE account SET role = 'auditor' WHERE id = $1`, `UPDATE account SET role = 'reviewer' WHERE id = $1`},
		"a client that is suspended":   {by(audit.Client, client), `UPDATE client SET suspended_at = now() WHERE id = $1`, `UPDATE client SET suspended_at = NULL WHERE id = $1`},
		"a client that lost the scope": {by(audit.Client, client), `UPDATE client SET scopes = '{line:flag}' WHERE id = $1`, `UPDATE client SET scopes = '{line:order}' WHERE id = $1`},
		"a client that was revoked":    {by(audit.Client, client), `UPDATE client SET revoked_at = now() WHERE id = $1`, `UPDATE client SET revoked_at = NULL WHERE id = $1`},
	} {
		o := must(orders.Create(ctx, c.asker, order.Form{PhoneNumber: "+2348035550001", Action: "BLACKLIST", Note: "case 12 of 2026"}))(t)
		must(pool.Exec(ctx, c.leave, c.asker.Actor.ID))(t)
		if _, err := orders.Confirm(ctx, second, o.ID); !errors.Is(err, approval.ErrRequesterGone) {
			t.Errorf("%s: %v", name, err)
		}
		if got := must(orders.Find(ctx, o.ID))(t); got.State != order.Pending {
			t.Errorf("%s: the order is %s", name, got.State)
		}
		must(orders.Refuse(ctx, second.Actor, o.ID, "It is not needed.", uuid.Nil))(t)
		must(pool.Exec(ctx, c.back, c.asker.Actor.ID))(t)
	}
	// Somebody with a stolen login cannot bring a client back.
	o := must(orders.Create(ctx, by(audit.Client, client), order.Form{PhoneNumber: "+2348035550001", Action: "BLACKLIST", Note: "case 12 of 2026"}))(t)
	must(pool.Exec(ctx, `UPDATE client SET suspended_at = now() WHERE id = $1`, client))(t)
	must(pgtest.Stolen(t, pool).Exec(ctx, `UPDATE client SET suspended_at = NULL WHERE id = $1`, client))(t)
	if _, err := orders.Confirm(ctx, second, o.ID); !errors.Is(err, approval.ErrRequesterGone) {
		t.Errorf("a client whose row is forged: %v", err)
	}
	must(orders.Refuse(ctx, second.Actor, o.ID, "It is not needed.", uuid.Nil))(t)
	o = must(orders.Create(ctx, by(audit.Account, ids[0]), order.Form{PhoneNumber: "+2348035550001", Action: "BLACKLIST", Note: "case 12 of 2026"}))(t)
	if o = must(orders.Confirm(ctx, second, o.ID))(t); o.State != order.Done {
		t.Errorf("two people who are still there: %s", o.State)
	}
}
