package server

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/access/message"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// The admins of an organisation are told that it is slowed, and that it is stopped; of
// an alert without consequence only the regulator's administrators are told. They read
// which organisation it is, and the message leads to it.
func TestAlertsReachThoseConcerned(t *testing.T) {
	t.Parallel()
	ctx, pool := t.Context(), pgtest.New(t)
	peppers, err := secret.NewPeppers([]secret.Text{"a pepper for tests, thirty-two bytes long"})
	if err != nil {
		t.Fatal(err)
	}
	region, err := phone.NewRegion("NG")
	if err != nil {
		t.Fatal(err)
	}
	passwords := secret.NewPasswords(peppers, secret.Cost{MemoryKiB: 64, Time: 1, Threads: 1}, 2, 16)
	reg := &registry.Registry{Pool: pool, Region: region, Passwords: passwords, PasswordMin: 8, Now: time.Now}
	keys := &access.Service{Pool: pool, Peppers: peppers, Now: time.Now}
	var emails sync.Map
	p := &people.People{
		Pool: pool, Access: keys, Registry: reg, Peppers: peppers, Passwords: passwords, Issuer: "Lineproof", PublicURL: "https://lineproof.example", Now: time.Now,
		QueueEmail: func(_ context.Context, _ pg.Tx, e people.Email) error {
			emails.Store(e.Account, e.Kind)
			return nil
		},
	}
	bank, err := reg.CreateRelyingParty(ctx, "Harbour Bank", "RC 7", access.Operator, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	join := func(f people.InviteForm) uuid.UUID {
		t.Helper()
		i, err := p.CreateInvited(ctx, f, access.Operator, uuid.Nil)
		if err != nil {
			t.Fatal(err)
		}
		link, _, err := p.Link(ctx, people.Invitation, i.ID)
		if err != nil {
			t.Fatal(err)
		}
		_, token, _ := strings.Cut(link.Reveal(), "#")
		if _, err := p.Accept(ctx, token, "Zainab Sule", "harmattan-38-dust", access.Operator, uuid.Nil); err != nil {
			t.Fatal(err)
		}
		return i.ID
	}
	admin := join(people.InviteForm{Email: "admin@bank.example", Kind: registry.AdminAccount, Entity: bank.ID})
	staff := join(people.InviteForm{Email: "ada@regulator.example", Kind: registry.StaffAccount, Role: "administrator"})
	for level, kind := range map[guard.Level]any{guard.Notified: nil, guard.Slowed: people.ScanSlowed, guard.Stopped: people.ScanStopped} { //nolint:exhaustive // every level that is told
		emails.Clear()
		a := guard.Alert{ID: uuid.New(), Entity: bank.ID, Kind: guard.Density, Level: level, Since: time.Now(), Figures: guard.Figures{Numbers: 2500, Dense: 2100, Block: 1000}}
		if err := pg.InTx(ctx, pool, func(tx pg.Tx) error { return notifyOfAlert(ctx, tx, p, &a) }); err != nil {
			t.Fatal(err)
		}
		if got, _ := emails.Load(admin); got != kind {
			t.Errorf("%s: the admin gets %v, want %v", level, got, kind)
		}
		if got, _ := emails.Load(staff); got != people.GuardFound {
			t.Errorf("%s: the administrator gets %v", level, got)
		}
		m, err := message.List(ctx, pool, staff, uuid.Nil, 1)
		if err != nil || len(m) != 1 || m[0].About != "Harbour Bank" || m[0].Path != "/portal/desk/limits/"+bank.ID.String() || !strings.Contains(m[0].Detail, "2,100 of 2,500") {
			t.Errorf("%s: the administrator reads %+v, %v", level, m, err)
		}
	}
}
