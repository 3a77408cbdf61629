package portal_test

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/access/idempotency"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/answer/filejob"
	"github.com/lineproof/lineproof/internal/answer/verify"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/logreceipt"
	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/evidence/tally"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/sandbox"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/notify/watchlist"
	"github.com/lineproof/lineproof/internal/notify/webhook"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/egress"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/platform/telemetry"
	"github.com/lineproof/lineproof/internal/privacy/whoasked"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/regulator/staffaccess"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/values/secret"
	"github.com/lineproof/lineproof/internal/web/apidocs"
	"github.com/lineproof/lineproof/internal/web/httpapi"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/approvals"
	"github.com/lineproof/lineproof/internal/web/portal/documents"
	"github.com/lineproof/lineproof/internal/web/portal/files"
	"github.com/lineproof/lineproof/internal/web/portal/home"
	"github.com/lineproof/lineproof/internal/web/portal/keys"
	"github.com/lineproof/lineproof/internal/web/portal/numbers"
	"github.com/lineproof/lineproof/internal/web/portal/operators"
	"github.com/lineproof/lineproof/internal/web/portal/organisations"
	"github.com/lineproof/lineproof/internal/web/portal/records"
	"github.com/lineproof/lineproof/internal/web/portal/requests"
	"github.com/lineproof/lineproof/internal/web/portal/rules"
	"github.com/lineproof/lineproof/internal/web/portal/team"
	"github.com/lineproof/lineproof/internal/web/portal/webhooks"
)

const (
	password      = "harmattan-38-dust"
	freshPassword = "monsoon-91-cloud"
	sessionCookie = "__Host-lineproof"
)

// stack is the whole portal over a database of its own: the same packages as in
// production, wired the same way, with a cheap password hash.
type stack struct {
	*portal.Portal

	Documents  *document.Store
	Lines      *supply.Service
	Approvals  *approval.Service
	Tally      *tally.Tally
	Region     *phone.Region
	API        http.Handler
	telcoPages *operators.Pages
	publisher  *publiclog.Publisher
	receipts   *logreceipt.Maker
	webhooks   *webhook.Service
	jobs       *filejob.Service

	pool    *pgxpool.Pool
	handler http.Handler
	bank    registry.Entity // a relying party
	other   registry.Entity // another one
	telco   registry.Entity // one that supplies lines, for MTN
	emails  *sync.Map       // the kind of the last e-mail, by account
}

// docs creates the pages of the API reference once: parsing the contract takes longer
// than everything else that a stack needs.
var docs = sync.OnceValue(apidocs.Handler)

