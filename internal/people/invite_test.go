package people_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/people"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry"
)

// Who may invite whom: an admin to the own entity, an administrator of the staff
// to any and staff, nobody else anybody.
func TestInvitationsNeedTheRight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.StaffFactor = false
	other := must(w.Registry.CreateAsker(t.Context(), "Other Bank", "RC 8", operator, uuid.Nil))(t)
	w.join(t, people.Guest{Email: "member@bank.example", Kind: registry.MemberAccount, Entity: w.bank.ID})
	w.join(t, people.Guest{Email: "auditor@regulator.example", Kind: registry.StaffAccount, Role: "auditor"})
	principals := map[string]access.Principal{}
	for name, email := range map[string]string{"admin": w.admin, "member": "member@bank.example", "administrator": w.staff, "auditor": "auditor@regulator.example"} {
		_, principals[name] = w.in(t, w.attempt(email, password))
	}
	member, admin, staff := registry.MemberAccount, registry.AdminAccount, registry.StaffAccount
	for name, tc := range map[string]struct {
		who  string
		g    people.Guest
		want fault.Code // "" where it works
	}{
		"admin, member":              {"admin", people.Guest{Kind: member}, ""},
		"admin, admin":               {"admin", people.Guest{Kind: admin, Entity: w.bank.ID}, ""},
		"admin, elsewhere":           {"admin", people.Guest{Kind: member, Entity: other.ID}, fault.NotFound},
		"admin, staff":               {"admin", people.Guest{Kind: staff, Role: "auditor"}, fault.PermissionDenied},
		"member, member":             {"member", people.Guest{Kind: member}, fault.PermissionDenied},
		"auditor, member":            {"auditor", people.Guest{Kind: member, Entity: w.bank.ID}, fault.PermissionDenied},
		"administrator, first admin": {"administrator", people.Guest{Kind: admin, Entity: other.ID}, ""},
		"administrator, nowhere":     {"administrator", people.Guest{Kind: admin}, fault.InvalidArgument},
		"administrator, no entity":   {"administrator", people.Guest{Kind: admin, Entity: uuid.New()}, fault.NotFound},
		"administrator, reviewer":    {"administrator", people.Guest{Kind: staff, Role: "reviewer"}, ""},
		"administrator, no role":     {"administrator", people.Guest{Kind: staff}, fault.InvalidArgument},
		"administrator, role beside": {"administrator", people.Guest{Kind: member, Entity: w.bank.ID, Role: "auditor"}, fault.InvalidArgument},
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
	i := must(w.Invite(t.Context(), people.Guest{Email: "boss@guests.example", Kind: staff, Role: "administrator"}, principals["administrator"], uuid.Nil))(t)
	if i.Role != "auditor" || i.Waits == uuid.Nil {
		t.Errorf("a new administrator: %+v", i)
	}
}

// An invitation is a letter with a link that works once, for 72 hours. It can be
// sent again to somebody who has not accepted, or was let go, and to nobody
// else.
func TestInvitationIsAcceptedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := people.Guest{Email: "zainab@bank.example", Kind: registry.MemberAccount, Entity: w.bank.ID}
	invite := func() string {
		must(w.Welcome(t.Context(), g, operator, uuid.Nil))(t)
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
	if _, err := w.Welcome(t.Context(), g, operator, uuid.Nil); !errors.Is(err, registry.ErrTaken) {
		t.Errorf("inviting somebody who is there: %v", err)
	}
	if err := w.Dismiss(t.Context(), must(w.Registry.Account(t.Context(), w.pool, who.Account))(t), operator, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	elsewhere := g
	elsewhere.Kind = registry.AdminAccount
	if _, err := w.Welcome(t.Context(), elsewhere, operator, uuid.Nil); !errors.Is(err, registry.ErrTaken) {
		t.Errorf("inviting them to another place: %v", err)
	}
	if err := accept(invite()); err != nil {
		t.Errorf("after being let go: %v", err)
	}
}

// Whoever looks after an entity lets its people go, and nobody else's; their
// sessions end. Nobody lets themselves go, nor the last who could look after the
// rest.
func TestPeopleAreLetGo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.StaffFactor = false
	member := w.join(t, people.Guest{Email: "member@bank.example", Kind: registry.MemberAccount, Entity: w.bank.ID})
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
		if err := w.Remove(t.Context(), tc.account, tc.by, uuid.Nil); fault.CodeOf(err) != tc.want {
			t.Errorf("%s: %v, want %s", name, err, tc.want)
		}
	}
	if err := w.Remove(t.Context(), member.ID, admin, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	if w.stands(t, theirs) {
		t.Error("the session of somebody who was let go still stands")
	}
	w.join(t, people.Guest{Email: "second@bank.example", Kind: registry.AdminAccount, Entity: w.bank.ID})
	if err := w.Remove(t.Context(), admin.Account, boss, uuid.Nil); err != nil {
		t.Errorf("with another admin: %v", err)
	}
	team := must(w.Team(t.Context(), admin))(t)
	if len(team) != 3 || !team[0].Disabled || !team[1].Disabled || team[2].Disabled {
		t.Errorf("the team: %+v", team)
	}
}

