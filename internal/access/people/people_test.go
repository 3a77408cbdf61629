package people_test

import (
	"context"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/pquerna/otp/totp"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/platform/mail"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/testing/mailtest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/values/secret"
)

const (
	password = "harmattan-38-dust"
	fresh    = "monsoon-91-cloud"
)

var (
	operator = audit.Actor{Kind: audit.Operator}
	home     = netip.MustParseAddr("198.51.100.7")
	abroad   = netip.MustParseAddr("203.0.113.9")
)

// world is a database with somebody of every kind, a mail server, and a clock
// that stands still until it is moved.
type world struct {
	*people.People

	pool  *pgxpool.Pool
	mail  *mailtest.Server
	bank  registry.Entity
	admin string // e-mail addresses
	staff string

	mu     sync.Mutex
	at     time.Time
	queued []people.Email
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(tb testing.TB) T {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return v
	}
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{pool: pgtest.NewAnyTime(t), mail: mailtest.Start(t), at: time.Now(), admin: "ngozi@bank.example", staff: "ada@regulator.example"}
	now := func() time.Time {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.at
	}
	peppers := must(secret.NewPeppers([]secret.Text{"a pepper for tests, thirty-two bytes long"}))(t)
	passwords := secret.NewPasswords(peppers, secret.Cost{MemoryKiB: 64, Time: 1, Threads: 1}, 4, 200)
	keeper := &access.Service{
		Pool: w.pool, Peppers: peppers, TokenLifetime: time.Hour, SessionLifetime: 8 * time.Hour, SessionIdle: 8 * time.Hour, Now: now,
	}
	reg := &registry.Registry{Pool: w.pool, Region: must(phone.NewRegion("NG"))(t), Passwords: passwords, PasswordMin: 8, Now: now}
	w.People = &people.People{
		Pool: w.pool, Access: keeper, Registry: reg, Peppers: peppers, Passwords: passwords, StaffFactor: true, EntityFactor: true, Issuer: "Lineproof",
		PublicURL: "https://lineproof.example", Mail: must(mail.Open(secret.Text(w.mail.URL()), "no-reply@regulator.example"))(t), Now: now,
		QueueEmail: func(_ context.Context, _ pg.Tx, l people.Email) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.queued = append(w.queued, l)
			return nil
		},
	}
	w.bank = must(reg.CreateRelyingParty(t.Context(), "Harbour Bank", "RC 7", operator, uuid.Nil))(t)
	w.join(t, people.InviteForm{Email: w.admin, Kind: registry.AdminAccount, Entity: w.bank.ID})
	w.join(t, people.InviteForm{Email: w.staff, Kind: registry.StaffAccount, Role: "administrator"})
	return w
}

// join creates an account by an invitation, from the e-mail to the password.
func (w *world) join(t *testing.T, g people.InviteForm) registry.Account {
	t.Helper()
	must(w.CreateInvited(t.Context(), g, operator, uuid.Nil))(t)
	w.deliver(t)
	return must(w.Accept(t.Context(), w.token(t, g.Email, "invited"), "Ngozi Eze", password, audit.Actor{From: home}, uuid.Nil))(t)
}

// deliver does what the job does.
func (w *world) deliver(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	queued := w.queued
	w.queued = nil
	w.mu.Unlock()
	for _, l := range queued {
		if err := w.Deliver(t.Context(), l, w.Now()); err != nil {
			t.Fatal(err)
		}
	}
}

// token returns the fragment of the link in an e-mail, which must be the same
// in text and HTML.
func (w *world) token(t *testing.T, to, subject string) string {
	t.Helper()
	l := w.mail.Wait(t, to, subject)
	_, rest, ok := strings.Cut(l.Text, "https://lineproof.example/portal/")
	path, rest, ok2 := strings.Cut(rest, "#")
	token, _, _ := strings.Cut(rest, "\n")
	if !ok || !ok2 || strings.Count(l.HTML, "/portal/"+path+"#"+token) != 2 {
		t.Fatalf("no link, or two different ones, in:\n%s\n%s", l.Text, l.HTML)
	}
	w.mail.Forget()
	return token
}

func (w *world) move(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = w.at.Add(d)
}

func (w *world) attempt(email string, word secret.Text) people.Attempt {
	return people.Attempt{Email: email, Password: word, From: home, Agent: "tests"}
}

// in logs a person in and returns the principal.
func (w *world) in(t *testing.T, a people.Attempt) (people.Login, access.Principal) {
	t.Helper()
	l := must(w.LogIn(t.Context(), a, uuid.Nil))(t)
	return l, must(w.Access.Authenticate(t.Context(), l.Text.Reveal(), a.From))(t)
}

func (w *world) stands(t *testing.T, l people.Login) bool {
	t.Helper()
	_, err := w.Access.Authenticate(t.Context(), l.Text.Reveal(), home)
	return err == nil
}

// enrol sets up a second factor and returns its secret and the recovery codes.
func (w *world) enrol(t *testing.T, who access.Principal) (shared secret.Text, codes []secret.Text) {
	t.Helper()
	e := must(w.BeginFactor(t.Context(), who, uuid.Nil))(t)
	codes = must(w.ConfirmFactor(t.Context(), who, w.code(t, e.Secret), uuid.Nil))(t)
	w.move(time.Minute) // the code that confirmed it is used up
	return e.Secret, codes
}

func (w *world) code(t *testing.T, shared secret.Text) string {
	t.Helper()
	return must(totp.GenerateCode(shared.Reveal(), w.Now()))(t)
}

// trail counts entries of the audit trail.
func (w *world) trail(t *testing.T, what audit.Action) int {
	t.Helper()
	var n int
	if err := w.pool.QueryRow(t.Context(), `SELECT count(*) FROM audit WHERE action = $1`, string(what)).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
