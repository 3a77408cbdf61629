package people_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// settled creates an account of another organisation whose owner has confirmed the address.
func (w *world) settled(t *testing.T, email string) registry.Account {
	t.Helper()
	other := must(w.Registry.CreateRelyingParty(t.Context(), "Lagoon Bank", "RC 8", operator, uuid.Nil))(t)
	return w.join(t, people.InviteForm{Email: email, Kind: registry.AdminAccount, Entity: other.ID})
}

// whatIsSeen invites an address, again, with another role, removes the account and invites
// it once more, and returns all that the inviter sees of it.
func (w *world) whatIsSeen(t *testing.T, f people.InviteForm, team uuid.UUID, invite func(people.InviteForm) (people.Invited, error)) string {
	t.Helper()
	var seen strings.Builder
	list := func() {
		for _, a := range must(w.Registry.Accounts(t.Context(), team))(t) {
			if a.Email == f.Email {
				fmt.Fprintf(&seen, "listed %s %s %q verified=%t accepted=%t disabled=%t\n", a.Kind, a.Role, a.Name, a.Verified, a.Accepted, a.Disabled)
			}
		}
		for _, n := range []audit.Action{audit.Invited, audit.AccountDisabled} {
			fmt.Fprintf(&seen, "%s %d\n", n, w.trailOf(t, n, team, f.Email))
		}
	}
	once := func(f people.InviteForm) uuid.UUID {
		i, err := invite(f)
		fmt.Fprintf(&seen, "invited %s %s %q accepted=%t disabled=%t waits=%t %v\n", i.Kind, i.Role, i.Name, i.Accepted, i.Disabled, i.Pending != uuid.Nil, err)
		list()
		return i.ID
	}
	id := once(f)
	if id == uuid.Nil {
		return seen.String()
	}
	w.deliver(t)
	list()
	if again := once(f); again != id {
		t.Errorf("the second invitation is another account")
	}
	other := f
	if other.Kind == registry.MemberAccount {
		other.Kind = registry.AdminAccount
		once(other)
	}
	if a := must(w.Registry.Account(t.Context(), w.pool, id))(t); !a.Disabled {
		fmt.Fprintln(&seen, "removed", w.DisableAccount(t.Context(), a, "", operator, uuid.Nil))
	}
	list()
	once(f)
	return seen.String()
}

