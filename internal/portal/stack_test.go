package portal_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/apidocs"
	"github.com/lineproof/lineproof/internal/approval"
	"github.com/lineproof/lineproof/internal/blob"
	"github.com/lineproof/lineproof/internal/document"
	"github.com/lineproof/lineproof/internal/guard"
	"github.com/lineproof/lineproof/internal/httpapi"
	"github.com/lineproof/lineproof/internal/idempotency"
	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/people"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/pgtest"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/rehearsal"
	"github.com/lineproof/lineproof/internal/secret"
	"github.com/lineproof/lineproof/internal/supply"
	"github.com/lineproof/lineproof/internal/tally"
	"github.com/lineproof/lineproof/internal/telemetry"
	"github.com/lineproof/lineproof/internal/verify"
)

const (
	password      = "harmattan-38-dust"
	freshPassword = "monsoon-91-cloud"
	sessionCookie = "__Host-lineproof"
)

// stack is the whole portal over a database of its own: the same packages that
// run in production, wired the same way, with a cheap password hash.
type stack struct {
	*portal.Portal

	pool    *pgxpool.Pool
	handler http.Handler
	bank    registry.Entity // an organisation that asks
	other   registry.Entity // another
	telco   registry.Entity // one that supplies lines, for MTN
	letters *sync.Map       // what was posted, by account
}

// docs makes the pages of the reference once: reading the contract takes longer
// than all else that a stack needs.
var docs = sync.OnceValue(apidocs.Handler)

func newStack(t testing.TB) *stack {
	t.Helper()
	ctx, pool := t.Context(), pgtest.New(t)
	peppers := must(secret.NewPeppers([]secret.Text{"a pepper for tests, thirty-two bytes long"}))(t)
	region := must(phone.NewRegion("NG"))(t)
	passwords := secret.NewPasswords(secret.Cost{MemoryKiB: 64, Time: 1, Threads: 1}, 2, 16)
	keeper := &access.Keeper{
		Pool: pool, Peppers: peppers, TokenLifetime: time.Hour, SessionLifetime: 8 * time.Hour, SessionIdle: 30 * time.Minute, Now: time.Now,
	}
	reg := &registry.Registry{Pool: pool, Region: region, Passwords: passwords, PasswordMin: 8, Now: time.Now}
	letters := &sync.Map{}
	persons := &people.People{
		Pool: pool, Keeper: keeper, Registry: reg, Peppers: peppers, Passwords: passwords, StaffFactor: true, Issuer: "Lineproof REGULATOR",
		PublicURL: "https://lineproof.example", Now: time.Now,
		Post: func(_ context.Context, _ pg.Tx, l people.Letter) error {
			letters.Store(l.Account, l.Kind)
			return nil
		},
	}
	stage := rehearsal.NewStage("NG")
	desk := &supply.Desk{Pool: pool, Region: region, Lines: &line.Almanac{}, Files: must(blob.OpenDir(t.TempDir()))(t), Peppers: peppers, Now: time.Now}
	papers := &document.Store{
		Pool: pool, Files: must(blob.OpenDir(t.TempDir()))(t), MaxBytes: 1 << 20, Required: []string{"CAC_CERTIFICATE", "OPERATING_LICENCE"}, Spool: t.TempDir(), Now: time.Now,
	}
	log, metrics := slog.New(slog.DiscardHandler), telemetry.NewMetrics()
	record := func(ctx context.Context, id uuid.UUID) (journal.Entry, error) { return journal.Get(ctx, pool, id) }
	api := &httpapi.API{
		Keeper: keeper, Registry: reg, People: persons, Documents: papers, Lines: desk, Record: record,
		Verifier: &verify.Verifier{
			Journal: must(journal.Open(ctx, pool, "test"))(t), Lines: &line.Almanac{}, Stage: stage, Now: time.Now, Batch: 128, Flushes: 2, Queue: 2048, Patience: 5 * time.Second,
		},
		Rehearsal: &rehearsal.Desk{Pool: pool, Stage: stage, Now: time.Now}, Answers: &idempotency.Store{Pool: pool, Peppers: peppers, Now: time.Now},
		Region: region, Log: log, Metrics: metrics, Docs: docs(), RegulatorCode: "REGULATOR",
		Timeouts: httpapi.Timeouts{Upload: 20 * time.Second, Import: 20 * time.Second, Request: 10 * time.Second}, ImportMaxBytes: 1 << 20,
	}
	s := &stack{pool: pool, letters: letters, Portal: &portal.Portal{
		Pool: pool, Keeper: keeper, Registry: reg, People: persons, Documents: papers, Lines: desk, Stage: stage,
		Approvals: &approval.Desk{Pool: pool, Effects: reg.Effects(), Now: time.Now},
		Guard:     guard.New(&guard.Guard{Pool: pool, Node: "test", Now: time.Now, Log: log}),
		Tally:     &tally.Tally{Pool: pool, Now: time.Now}, Record: record, Region: region, Log: log, Metrics: metrics, API: api.Handler(),
		RegulatorCode: "REGULATOR", PublicURL: "https://lineproof.example", ImportMaxBytes: 1 << 20, Now: time.Now,
	}}
	s.handler = s.Handler()
	rows, source, _ := numbering.Shipped("NG")
	must((&numbering.Book{Pool: pool, Now: time.Now}).Set(ctx, rows, source, time.Time{}))(t)
	s.bank = must(reg.CreateAsker(ctx, "Harbour Bank", "RC 7", access.Operator, uuid.Nil))(t)
	s.other = must(reg.CreateAsker(ctx, "Lagoon Bank", "RC 8", access.Operator, uuid.Nil))(t)
	s.telco = s.onboard(t, "MTN", registry.ApplicationForm{
		Name: "Harmattan Telecom", CAC: "RC 9", AdminName: "Ada Obi", AdminEmail: "ada@telco.example", AdminPhone: "+2348031112222", AdminPassword: password,
	})
	return s
}