// Letters that make no sense any more are not sent; without a server they wait.
func TestLettersThatMakeNoSenseAreDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	account := must(w.Registry.AccountByEmail(t.Context(), w.pool, w.admin))(t)
	for name, tc := range map[string]struct {
		l     people.Letter
		asked time.Time
	}{
		"nobody's":          {people.Letter{Kind: people.Reset, Account: uuid.New()}, w.Now()},
		"of two hours ago":  {people.Letter{Kind: people.Reset, Account: account.ID}, w.Now().Add(-2 * time.Hour)},
		"confirmed already": {people.Letter{Kind: people.Confirmation, Account: account.ID}, w.Now()},
		"accepted already":  {people.Letter{Kind: people.Invitation, Account: account.ID}, w.Now()},
		"of no kind":        {people.Letter{Kind: "spam", Account: account.ID}, w.Now()},
	} {
		if err := w.Deliver(t.Context(), tc.l, tc.asked); err != nil || len(w.mail.Letters()) != 0 {
			t.Errorf("%s: %v, and %d letters", name, err, len(w.mail.Letters()))
		}
	}
	w.Mail = nil
	if err := w.Deliver(t.Context(), people.Letter{Kind: people.Reset, Account: account.ID}, w.Now()); !errors.Is(err, people.ErrNoMail) {
		t.Errorf("without a server: %v", err)
	}
}

// Nobody floods strangers with invitations.
func TestInvitationsAreSparing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, who := w.in(t, w.attempt(w.admin, password))
	sent := 0
	for i := range 60 {
		_, err := w.Invite(t.Context(), people.Guest{Email: fmt.Sprintf("guest-%d@people.example", i), Kind: registry.MemberAccount}, who, uuid.Nil)
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
	must(w.Invite(t.Context(), people.Guest{Email: "late@people.example", Kind: registry.MemberAccount}, who, uuid.Nil))(t)
}

// What the guard finds is told to every administrator of the regulator, and to
// nobody else.
func TestAdministratorsAreToldOfWhatTheGuardFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join(t, people.Guest{Email: "second@regulator.example", Kind: registry.StaffAccount, Role: "administrator"})
	w.join(t, people.Guest{Email: "auditor@regulator.example", Kind: registry.StaffAccount, Role: "auditor"})
	before := len(w.mail.Letters())
	err := pg.InTx(t.Context(), w.pool, func(tx pg.Tx) error { return w.TellAdministrators(t.Context(), tx, people.GuardFound) })
	if err != nil {
		t.Fatal(err)
	}
	w.deliver(t)
	var told []string
	for _, l := range w.mail.Letters()[before:] {
		told = append(told, l.To)
		if !strings.Contains(l.Text, "lineproof guard list") {
			t.Errorf("the letter does not say where to look: %s", l.Text)
		}
	}
	slices.Sort(told)
	if want := []string{w.staff, "second@regulator.example"}; !slices.Equal(told, want) {
		t.Errorf("told were %v, want %v", told, want)
	}
}
