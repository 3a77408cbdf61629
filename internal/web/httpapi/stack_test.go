package httpapi_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/idempotency"
	"github.com/lineproof/lineproof/internal/answer/verify"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/sandbox"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/platform/telemetry"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/values/secret"
	"github.com/lineproof/lineproof/internal/web/apidocs"
	"github.com/lineproof/lineproof/internal/web/httpapi"
)

const (
	tokenPath   = "/api/auth/token"
	onboardPath = "/api/regulator/v1/onboard-entity"
	uploadPath  = "/api/regulator/v1/upload-document"
	loginPath   = "/api/regulator/v1/login"
	provePath   = "/api/regulator/v1/session/prove"
	verifyPath  = "/api/v1/phone/api/phone-numbers/verify"

	knownNumber   = "+2348031234567" // NORMAL
	swappedNumber = "+2348031234568"
	flaggedNumber = "+2348031234569" // and barred
	password      = "harmattan-38-dust"
)

// stack is the whole API with its own database: the same packages as in
// production, wired the same way, with a cheap password hash.
type stack struct {
	*httpapi.API

	pool    *pgxpool.Pool
	handler http.Handler
	client  access.NewClient
	key     string
	bank    registry.Entity
	ofMTN   string // a token of MTN, once operator has made it: later it takes two people
	logKey  string // of the public log, once withLog has turned it on
	publish func()
}

// docs creates the pages of the reference once: reading the contract takes
// longer than everything else that a stack needs.
var docs = sync.OnceValue(apidocs.Handler)

func newStack(t testing.TB) *stack {
	t.Helper()
	ctx, pool := t.Context(), pgtest.New(t)
	peppers := must(secret.NewPeppers([]secret.Text{"a pepper for tests, thirty-two bytes long"}))(t)
	region := must(phone.NewRegion("NG"))(t)
	files := must(blob.OpenDir(t.TempDir()))(t)
	passwords := secret.NewPasswords(peppers, secret.Cost{MemoryKiB: 64, Time: 1, Threads: 1}, 2, 2)
	stage := sandbox.NewSimulator("NG")
	s := &stack{pool: pool, API: &httpapi.API{
		Access: &access.Service{
			Pool: pool, Peppers: peppers, TokenLifetime: time.Hour,
			SessionLifetime: 8 * time.Hour, SessionIdle: 30 * time.Minute, Now: time.Now,
		},
		Registry: &registry.Registry{Pool: pool, Region: region, Passwords: passwords, PasswordMin: 8, Now: time.Now},
		Documents: &document.Store{
			Pool: pool, Files: files, MaxBytes: 1 << 20, Required: []string{"CAC_CERTIFICATE", "OPERATING_LICENCE"}, Spool: t.TempDir(), Now: time.Now,
		},
		Verifier: &verify.Verifier{
			Journal: must(journal.Open(ctx, pool, "test", 2))(t), Lines: &linestore.Resolver{}, Simulator: stage, Now: time.Now, MaxBatch: 128, MaxInFlight: 2, MaxQueue: 2048, Timeout: 5 * time.Second,
		},
		Record:  func(ctx context.Context, id uuid.UUID) (record.Entry, error) { return journal.Get(ctx, pool, id) },
		Answers: &idempotency.Store{Pool: pool, Peppers: peppers, Now: time.Now},
		Region:  region, Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewMetrics(), Docs: docs(),
		RegulatorCode: "REGULATOR",
		Timeouts:      httpapi.Timeouts{Upload: 20 * time.Second, Request: time.Minute}, // no test is about it, and the machine may have other work
	}}
	s.withBank(t, region, stage)
	s.withPeople(passwords, peppers)
	s.handler = s.Handler()
	s.supply(t)
	s.client = s.newClient(t, "entity:onboard", "document:upload")
	s.bank = must(s.Registry.CreateRelyingParty(ctx, "Harbour Bank", "RC 7", access.Operator, uuid.Nil))(t)
	s.key = s.newKey(t)
	return s
}