// trailOf counts entries of the audit trail about the people of an organisation with an
// address.
func (w *world) trailOf(t *testing.T, what audit.Action, team uuid.UUID, email string) int {
	t.Helper()
	var n int
	err := w.pool.QueryRow(t.Context(), `SELECT count(*) FROM audit u JOIN account a ON a.id = u.subject_id WHERE u.action = $1 AND a.email = $2
		AND a.entity_id IS NOT DISTINCT FROM $3`, string(what), email, pg.ID(team)).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// An invitation of an address that has an account (elsewhere, of the regulator, never
// confirmed, or invited elsewhere) looks to everybody who invites as one of an address that
// has none: the response, the list of people, another invitation, the removal and the
// audit trail.
func TestInvitationTellsNobodyWhetherAnAddressHasAnAccount(t *testing.T) {
	t.Parallel()
	member := people.InviteForm{Kind: registry.MemberAccount}
	for name, tc := range map[string]struct {
		f      people.InviteForm
		team   func(*world) uuid.UUID
		invite func(*testing.T, *world) func(people.InviteForm) (people.Invited, error)
	}{
		"an admin": {member, ofBank, func(t *testing.T, w *world) func(people.InviteForm) (people.Invited, error) {
			t.Helper()
			_, who := w.in(t, w.attempt(w.admin, password))
			return func(f people.InviteForm) (people.Invited, error) { return w.Invite(t.Context(), f, who, uuid.Nil) }
		}},
		"an administrator": {member, ofBank, func(t *testing.T, w *world) func(people.InviteForm) (people.Invited, error) {
			t.Helper()
			by := access.Principal{Kind: access.Session, Account: w.administrator(t).ID, Role: access.Administrator}
			return func(f people.InviteForm) (people.Invited, error) {
				f.Entity = w.bank.ID
				return w.Invite(t.Context(), f, by, uuid.Nil)
			}
		}},
		"the operator": {member, ofBank, func(t *testing.T, w *world) func(people.InviteForm) (people.Invited, error) {
			t.Helper()
			return func(f people.InviteForm) (people.Invited, error) {
				f.Entity = w.bank.ID
				return w.CreateInvited(t.Context(), f, operator, uuid.Nil)
			}
		}},
		"an administrator, staff": {people.InviteForm{Kind: registry.StaffAccount, Role: "auditor"}, ofStaff, func(t *testing.T, w *world) func(people.InviteForm) (people.Invited, error) {
			t.Helper()
			by := access.Principal{Kind: access.Session, Account: w.administrator(t).ID, Role: access.Administrator}
			return func(f people.InviteForm) (people.Invited, error) { return w.Invite(t.Context(), f, by, uuid.Nil) }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			addresses := map[string]string{"free": "free@people.example", "an account elsewhere": "bola@lagoon.example", "never confirmed": "ada@telco.example", "invited elsewhere": "chi@lagoon.example"}
			w.settled(t, addresses["an account elsewhere"])
			first := must(w.Registry.CreateRelyingParty(t.Context(), "Delta Bank", "RC 9", operator, uuid.Nil))(t)
			w.squatted(t, addresses["never confirmed"], "+2348031112255")
			must(w.CreateInvited(t.Context(), people.InviteForm{Email: addresses["invited elsewhere"], Kind: registry.MemberAccount, Entity: first.ID}, operator, uuid.Nil))(t)
			if tc.team(w) != uuid.Nil {
				addresses["staff"] = w.staff
			}
			invite := tc.invite(t, w)
			seen := map[string]string{}
			for of, email := range addresses {
				f := tc.f
				f.Email = email
				seen[of] = w.whatIsSeen(t, f, tc.team(w), invite)
			}
			if !strings.Contains(seen["free"], "listed") {
				t.Errorf("an invitation is not listed:\n%s", seen["free"])
			}
			for of := range addresses {
				if diff := cmp.Diff(seen["free"], seen[of]); diff != "" {
					t.Errorf("%s looks different (-free +%s):\n%s", of, of, diff)
				}
			}
		})
	}
}

func ofBank(w *world) uuid.UUID { return w.bank.ID }

func ofStaff(*world) uuid.UUID { return uuid.Nil }

// The owner of an address that has an account already learns by e-mail that it was invited,
// and what to do; there is no link. The account stays as it is.
func TestOwnerOfAnAddressLearnsOfTheInvitation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const email = "bola@lagoon.example"
	before := w.settled(t, email)
	_, admin := w.in(t, w.attempt(w.admin, password))
	i := must(w.Invite(t.Context(), people.InviteForm{Email: email, Kind: registry.MemberAccount}, admin, uuid.Nil))(t)
	w.deliver(t)
	l := w.mail.Wait(t, email, "already has an account")
	if !strings.Contains(l.Text, w.bank.Name) || !strings.Contains(l.HTML, w.bank.Name) || strings.Contains(l.Text+l.HTML, "lp_lnk_") {
		t.Errorf("the e-mail lacks the organisation, or has a link:\n%s\n%s", l.Text, l.HTML)
	}
	if after := must(w.Registry.AccountByEmail(t.Context(), w.pool, email))(t); after.ID != before.ID || after.Disabled {
		t.Errorf("the account became %+v", after)
	}
	// A link that the operator passes on by hand does not take the address either.
	link, _, err := w.Link(t.Context(), people.Invitation, i.ID)
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(link.Reveal(), "#")
	if _, err := w.Accept(t.Context(), token, "Mal Lory", fresh, audit.Actor{From: home}, uuid.Nil); fault.CodeOf(err) != fault.IncompatibleState {
		t.Errorf("an invitation took the address of an account: %v", err)
	}
	w.in(t, w.attempt(email, password))
}

// Two organisations can invite the same person. The first invitation that is accepted gets
// the address.
func TestFirstAcceptedInvitationTakesTheAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const email = "zainab@people.example"
	var tokens []string
	var entity uuid.UUID
	for _, name := range []string{"Lagoon Bank", "Delta Bank"} {
		e := must(w.Registry.CreateRelyingParty(t.Context(), name, "RC 8", operator, uuid.Nil))(t)
		must(w.CreateInvited(t.Context(), people.InviteForm{Email: email, Kind: registry.AdminAccount, Entity: e.ID}, operator, uuid.Nil))(t)
		w.deliver(t)
		entity = e.ID
		tokens = append(tokens, w.token(t, email, "invited"))
	}
	accept := func(token string) error {
		_, err := w.Accept(t.Context(), token, "Zainab Sule", fresh, audit.Actor{From: home}, uuid.Nil)
		return err
	}
	if err := accept(tokens[1]); err != nil {
		t.Fatal(err)
	}
	if err := accept(tokens[0]); fault.CodeOf(err) != fault.IncompatibleState {
		t.Errorf("the second acceptance: %v", err)
	}
	if _, who := w.in(t, w.attempt(email, fresh)); who.Entity != entity {
		t.Errorf("the owner of the address is %+v", who)
	}
}
