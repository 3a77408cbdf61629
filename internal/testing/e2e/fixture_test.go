package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/values/secret"
)

const (
	tokenPath   = "/api/auth/token"
	onboardPath = "/api/regulator/v1/onboard-entity"
	uploadPath  = "/api/regulator/v1/upload-document"
	loginPath   = "/api/regulator/v1/login"
	verifyPath  = "/api/v1/phone/api/phone-numbers/verify"

	pepper        = pgtest.Pepper
	adminEmail    = "first-admin@telco.example"
	adminPassword = "harmattan-38-dust"
	nodeName      = "e2e"
)

// fixture is a database with everything that a caller needs, and the credentials
// and data that the tests use.
type fixture struct {
	url      string
	pool     *pgxpool.Pool // as superuser
	data     string        // the server's data directory
	region   *phone.Region
	keeper   *access.Service
	registry *registry.Registry

	client  access.NewClient
	limited access.NewClient // may supply lines and nothing else
	token   string
	weak    string // a token without the scopes of the operations
	session string
	bank    registry.Entity
	key     access.NewKey
	testKey string          // well-formed, but unknown
	telco   registry.Entity // onboarded before the tests start

	lines map[int64]planted
}

// newFixture fills the migrated database at url.
func newFixture(t *testing.T, url string) *fixture {
	t.Helper()
	ctx := t.Context()
	w := &fixture{url: url, pool: pgtest.Open(t, url, ""), data: t.TempDir(), lines: make(map[int64]planted)}
	peppers := must(secret.NewPeppers([]secret.Text{pepper}))(t)
	passwords := secret.NewPasswords(peppers, secret.Cost{MemoryKiB: 64, Time: 1, Threads: 1}, 2, 100)
	w.region = must(phone.NewRegion("NG"))(t)
	w.keeper = &access.Service{
		Pool: w.pool, Peppers: peppers, TokenLifetime: 12 * time.Hour,
		SessionLifetime: 12 * time.Hour, SessionIdle: 12 * time.Hour, Now: time.Now,
	}
	w.registry = &registry.Registry{Pool: w.pool, Region: w.region, Passwords: passwords, PasswordMin: 8, Now: time.Now}
	w.client = must(w.keeper.CreateClient(ctx, access.ClientForm{Name: "Telco", Scopes: []string{"entity:onboard", "document:upload"}}, access.Operator, uuid.Nil))(t)
	w.limited = must(w.keeper.CreateClient(ctx, access.ClientForm{Name: "Supplier", Scopes: []string{"line:supply"}, Network: "COBALT"}, access.Operator, uuid.Nil))(t)
	w.token = w.newToken(t, w.client)
	w.weak = w.newToken(t, w.limited)
	w.bank = must(w.registry.CreateRelyingParty(ctx, "First Bank", "RC 1", access.Operator, uuid.Nil))(t)
	w.key = must(w.keeper.CreateKey(ctx, access.KeyForm{Entity: w.bank.ID, Name: "app", Mode: "live", Purpose: "kyc"}, access.Operator, uuid.Nil))(t)
	w.testKey = secret.New(secret.TestKey).Reveal()
	w.telco = w.onboard(t)
	w.session = w.openSession(t, adminEmail)
	w.supply(t)
	return w
}