// supply gives the stack a numbering plan and some lines of MTN from a recent
// snapshot, which is not stated to be complete.
func (s *stack) supply(t testing.TB) {
	t.Helper()
	rows, source, _ := numbering.Shipped("NG")
	plan := must((&numbering.Service{Pool: s.pool, Now: time.Now}).Set(t.Context(), rows, source, time.Time{}))(t)
	mtn, _ := plan.Network("MTN")
	now := time.Now()
	days := func(n int) line.Instant { return line.InstantOf(now.AddDate(0, 0, -n)) }
	must(s.pool.Exec(t.Context(), `WITH covered AS (INSERT INTO supply_coverage (network, topic, known_since, supplied_through, updated_at)
			VALUES ($1, 1, $2, $3, $3), ($1, 2, $2, $3, $3) RETURNING *)
		INSERT INTO supply_coverage_history (network, topic, at, known_since, supplied_through, doubtful)
		SELECT network, topic, updated_at, known_since, supplied_through, doubtful FROM covered`,
		mtn, now.AddDate(0, 0, -30), now))(t)
	put := `INSERT INTO line_now (number, version, baseline, network, state, bits, state_since, tenure_start, sim_at, bar_at, bar_reason, flag_high_at)
		VALUES ($1, $2, 1, $3, $4, ` + strconv.Itoa(int(line.OwnSnapshot)) + `, $5, $5, $6, $7, $8, $9)`
	active, old := line.StateActive, line.InstantOf(time.Date(2021, 3, 1, 0, 0, 0, 0, time.UTC))
	must(s.pool.Exec(t.Context(), put, 2348031234567, 1, mtn, active, old, nil, nil, nil, nil))(t)
	must(s.pool.Exec(t.Context(), put, 2348031234568, 2, mtn, active, old, days(3), nil, nil, nil))(t)
	must(s.pool.Exec(t.Context(), put, 2348031234569, 3, mtn, active, old, nil, days(2), line.ReasonFraud, days(1)))(t)
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

func (s *stack) newClient(t testing.TB, scopes ...string) access.NewClient {
	t.Helper()
	return must(s.Access.CreateClient(t.Context(), access.ClientForm{Name: "Harmattan", Scopes: scopes, Network: "MTN"}, access.Operator, uuid.Nil))(t)
}

func (s *stack) newKey(t testing.TB) string {
	t.Helper()
	key := must(s.Access.CreateKey(t.Context(), access.KeyForm{Entity: s.bank.ID, Name: "payments", Mode: "live", Purpose: "fraud"}, access.Operator, uuid.Nil))(t)
	return key.Text.Reveal()
}

func (s *stack) token(t testing.TB, scopes ...string) string {
	t.Helper()
	tok := must(s.Access.IssueToken(t.Context(), s.client.ID.String(), s.client.Secret, scopes))(t)
	return tok.Text.Reveal()
}

// onboarded onboards an entity and returns its id and the admin's e-mail
// address.
func (s *stack) onboarded(t testing.TB, token string) (entity, email string) {
	t.Helper()
	email = "admin-" + uuid.NewString() + "@harmattan.example"
	res := s.do(t, onboardRequest(token, email, randomPhone(), ""))
	if res.Code != http.StatusOK {
		t.Fatalf("onboarding answered %d: %s", res.Code, res.Body)
	}
	return field(t, res.Body.Bytes(), "data", "entityUid"), email
}

func (s *stack) session(t testing.TB, email string) string {
	t.Helper()
	var o access.SessionForm
	var entity uuid.NullUUID
	if err := s.pool.QueryRow(t.Context(), `SELECT id, entity_id FROM account WHERE email = $1`, email).Scan(&o.Account, &entity); err != nil {
		t.Fatal(err)
	}
	o.Entity = entity.UUID
	return s.open(t, o)
}

// open creates a session without a login.
func (s *stack) open(t testing.TB, o access.SessionForm) string {
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

func (s *stack) do(t testing.TB, r *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	rec := httptest.NewRecorder()
	s.handler.ServeHTTP(rec, r)
	return rec
}

// post returns a JSON request.
func post(path, bearer, body string) *http.Request {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	return r
}

func onboardRequest(token, email, number, idempotencyKey string) *http.Request {
	r := post(onboardPath, token, `{"cac":"RC 100200","name":"Harmattan Telecom","isDocumentRequired":true,"adminName":"Ada Obi",`+
		`"adminPhone":"`+number+`","adminEmail":"`+email+`","adminPassword":"`+password+`"}`)
	if idempotencyKey != "" {
		r.Header.Set("Idempotency-Key", idempotencyKey)
	}
	return r
}

// part is one part of a multipart form; a part with a file name is a file.
type part struct{ name, fileName, content string }

const pdf = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n" +
	"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"

func upload(bearer string, parts ...part) *http.Request {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		h := textproto.MIMEHeader{}
		disposition := `form-data; name="` + p.name + `"`
		if p.fileName != "" {
			disposition += `; filename="` + p.fileName + `"`
			h.Set("Content-Type", "application/octet-stream")
		}
		h.Set("Content-Disposition", disposition)
		pw, _ := w.CreatePart(h)
		_, _ = io.WriteString(pw, p.content)
	}
	_ = w.Close()
	r := post(uploadPath, bearer, b.String())
	r.Header.Set("Content-Type", w.FormDataContentType())
	return r
}

func documentParts() []part { return []part{{"type", "", "CAC_CERTIFICATE"}, {"file", "cac.pdf", pdf}} }
