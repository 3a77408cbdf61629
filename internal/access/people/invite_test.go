package people_test

import (
	"errors"
	"fmt"
	"html"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/message"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// An admin invites to the own entity, an administrator of the regulator to any
// entity and staff, and nobody else invites.
func TestInvitationsNeedTheRight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.StaffFactor = false
	other := must(w.Registry.CreateRelyingParty(t.Context(), "Other Bank", "RC 8", operator, uuid.Nil))(t)
	w.join(t, people.InviteForm{Email: "member@bank.example", Kind: registry.MemberAccount, Entity: w.bank.ID})
	w.join(t, people.InviteForm{Email: "auditor@regulator.example", Kind: registry.StaffAccount, Role: "auditor"})
	principals := map[string]access.Principal{}
	for name, email := range map[string]string{"admin": w.admin, "member": "member@bank.example", "administrator": w.staff, "auditor": "auditor@regulator.example"} {
		_, principals[name] = w.in(t, w.attempt(email, password))
	}
	member, admin, staff := registry.MemberAccount, registry.AdminAccount, registry.StaffAccount
	for name, tc := range map[string]struct {
		who  string
		g    people.InviteForm
		want fault.Code // "" where it works
	}{
		"admin, member":              {"admin", people.InviteForm{Kind: member}, ""},
		"admin, admin":               {"admin", people.InviteForm{Kind: admin, Entity: w.bank.ID}, ""},
		"admin, elsewhere":           {"admin", people.InviteForm{Kind: member, Entity: other.ID}, fault.NotFound},
		"admin, staff":               {"admin", people.InviteForm{Kind: staff, Role: "auditor"}, fault.PermissionDenied},
		"member, member":             {"member", people.InviteForm{Kind: member}, fault.PermissionDenied},
		"auditor, member":            {"auditor", people.InviteForm{Kind: member, Entity: w.bank.ID}, fault.PermissionDenied},
		"administrator, first admin": {"administrator", people.InviteForm{Kind: admin, Entity: other.ID}, ""},
		"administrator, nowhere":     {"administrator", people.InviteForm{Kind: admin}, fault.InvalidArgument},
		"administrator, no entity":   {"administrator", people.InviteForm{Kind: admin, Entity: uuid.New()}, fault.NotFound},
		"administrator, reviewer":    {"administrator", people.InviteForm{Kind: staff, Role: "reviewer"}, ""},
		"administrator, no role":     {"administrator", people.InviteForm{Kind: staff}, fault.InvalidArgument},
		"administrator, role beside": {"administrator", people.InviteForm{Kind: member, Entity: w.bank.ID, Role: "auditor"}, fault.InvalidArgument},
	} {
		tc.g.Email = strings.ReplaceAll(name, ", ", "-") + "@guests.example"
		tc.g.Email = strings.ReplaceAll(tc.g.Email, " ", "-")
		i, err := w.Invite(t.Context(), tc.g, principals[tc.who], uuid.Nil)
		if tc.want == "" && err != nil || tc.want != "" && fault.CodeOf(err) != tc.want {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
		if err == nil && (i.Accepted || i.Kind != tc.g.Kind) {
			t.Errorf("%s: %+v", name, i)
		}
	}
	// Nobody makes an administrator alone.
	i := must(w.Invite(t.Context(), people.InviteForm{Email: "boss@guests.example", Kind: staff, Role: "administrator"}, principals["administrator"], uuid.Nil))(t)
	if i.Role != "auditor" || i.Pending == uuid.Nil {
		t.Errorf("a new administrator: %+v", i)
	}
}

// An invitation is an e-mail with a link that works once, for 72 hours. It can
// be sent again to a person who has not accepted it or was removed, and to
// nobody else.
func TestInvitationIsAcceptedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := people.InviteForm{Email: "zainab@bank.example", Kind: registry.MemberAccount, Entity: w.bank.ID}
	invite := func() string {
		must(w.CreateInvited(t.Context(), g, operator, uuid.Nil))(t)
		w.deliver(t)
		return w.token(t, g.Email, "invited")
	}
	accept := func(token string) error {
		_, err := w.Accept(t.Context(), token, "Zainab Sule", fresh, audit.Actor{From: abroad}, uuid.Nil)
		return err
	}
	late := invite()
	w.move(73 * time.Hour)
	again := invite()
	if accept(late) == nil {
		t.Error("a late invitation was accepted")
	}
	_, err := w.Accept(t.Context(), again, " ", "kq7zb", audit.Actor{}, uuid.Nil)
	if f, ok := errors.AsType[*fault.Error](err); !ok || len(f.Violations) != 2 {
		t.Errorf("a nameless guest with a short password: %v", err)
	}
	if err := accept(again); err != nil {
		t.Fatal(err)
	}
	if accept(again) == nil {
		t.Error("an invitation was accepted twice")
	}
	l, who := w.in(t, w.attempt(g.Email, fresh))
	if l.FullName != "Zainab Sule" || !l.Verified || who.Manages || who.Entity != w.bank.ID {
		t.Errorf("%+v, %+v", l, who)
	}
	if _, err := w.CreateInvited(t.Context(), g, operator, uuid.Nil); !errors.Is(err, registry.ErrOnTeam) {
		t.Errorf("inviting somebody who is there: %v", err)
	}
	if err := w.DisableAccount(t.Context(), must(w.Registry.Account(t.Context(), w.pool, who.Account))(t), "", operator, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	elsewhere := g
	elsewhere.Kind = registry.AdminAccount
	if _, err := w.CreateInvited(t.Context(), elsewhere, operator, uuid.Nil); !errors.Is(err, registry.ErrOnTeam) {
		t.Errorf("inviting them to another place: %v", err)
	}
	if err := accept(invite()); err != nil {
		t.Errorf("after being let go: %v", err)
	}
}

// Admins remove people of their own entity only; the sessions of these end.
// Nobody removes themselves or the last admin.
func TestAccountsAreRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.StaffFactor = false
	member := w.join(t, people.InviteForm{Email: "member@bank.example", Kind: registry.MemberAccount, Entity: w.bank.ID})
	_, admin := w.in(t, w.attempt(w.admin, password))
	theirs, who := w.in(t, w.attempt("member@bank.example", password))
	_, boss := w.in(t, w.attempt(w.staff, password))
	for name, tc := range map[string]struct {
		account uuid.UUID
		by      access.Principal
		want    fault.Code
	}{
		"staff by an admin":     {boss.Account, admin, fault.NotFound},
		"nobody by an admin":    {uuid.New(), admin, fault.NotFound},
		"an admin by a member":  {admin.Account, who, fault.PermissionDenied},
		"oneself":               {admin.Account, admin, fault.IncompatibleState},
		"the last by the staff": {admin.Account, boss, fault.IncompatibleState},
	} {
		if err := w.Remove(t.Context(), tc.account, "", tc.by, uuid.Nil); fault.CodeOf(err) != tc.want {
			t.Errorf("%s: %v, want %s", name, err, tc.want)
		}
	}
	if err := w.Remove(t.Context(), member.ID, "", admin, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	if w.stands(t, theirs) {
		t.Error("the session of somebody who was let go still stands")
	}
	w.join(t, people.InviteForm{Email: "second@bank.example", Kind: registry.AdminAccount, Entity: w.bank.ID})
	if err := w.Remove(t.Context(), admin.Account, "", boss, uuid.Nil); err != nil {
		t.Errorf("with another admin: %v", err)
	}
	team := must(w.Team(t.Context(), admin))(t)
	if len(team) != 3 || !team[0].Disabled || !team[1].Disabled || team[2].Disabled {
		t.Errorf("the team: %+v", team)
	}
}

// E-mails that no longer make sense are not sent; without a server they wait.
func TestStaleEmailsAreDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	account := must(w.Registry.AccountByEmail(t.Context(), w.pool, w.admin))(t)
	for name, tc := range map[string]struct {
		l     people.Email
		asked time.Time
	}{
		"nobody's":          {people.Email{Kind: people.Reset, Account: uuid.New()}, w.Now()},
		"of two hours ago":  {people.Email{Kind: people.Reset, Account: account.ID}, w.Now().Add(-2 * time.Hour)},
		"confirmed already": {people.Email{Kind: people.Confirmation, Account: account.ID}, w.Now()},
		"accepted already":  {people.Email{Kind: people.Invitation, Account: account.ID}, w.Now()},
		"of no kind":        {people.Email{Kind: "spam", Account: account.ID}, w.Now()},
	} {
		if err := w.Deliver(t.Context(), tc.l, tc.asked); err != nil || len(w.mail.Messages()) != 0 {
			t.Errorf("%s: %v, and %d letters", name, err, len(w.mail.Messages()))
		}
	}
	w.Mail = nil
	if err := w.Deliver(t.Context(), people.Email{Kind: people.Reset, Account: account.ID}, w.Now()); !errors.Is(err, people.ErrNoMail) {
		t.Errorf("without a server: %v", err)
	}
}