func newStack(t testing.TB) *stack {
	t.Helper()
	ctx, pool := t.Context(), pgtest.New(t)
	peppers := must(secret.NewPeppers([]secret.Text{"a pepper for tests, thirty-two bytes long"}))(t)
	region := must(phone.NewRegion("NG"))(t)
	passwords := secret.NewPasswords(peppers, secret.Cost{MemoryKiB: 64, Time: 1, Threads: 1}, 2, 16)
	accessService := &access.Service{
		Pool: pool, Peppers: peppers, TokenLifetime: time.Hour, SessionLifetime: 8 * time.Hour, SessionIdle: 30 * time.Minute, Now: time.Now,
	}
	reg := &registry.Registry{Pool: pool, Region: region, Passwords: passwords, PasswordMin: 8, Now: time.Now}
	emails := &sync.Map{}
	persons := &people.People{
		Pool: pool, Access: accessService, Registry: reg, Peppers: peppers, Passwords: passwords, StaffFactor: true, EntityFactor: true, Issuer: "Lineproof REGULATOR",
		PublicURL: "https://lineproof.example", Now: time.Now,
		QueueEmail: func(_ context.Context, _ pg.Tx, e people.Email) error {
			emails.Store(e.Account, e.Kind)
			return nil
		},
	}
	accessService.CheckKeyMaker, accessService.MakesKeys, accessService.Notify = persons.CheckKeyMaker, persons.MakesKeys, persons.NotifyOfCredential
	simulator := sandbox.NewSimulator("NG")
	lines := &supply.Service{Pool: pool, Region: region, Lines: &linestore.Resolver{}, Files: must(blob.OpenDir(t.TempDir()))(t), Peppers: peppers, Now: time.Now}
	documents := &document.Store{
		Pool: pool, Files: must(blob.OpenDir(t.TempDir()))(t), MaxBytes: 1 << 20, Required: []string{"CAC_CERTIFICATE", "OPERATING_LICENCE"}, Spool: t.TempDir(), Now: time.Now,
	}
	log, metrics := slog.New(slog.DiscardHandler), telemetry.NewMetrics()
	record := func(ctx context.Context, id uuid.UUID) (record.Entry, error) { return journal.Get(ctx, pool, id) }
	api := &httpapi.API{
		Access: accessService, Registry: reg, People: persons, Documents: documents, Lines: lines, Record: record,
		Verifier: &verify.Verifier{
			Journal: must(journal.Open(ctx, pool, "test", 2))(t), Lines: &linestore.Resolver{}, Simulator: simulator, Now: time.Now, MaxBatch: 128, MaxInFlight: 2, MaxQueue: 2048, Timeout: 5 * time.Second,
		},
		Bank:    &httpapi.Bank{Jobs: &filejob.Service{MaxBytes: 1 << 20}, Sandbox: &sandbox.Service{Pool: pool, Simulator: simulator, Now: time.Now}},
		Answers: &idempotency.Store{Pool: pool, Peppers: peppers, Now: time.Now},
		Region:  region, Log: log, Metrics: metrics, Docs: docs(), RegulatorCode: "REGULATOR",
		Timeouts: httpapi.Timeouts{Upload: 20 * time.Second, Import: 20 * time.Second, Request: 10 * time.Second}, ImportMaxBytes: 1 << 20,
	}
	effects := reg.Effects()
	for _, some := range []map[approval.Kind]approval.Effect{
		(&order.Service{Supply: lines}).Effects(), persons.Effects(), access.Effects(), accessService.EntityLimits().Effects(), guard.Effects(), watchlist.Effects(), filejob.Effects(),
		(&numbering.Service{Pool: pool, Now: time.Now}).Effects(), (&policy.Service{Pool: pool, Now: time.Now}).Effects(), whoasked.Effects(), document.Effects(), staffaccess.Effects(),
	} {
		maps.Copy(effects, some)
	}
	s := &stack{
		pool: pool, emails: emails, Documents: documents, Lines: lines, Approvals: &approval.Service{Pool: pool, CheckStaff: registry.CheckStaff, CheckIndependent: registry.CheckIndependent, Effects: effects, Now: time.Now, NotifyStaff: persons.NotifyOfBreakGlass},
		Tally: &tally.Tally{Pool: pool, Now: time.Now}, Region: region, API: api.Handler(),
		Portal: &portal.Portal{
			Pool: pool, Access: accessService, Registry: reg, People: persons, Log: log, Metrics: metrics,
			RegulatorCode: "REGULATOR", PublicURL: "https://lineproof.example", Now: time.Now,
		},
	}
	s.jobs = &filejob.Service{
		Pool: pool, Files: must(blob.OpenDir(t.TempDir()))(t), Verifier: api.Verifier, Records: &filejob.Records{Node: "jobs", Numbers: must(journal.OpenEpoch(t.Context(), pool, "jobs", 1))(t)}, Region: region, Now: time.Now, MaxRows: 1000, MaxBytes: 1 << 20, MaxWaiting: 1 << 30, Keep: time.Hour,
		Caller: func(ctx context.Context, from pg.DB, key uuid.UUID) (filejob.Caller, error) {
			who, err := accessService.PrincipalOf(ctx, from, key)
			return filejob.Caller{Owner: filejob.Owner{Entity: who.Entity, Mode: who.Mode}, Purpose: who.Purpose}, err
		},
	}
	s.openLog(t)
	s.addPages(record, simulator)
	s.handler = s.Handler()
	rows, source, _ := numbering.Shipped("NG")
	must((&numbering.Service{Pool: pool, Now: time.Now}).Set(ctx, rows, source, time.Time{}))(t)
	s.bank = must(reg.CreateRelyingParty(ctx, "Harbour Bank", "RC 7", access.Operator, uuid.Nil))(t)
	s.other = must(reg.CreateRelyingParty(ctx, "Lagoon Bank", "RC 8", access.Operator, uuid.Nil))(t)
	s.telco = s.onboard(t, "MTN", registry.ApplicationForm{
		Name: "Harmattan Telecom", CAC: "RC 9", AdminName: "Ada Obi", AdminEmail: "ada@telco.example", AdminPhone: "+2348031112222", AdminPassword: password,
	})
	return s
}