// openSession opens a session of an account without its password.
func (w *fixture) openSession(t *testing.T, email string) string {
	t.Helper()
	ctx := t.Context()
	var s access.NewSession
	err := pg.InTx(ctx, w.pool, func(tx pg.Tx) error {
		var account uuid.UUID
		err := tx.QueryRow(ctx, `SELECT id FROM account WHERE email = $1`, email).Scan(&account)
		if err != nil {
			return err
		}
		s, err = w.keeper.OpenSession(ctx, tx, access.SessionForm{Account: account})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.Text.Reveal()
}

func (w *fixture) newToken(t *testing.T, c access.NewClient) string {
	t.Helper()
	return must(w.keeper.IssueToken(t.Context(), c.ID.String(), c.Secret, nil))(t).Text.Reveal()
}

// onboard onboards the first telco, so that there is an admin who can log in.
func (w *fixture) onboard(t *testing.T) registry.Entity {
	t.Helper()
	ctx := t.Context()
	app := must(w.registry.Prepare(ctx, registry.ApplicationForm{
		Name: "First Telco", CAC: "RC 2", AdminName: "Ada", AdminEmail: adminEmail, AdminPhone: "+2349011111111", AdminPassword: adminPassword,
	}))(t)
	var e registry.Entity
	err := pg.InTx(ctx, w.pool, func(tx pg.Tx) (err error) {
		e, _, err = w.registry.Onboard(ctx, tx, app, registry.Onboarder{Client: w.client.ID})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// firstLine and knownLines are the range of numbers with a line; nothing was
// reported about the numbers above it.
const (
	firstLine  = 234_803_100_0000
	knownLines = 500
)

// planted is a line that the tests insert: with every network, in some of the
// statuses.
type planted struct {
	status  line.Status
	network string
}

// supply creates a numbering plan and inserts lines directly, not by events: the
// tests are about the answers to callers.
func (w *fixture) supply(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	rows := must(numbering.ReadCSV(strings.NewReader(`prefix,network,name,allocated,withdrawn
234803,COBALT,Cobalt,2001-01-01,
234802,AMBER,Amber,2001-01-01,
234805,INDIGO,Indigo,2001-01-01,
`)))(t)
	plan := must((&numbering.Service{Pool: w.pool, Now: time.Now}).Set(ctx, rows, "the tests", time.Time{}))(t)
	words := []line.Status{line.Normal, line.Swapped, line.Recycled, line.Barred, line.Quarantined, line.Ported}
	networks := []string{"Cobalt", "Amber", "Indigo"}
	old, now := line.InstantOf(time.Now().AddDate(-3, 0, 0)), line.InstantOf(time.Now().Add(-time.Hour))
	for i := range int64(knownLines) {
		status, name := words[int(i)%len(words)], networks[int(i)%len(networks)]
		network, _ := plan.Network(strings.ToUpper(name))
		state, tenure, column := line.StateActive, old, "newest"
		if status == line.Quarantined {
			state, name = line.StateEnded, "Cobalt" // returned to the holder of the range
		}
		if status == line.Recycled {
			tenure = now
		}
		if c := map[string]string{"SWAPPED": "sim_at", "BARRED": "bar_at", "PORTED": "port_at"}[string(status)]; c != "" {
			column = c
		}
		_, err := w.pool.Exec(ctx, `INSERT INTO line_now (number, version, baseline, network, state, bits, state_since, tenure_start, `+column+`)
			VALUES ($1, 1, 1, $2, $3, 0, $4, $4, $5)`, firstLine+i, network, state, tenure, now)
		if err != nil {
			t.Fatal(err)
		}
		w.lines[firstLine+i] = planted{status, name}
	}
	_, err := w.pool.Exec(ctx, `INSERT INTO supply_coverage (network, topic, known_since, supplied_through, updated_at)
		SELECT id, topic, now() - interval '1 year', now(), now() FROM network, generate_series(1, 2) AS topic`)
	if err != nil {
		t.Fatal(err)
	}
}

// expected returns the correct answer for a number.
func (w *fixture) expected(number int64) (status, network string, version int64) {
	r, known := w.lines[number]
	switch {
	case known:
	case number/10_000_000 == int64(firstLine)/10_000_000:
		return string(line.Unknown), "Cobalt", 0 // the range is allocated, and no supply is complete
	default:
		return string(line.Unallocated), line.UnknownNetwork, 0
	}
	return string(r.status), r.network, 1
}

// settings returns the environment of a server on this database, with cheap
// password hashes and high rate limits, which these tests are not about.
func (w *fixture) settings() []string {
	return []string{
		"LINEPROOF_LISTEN=127.0.0.1:0", "LINEPROOF_PRIVATE_LISTEN=127.0.0.1:0", "LINEPROOF_DATABASE_URL=" + w.url,
		"LINEPROOF_PEPPERS=" + pepper, "LINEPROOF_DATA=" + w.data, "LINEPROOF_NODE=" + nodeName,
		"LINEPROOF_ARGON2_MEMORY_KIB=64", "LINEPROOF_ARGON2_TIME=1", "LINEPROOF_ARGON2_QUEUE=1000",
		"LINEPROOF_VERIFY_TIMEOUT=10s", "LINEPROOF_REQUEST_TIMEOUT=20s", "LINEPROOF_DRAIN_TIMEOUT=20s",
		"LINEPROOF_DAY_NUMBERS=0", "LINEPROOF_SPONSOR_DAY_NUMBERS=0", "LINEPROOF_YEAR_NUMBERS=0", "LINEPROOF_SPONSOR_YEAR_NUMBERS=0", "LINEPROOF_SCAN_GUARD=watch", // the load of tests looks like number scanning
		"LINEPROOF_KEY_RATE=1000000", "LINEPROOF_KEY_BURST=1000000", "LINEPROOF_ENTITY_RATE=1000000", "LINEPROOF_ENTITY_BURST=1000000",
		"LINEPROOF_ADDRESS_RATE=1000000", "LINEPROOF_ADDRESS_BURST=1000000", "LINEPROOF_CLIENT_RATE=1000000", "LINEPROOF_CLIENT_BURST=1000000",
		"LINEPROOF_CLIENT_ONBOARDINGS=0", "LINEPROOF_CLIENT_CLASHES=0", "LINEPROOF_FILE_RATE=1000000", "LINEPROOF_FILE_BURST=1000000", "LINEPROOF_SESSION_RATE=1000000", "LINEPROOF_SESSION_BURST=1000000",
		"LINEPROOF_KEY_CONCURRENT=100000", "LINEPROOF_CLIENT_CONCURRENT=100000", "LINEPROOF_SESSION_CONCURRENT=100000",
	}
}

// spell writes a Nigerian number in one of the usual notations.
func spell(rng *rand.Rand, number int64) string {
	digits := strconv.FormatInt(number, 10)
	national := digits[3:]
	switch rng.IntN(6) {
	case 0:
		return "+" + digits
	case 1:
		return digits
	case 2:
		return "0" + national
	case 3:
		return "00" + digits
	case 4:
		return fmt.Sprintf("+234 %s %s %s", national[:3], national[3:6], national[6:])
	default:
		return fmt.Sprintf("(0%s) %s-%s", national[:3], national[3:6], national[6:])
	}
}

// durable returns the address of a database on a cluster of its own that survives
// crashes.
func durable(t *testing.T) (string, *pgtest.Cluster) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs PostgreSQL; not run with -short")
	}
	ctx := context.Background()
	c := must(pgtest.Start(ctx, pgtest.Durable))(t)
	t.Cleanup(c.Stop)
	if err := c.MakeTemplate(ctx); err != nil {
		t.Fatal(err)
	}
	return c.URL(must(c.Clone(ctx))(t)), c
}

// must returns the value of a call that may not fail, given the test.
func must[T any](v T, err error) func(testing.TB) T {
	return func(tb testing.TB) T {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return v
	}
}
