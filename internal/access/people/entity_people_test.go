package people_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

// Nobody enters an organisation that has an admin by the word of one person of the
// regulator, or of the operator: whether they invite somebody or reset one of its people,
// nothing happens before a second person confirms it, and every admin gets an e-mail when it
// is requested and when it takes effect.
func TestNobodyOfTheRegulatorEntersAnOrganisationAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ask  func(t *testing.T, w *world, by audit.Actor, member registry.Account) error
		done func(t *testing.T, w *world) bool
	}{
		"an invitation": {
			func(t *testing.T, w *world, by audit.Actor, _ registry.Account) error {
				t.Helper()
				f := people.InviteForm{Email: "thief@people.example", Kind: registry.AdminAccount, Entity: w.bank.ID}
				ask := func() (people.Invited, error) { return w.CreateInvited(t.Context(), f, by, uuid.Nil) }
				if by.Kind == audit.Account {
					ask = func() (people.Invited, error) {
						return w.Invite(t.Context(), f, access.Principal{Kind: access.Session, Account: by.ID, Role: access.Administrator}, uuid.Nil)
					}
				}
				i, err := ask()
				if err != nil {
					return err
				}
				if _, _, err := w.Link(t.Context(), people.Invitation, i.ID); !errors.Is(err, registry.ErrNoAccount) {
					t.Errorf("there is a link before it is confirmed: %v", err)
				}
				return approval.Waits(i.Pending)
			},
			func(_ *testing.T, w *world) bool { return w.sentTo("thief@people.example") },
		},
		"a new password": {
			func(t *testing.T, w *world, by audit.Actor, member registry.Account) error {
				t.Helper()
				if link, _, err := w.StartReset(t.Context(), member, true, "Lost it", by, uuid.Nil); err == nil || link != "" {
					t.Errorf("the link was printed: %v", err)
				}
				_, _, err := w.StartReset(t.Context(), member, false, "Lost it", by, uuid.Nil)
				return err
			},
			func(_ *testing.T, w *world) bool { return w.sentTo("member@bank.example") },
		},
		"two-factor authentication": {
			func(t *testing.T, w *world, by audit.Actor, member registry.Account) error {
				t.Helper()
				return w.ResetFactor(t.Context(), member.ID, "Lost it", by, uuid.Nil)
			},
			func(t *testing.T, w *world) bool {
				t.Helper()
				return w.trail(t, audit.FactorRemoved) > 0
			},
		},
	} {
		for by, actor := range map[string]func(*world) audit.Actor{
			"an administrator": func(w *world) audit.Actor { return w.administrator(t) },
			"the operator":     func(*world) audit.Actor { return operator },
		} {
			t.Run(name+" by "+by, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				member := w.join(t, people.InviteForm{Email: "member@bank.example", Kind: registry.MemberAccount, Entity: w.bank.ID})
				member, _ = w.Registry.Account(t.Context(), w.Pool, member.ID)
				_, who := w.in(t, w.attempt("member@bank.example", password))
				w.enrol(t, who)
				by := actor(w)
				w.administrator(t)
				w.deliver(t)
				w.mail.Forget()
				waits := c.ask(t, w, by, member)
				w.deliver(t)
				if c.done(t, w) {
					t.Error("it has happened by one person")
				}
				if !w.sentTo(w.admin) {
					t.Error("the admin was not notified of the request")
				}
				w.mail.Forget()
				w.agree(t, waits)
				w.deliver(t)
				if !c.done(t, w) {
					t.Error("it has not happened by two people")
				}
				if !w.sentTo(w.admin) {
					t.Error("the admin was not notified of what happened")
				}
			})
		}
	}
}

// The admins of an organisation invite people themselves, and the first admin of an
// organisation needs nobody else.
func TestOrganisationsInviteTheirOwnPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	by := w.administrator(t)
	w.administrator(t)
	_, admin := w.in(t, w.attempt(w.admin, password))
	i := must(w.Invite(t.Context(), people.InviteForm{Email: "colleague@bank.example", Kind: registry.MemberAccount}, admin, uuid.Nil))(t)
	other := must(w.Registry.CreateRelyingParty(t.Context(), "Other Bank", "RC 8", operator, uuid.Nil))(t)
	first := must(w.Invite(t.Context(), people.InviteForm{Email: "first@other.example", Kind: registry.AdminAccount, Entity: other.ID}, access.Principal{Kind: access.Session, Account: by.ID, Role: access.Administrator}, uuid.Nil))(t)
	w.deliver(t)
	if i.Pending != uuid.Nil || first.Pending != uuid.Nil || !w.sentTo("colleague@bank.example") || !w.sentTo("first@other.example") {
		t.Errorf("%+v, %+v", i, first)
	}
}

// sentTo reports whether an e-mail was sent to an address since the last were forgotten.
func (w *world) sentTo(address string) bool {
	for _, m := range w.mail.Messages() {
		if strings.Contains(m.To, address) {
			return true
		}
	}
	return false
}