// addPages adds the pages of every kind of visitor to the portal.
func (s *stack) addPages(record func(context.Context, uuid.UUID) (record.Entry, error), simulator *sandbox.Simulator) {
	s.webhooks = &webhook.Service{
		Pool: s.pool, Feed: &feed.Service{Pool: s.pool, Now: time.Now}, Egress: egress.New(egress.Options{}), Peppers: s.People.Peppers, Loopback: true, Now: time.Now,
		Notify: func(context.Context, pg.Tx, uuid.UUID, webhook.Notice) error { return nil }, CheckPerson: s.People.CheckLive,
	}
	lines := operators.Supply{Portal: s.Portal, Lines: s.Lines}
	s.telcoPages = &operators.Pages{Supply: lines, ImportMaxBytes: 1 << 20, Receipts: s.receipts}
	all := &organisations.Pages{Portal: s.Portal, Documents: s.Documents, Approvals: s.Approvals, Tally: s.Tally}
	staff := &home.Pages{
		Supply: lines, Documents: s.Documents, Approvals: s.Approvals, Tally: s.Tally,
		Checkpoint: func(ctx context.Context) (time.Time, error) { return publiclog.PublishedAt(ctx, s.pool) },
	}
	s.Banner, s.Waiting = all.Banner, staff.WaitingFor
	s.Pages = slices.Concat(
		all.Routes(),
		(&records.Pages{Portal: s.Portal, Tally: s.Tally, Record: record, Region: s.Region, Simulator: simulator, Receipts: s.receipts, LogPolicy: s.publisher.Key.Verifier()}).Routes(),
		(&team.Pages{Portal: s.Portal, Approvals: s.Approvals}).Routes(),
		(&approvals.Pages{Portal: s.Portal, Lines: s.Lines, Approvals: s.Approvals}).Routes(),
		(&rules.Pages{Portal: s.Portal, Approvals: s.Approvals}).Routes(),
		(&keys.Pages{Portal: s.Portal, Region: s.Region, API: s.API, Simulator: simulator}).Routes(),
		(&documents.Pages{Portal: s.Portal, Documents: s.Documents, Approvals: s.Approvals}).Routes(),
		(&webhooks.Pages{Portal: s.Portal, Webhooks: s.webhooks}).Routes(),
		(&requests.Pages{Supply: lines, Peppers: s.People.Peppers, Region: s.Region, Documents: s.Documents, Tally: s.Tally, Webhooks: s.webhooks}).Routes(),
		(&files.Pages{Portal: s.Portal, Jobs: s.jobs}).Routes(),
		s.telcoPages.Routes(),
		(&operators.StaffPages{Supply: lines}).Routes(),
		staff.Routes(),
		(&numbers.Pages{Supply: lines, Approvals: s.Approvals, WhoAsked: &whoasked.Service{Pool: s.pool, Files: s.Lines.Files, Registry: s.Registry, Now: time.Now}, Region: s.Region}).Routes(),
	)
}