// onboard lets a telco in by a client that supplies for a network.
func (s *stack) onboard(t testing.TB, network string, f registry.ApplicationForm) (e registry.Entity) {
	t.Helper()
	ctx := t.Context()
	client := must(s.Keeper.CreateClient(ctx, access.ClientForm{Name: network, Scopes: []string{"entity:onboard", "line:supply"}, Network: network}, access.Operator, uuid.Nil))(t)
	token := must(s.Keeper.IssueToken(ctx, client.ID.String(), client.Secret, nil))(t)
	who := must(s.Keeper.Admit(ctx, token.Text.Reveal(), addr))(t)
	form := must(s.Registry.Prepare(ctx, f))(t)
	err := pg.InTx(ctx, s.pool, func(tx pg.Tx) (err error) {
		e, _, err = s.Registry.Onboard(ctx, tx, form, registry.Sponsor{Client: client.ID, Token: who.ID})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// person is somebody with a session.
type person struct {
	id             uuid.UUID
	email, session string
}

// joined lets somebody in by an invitation, and opens a session for them.
func (s *stack) joined(t testing.TB, g people.Guest) person {
	t.Helper()
	if g.Email == "" {
		g.Email = string(g.Kind) + "-" + uuid.NewString() + "@people.example"
	}
	i := must(s.People.Welcome(t.Context(), g, access.Operator, uuid.Nil))(t)
	must(s.People.Accept(t.Context(), s.link(t, people.Invitation, i.ID), "Zainab Sule", password, access.Operator, uuid.Nil))(t)
	return person{i.ID, g.Email, s.open(t, access.Opening{Account: i.ID, Entity: g.Entity})}
}

// as returns somebody new who is one of: admin, member (of the bank), stranger
// (admin of another organisation), telco, administrator, reviewer, auditor,
// limited (staff without a second factor), nobody.
func (s *stack) as(t testing.TB, role string) person {
	t.Helper()
	switch role {
	case "admin":
		return s.joined(t, people.Guest{Kind: registry.AdminAccount, Entity: s.bank.ID})
	case "member":
		return s.joined(t, people.Guest{Kind: registry.MemberAccount, Entity: s.bank.ID})
	case "stranger":
		return s.joined(t, people.Guest{Kind: registry.AdminAccount, Entity: s.other.ID})
	case "telco":
		return s.joined(t, people.Guest{Kind: registry.AdminAccount, Entity: s.telco.ID})
	case "administrator", "reviewer", "auditor":
		return s.joined(t, people.Guest{Kind: registry.StaffAccount, Role: role})
	case "limited":
		p := s.joined(t, people.Guest{Kind: registry.StaffAccount, Role: "auditor"})
		p.session = s.open(t, access.Opening{Account: p.id, Limited: true})
		return p
	case "nobody":
		return person{}
	}
	t.Fatalf("there is no role %s", role)
	return person{}
}

// everybody lists the roles that as knows.
var everybody = []string{"nobody", "limited", "admin", "member", "telco", "administrator", "reviewer", "auditor"}

// open opens a session for somebody whom the test vouches for.
func (s *stack) open(t testing.TB, o access.Opening) string {
	t.Helper()
	var opened access.Opened
	err := pg.InTx(t.Context(), s.pool, func(tx pg.Tx) (err error) {
		opened, err = s.Keeper.OpenSession(t.Context(), tx, o)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return opened.Text.Reveal()
}

// link returns the token of a letter's link.
func (s *stack) link(t testing.TB, kind people.LetterKind, account uuid.UUID) string {
	t.Helper()
	link, _, err := s.People.Link(t.Context(), kind, account)
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(link.Reveal(), "#")
	return token
}

// get asks for a page as a browser does; the session may be "".
func (s *stack) get(t testing.TB, path, session string) *httptest.ResponseRecorder {
	t.Helper()
	return s.do(t, newRequest(http.MethodGet, path, session, nil))
}

// post sends a form as a browser does from one of our own pages.
func (s *stack) post(t testing.TB, path, session string, form url.Values) *httptest.ResponseRecorder {
	t.Helper()
	return s.do(t, newRequest(http.MethodPost, path, session, form))
}

func (s *stack) do(t testing.TB, r *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	rec := httptest.NewRecorder()
	s.handler.ServeHTTP(rec, r)
	return rec
}

func newRequest(method, path, session string, form url.Values) *http.Request {
	r := httptest.NewRequestWithContext(context.Background(), method, path, strings.NewReader(form.Encode()))
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("User-Agent", "tests")
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if session != "" {
		r.AddCookie(&http.Cookie{Name: sessionCookie, Value: session})
	}
	return r
}

// wantPage fails unless the answer is a page with that status that holds every
// one of the texts, as HTML has them.
func wantPage(t testing.TB, res *httptest.ResponseRecorder, status int, texts ...string) {
	t.Helper()
	if res.Code != status {
		t.Fatalf("answered %d, want %d: %s", res.Code, status, res.Body)
	}
	for _, text := range texts {
		if !strings.Contains(res.Body.String(), text) {
			t.Fatalf("the page does not hold %q:\n%s", text, res.Body)
		}
	}
}

// wantGo fails unless the answer leads to a path.
func wantGo(t testing.TB, res *httptest.ResponseRecorder, to string) {
	t.Helper()
	if res.Code != http.StatusSeeOther || res.Header().Get("Location") != to {
		t.Fatalf("answered %d to %q, want 303 to %q: %s", res.Code, res.Header().Get("Location"), to, res.Body)
	}
}

// cookie returns a cookie that the answer sets, or fails.
func cookie(t testing.TB, res *httptest.ResponseRecorder, name string) *http.Cookie {
	t.Helper()
	for _, c := range res.Result().Cookies() {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("the answer sets no cookie %s: %v", name, res.Header())
	return nil
}

// must unwraps a value that a test cannot do without.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// openFor opens another session of somebody.
func (s *stack) openFor(t testing.TB, p person) string {
	t.Helper()
	a := must(s.Registry.Account(t.Context(), s.pool, p.id))(t)
	return s.open(t, access.Opening{Account: p.id, Entity: a.Entity})
}