// The number of invitations that a person can send is limited.
func TestInvitationsAreThrottled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, who := w.in(t, w.attempt(w.admin, password))
	sent := 0
	for i := range 60 {
		_, err := w.Invite(t.Context(), people.InviteForm{Email: fmt.Sprintf("guest-%d@people.example", i), Kind: registry.MemberAccount}, who, uuid.Nil)
		if err == nil {
			sent++
		} else if fault.CodeOf(err) != fault.TooManyRequests {
			t.Fatal(err)
		}
	}
	if sent != 50 {
		t.Errorf("%d were sent, want 50", sent)
	}
	w.move(31 * time.Minute)
	must(w.Invite(t.Context(), people.InviteForm{Email: "late@people.example", Kind: registry.MemberAccount}, who, uuid.Nil))(t)
}

// Every administrator of the regulator is notified of alerts of the guard, and
// nobody else. The e-mail names the organisation and links to it.
func TestAdministratorsAreNotifiedOfGuardAlerts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join(t, people.InviteForm{Email: "second@regulator.example", Kind: registry.StaffAccount, Role: "administrator"})
	w.join(t, people.InviteForm{Email: "auditor@regulator.example", Kind: registry.StaffAccount, Role: "auditor"})
	before := len(w.mail.Messages())
	n := people.Notice{Kind: people.GuardFound, Content: message.Content{About: "Harbour <Bank>", Detail: "2,100 of 2,500 different numbers are in dense blocks of 1,000.", Path: "/portal/desk/limits/" + w.bank.ID.String()}}
	err := pg.InTx(t.Context(), w.pool, func(tx pg.Tx) error {
		return w.NotifyStaff(t.Context(), tx, n, uuid.Nil, access.Administrator)
	})
	if err != nil {
		t.Fatal(err)
	}
	w.deliver(t)
	var told []string
	for _, l := range w.mail.Messages()[before:] {
		told = append(told, l.To)
		for _, want := range []string{"Harbour <Bank>", n.Detail, "https://lineproof.example/portal/desk/limits/" + w.bank.ID.String(), "lineproof guard list"} {
			if !strings.Contains(l.Text, want) || !strings.Contains(l.HTML, html.EscapeString(want)) {
				t.Errorf("the e-mail lacks %q: %s", want, l.Text)
			}
		}
		if !strings.Contains(l.Subject, "Harbour <Bank>") {
			t.Errorf("the subject is %q", l.Subject)
		}
	}
	slices.Sort(told)
	if want := []string{w.staff, "second@regulator.example"}; !slices.Equal(told, want) {
		t.Errorf("told were %v, want %v", told, want)
	}
}