// onboard adds a telco through a client that supplies for a network.
func (s *stack) onboard(t testing.TB, network string, f registry.ApplicationForm) (e registry.Entity) {
	t.Helper()
	ctx := t.Context()
	client := must(s.Access.CreateClient(ctx, access.ClientForm{Name: network, Scopes: []string{"entity:onboard", "line:supply"}, Network: network, Sole: true}, access.Operator, uuid.Nil))(t)
	token := must(s.Access.IssueToken(ctx, client.ID.String(), client.Secret, nil))(t)
	who := must(s.Access.Authenticate(ctx, token.Text.Reveal(), addr))(t)
	form := must(s.Registry.Prepare(ctx, f))(t)
	err := pg.InTx(ctx, s.pool, func(tx pg.Tx) (err error) {
		e, _, err = s.Registry.Onboard(ctx, tx, form, registry.Onboarder{Client: client.ID, Token: who.ID, Sole: who.Sole})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// visitor is an account with a session.
type visitor struct {
	id             uuid.UUID
	email, session string
}

// joined creates an account through an invitation, and opens a session for it.
func (s *stack) joined(t testing.TB, g people.InviteForm) visitor {
	t.Helper()
	if g.Email == "" {
		g.Email = string(g.Kind) + "-" + uuid.NewString() + "@people.example"
	}
	i := must(s.People.CreateInvited(t.Context(), g, access.Operator, uuid.Nil))(t)
	s.confirmInvited(t, i, g.Role)
	must(s.People.Accept(t.Context(), s.link(t, people.Invitation, i.ID), "Zainab Sule", password, access.Operator, uuid.Nil))(t)
	return visitor{i.ID, g.Email, s.open(t, access.SessionForm{Account: i.ID, Entity: g.Entity})}
}

// confirmInvited makes an account what it was invited as, as if somebody else had confirmed it.
func (s *stack) confirmInvited(t testing.TB, i people.Invited, role string) {
	t.Helper()
	if i.Pending != uuid.Nil {
		must(s.pool.Exec(t.Context(), `WITH a AS (UPDATE approval SET state = 'lapsed' WHERE id = $2) UPDATE account SET disabled_at = NULL, role = nullif($3, '') WHERE id = $1`, i.ID, i.Pending, role))(t)
	}
}

// independent makes everybody independent of who created them.
func (s *stack) independent(t testing.TB) {
	t.Helper()
	owner := pgtest.Open(t, s.pool.Config().ConnString(), "")
	defer owner.Close()
	must(owner.Exec(t.Context(), `DELETE FROM access_given`))(t)
}

// as returns a new visitor with one of the roles admin, member (of the bank), stranger
// (admin of another organisation), telco, administrator, reviewer, auditor, limited
// (staff without a second factor), nobody. All but members and limited have a second factor.
func (s *stack) as(t testing.TB, role string) visitor {
	t.Helper()
	p := s.newcomer(t, role)
	if role != "member" && role != "limited" && role != "nobody" {
		s.enrolled(t, p)
	}
	return p
}

// newcomer is as, without a second factor.
func (s *stack) newcomer(t testing.TB, role string) visitor {
	t.Helper()
	switch role {
	case "admin":
		return s.joined(t, people.InviteForm{Kind: registry.AdminAccount, Entity: s.bank.ID})
	case "member":
		return s.joined(t, people.InviteForm{Kind: registry.MemberAccount, Entity: s.bank.ID})
	case "stranger":
		return s.joined(t, people.InviteForm{Kind: registry.AdminAccount, Entity: s.other.ID})
	case "telco":
		return s.joined(t, people.InviteForm{Kind: registry.AdminAccount, Entity: s.telco.ID})
	case "administrator", "reviewer", "auditor":
		return s.joined(t, people.InviteForm{Kind: registry.StaffAccount, Role: role})
	case "limited":
		p := s.joined(t, people.InviteForm{Kind: registry.StaffAccount, Role: "auditor"})
		p.session = s.open(t, access.SessionForm{Account: p.id, Limited: true})
		return p
	case "nobody":
		return visitor{}
	}
	t.Fatalf("there is no role %s", role)
	return visitor{}
}

// everybody lists the roles of as.
var everybody = []string{"nobody", "limited", "admin", "member", "telco", "administrator", "reviewer", "auditor"}

// invitedAs returns the newest account that an invitation of an address has made, which
// only claims the address.
func (s *stack) invitedAs(t testing.TB, email string) registry.Account {
	t.Helper()
	var id uuid.UUID
	if err := s.pool.QueryRow(t.Context(), `SELECT id FROM account WHERE email = $1 AND password_hash IS NULL ORDER BY created_at DESC, id DESC LIMIT 1`, email).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return must(s.Registry.Account(t.Context(), s.pool, id))(t)
}

// open opens a session of the portal without a sign-in.
func (s *stack) open(t testing.TB, o access.SessionForm) string {
	t.Helper()
	o.Portal = true
	return s.openAs(t, o)
}

// openAs opens a session of the portal or of the API.
func (s *stack) openAs(t testing.TB, o access.SessionForm) string {
	t.Helper()
	var opened access.NewSession
	err := pg.InTx(t.Context(), s.pool, func(tx pg.Tx) (err error) {
		opened, err = s.Access.OpenSession(t.Context(), tx, o)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return opened.Text.Reveal()
}

// link returns the token of an e-mail's link.
func (s *stack) link(t testing.TB, kind people.EmailKind, account uuid.UUID) string {
	t.Helper()
	link, _, err := s.People.Link(t.Context(), kind, account)
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(link.Reveal(), "#")
	return token
}

// get requests a page as a browser does; the session may be "".
func (s *stack) get(t testing.TB, path, session string) *httptest.ResponseRecorder {
	t.Helper()
	return s.do(t, newRequest(http.MethodGet, path, session, nil))
}

// post sends a form as a browser does from a page of the portal.
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

// wantPage fails unless the response is a page with that status that contains all the
// texts, as HTML.
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

// wantGo fails unless the response redirects to a path.
func wantGo(t testing.TB, res *httptest.ResponseRecorder, to string) {
	t.Helper()
	if res.Code != http.StatusSeeOther || res.Header().Get("Location") != to {
		t.Fatalf("answered %d to %q, want 303 to %q: %s", res.Code, res.Header().Get("Location"), to, res.Body)
	}
}

// cookie returns a cookie that the response sets, or fails.
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

// must returns the value, or fails the test with the error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// openFor opens another session of an account.
func (s *stack) openFor(t testing.TB, p visitor) string {
	t.Helper()
	a := must(s.Registry.Account(t.Context(), s.pool, p.id))(t)
	return s.open(t, access.SessionForm{Account: p.id, Entity: a.Entity})
}
