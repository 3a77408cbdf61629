package people_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// squatted onboards an entity whose admin has somebody else's address, and returns
// that account.
func (w *world) squatted(t *testing.T, email, phone string) registry.Account {
	t.Helper()
	client := must(w.Access.CreateClient(t.Context(), access.ClientForm{Name: "Squatter", Scopes: []string{"entity:onboard"}}, operator, uuid.Nil))(t)
	onboard := must(w.PrepareOnboarding(t.Context(), registry.ApplicationForm{
		Name: "Squat Telecom", CAC: "RC 66", AdminName: "Mal Lory", AdminEmail: email, AdminPhone: phone, AdminPassword: password,
	}, access.Principal{Kind: access.Client, Client: client.ID, ID: uuid.New()}, uuid.Nil))(t)
	err := pg.InTx(t.Context(), w.pool, func(tx pg.Tx) error {
		_, err := onboard(tx)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	w.deliver(t)
	return must(w.Registry.AccountByEmail(t.Context(), w.pool, email))(t)
}

// Whoever writes an address into a form does not keep its owner out: an invitation can
// be sent to it, and once the invited person has followed the link, the account that
// was never confirmed gives way. Until then it works as before.
func TestUnconfirmedAccountGivesWayToAConfirmedClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const email = "chidi@bank.example"
	squatter := w.squatted(t, email, "+2348031112233")
	login, _ := w.in(t, w.attempt(email, password))
	for range 2 { // a second invitation is the first one again
		must(w.CreateInvited(t.Context(), people.InviteForm{Email: email, Kind: registry.MemberAccount, Entity: w.bank.ID}, operator, uuid.Nil))(t)
	}
	w.mail.Forget()
	w.deliver(t)
	if !w.stands(t, login) {
		t.Error("the invitation alone ended a session of the other account")
	}
	a := must(w.Accept(t.Context(), w.token(t, email, "invited"), "Chidi Okafor", fresh, audit.Actor{From: home}, uuid.Nil))(t)
	if w.stands(t, login) {
		t.Error("the session of the account that gave way is still open")
	}
	if _, err := w.LogIn(t.Context(), w.attempt(email, password), uuid.Nil); fault.CodeOf(err) != fault.Unauthenticated {
		t.Errorf("its password still works: %v", err)
	}
	if _, who := w.in(t, w.attempt(email, fresh)); who.Account != a.ID || who.Entity != w.bank.ID {
		t.Errorf("the owner of the address is %+v", who)
	}
	if gone := must(w.Registry.Account(t.Context(), w.pool, squatter.ID))(t); !gone.Disabled {
		t.Error("the account that gave way is not disabled")
	}
	if n := w.trail(t, audit.AccountDisabled); n != 1 {
		t.Errorf("%d entries in the audit trail, want 1", n)
	}
}

// An address that its account has confirmed is not given away, neither by an invitation
// nor by one that was sent before.
func TestConfirmedAccountKeepsItsAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const email = "ada@telco.example"
	w.squatted(t, email, "+2348031112244")
	confirm := w.token(t, email, "Confirm")
	must(w.CreateInvited(t.Context(), people.InviteForm{Email: email, Kind: registry.MemberAccount, Entity: w.bank.ID}, operator, uuid.Nil))(t)
	w.deliver(t)
	invitation := w.token(t, email, "invited")
	if err := w.ConfirmEmail(t.Context(), confirm, audit.Actor{From: home}, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Accept(t.Context(), invitation, "Mal Lory", fresh, audit.Actor{From: home}, uuid.Nil); fault.CodeOf(err) != fault.IncompatibleState {
		t.Errorf("an invitation took a confirmed address: %v", err)
	}
	w.in(t, w.attempt(email, password))
}
