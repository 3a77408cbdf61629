package server_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/server"
	"github.com/lineproof/lineproof/internal/server/config"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/values/secret"
)

const (
	thiefPassword = "quiet-river-9"
	// Everything of the bank that is robbed has this word in its names.
	thiefCanary = "delta"
)

// thiefWorld is a running service, and somebody who has its database login and some
// credentials of an ordinary organisation.
type thiefWorld struct {
	*testing.T

	owner   *pgxpool.Pool // signs what it plants
	login   *pgxpool.Pool // the stolen login
	server  running
	address string // of the database, for the login
	role    string // the name of the login
	access  *access.Service
	people  *people.People
	reg     *registry.Registry
	peppers *secret.Peppers

	ids   map[string]uuid.UUID
	texts map[string]string // of credentials

	probes   []thiefProbe
	baseline []thiefReply
	kept     []string // the tables that are restored after each attempt
	noise    []string // what the checks find without an attempt
	fields   []thiefColumn
	beacons  []*thiefBeacon
	revived  int // how often the node had to be started again
}

func newThiefWorld(t *testing.T) *thiefWorld {
	t.Helper()
	cluster := pgtest.Server(t)
	w := &thiefWorld{T: t, role: "thief_" + strings.ReplaceAll(uuid.NewString(), "-", ""), ids: map[string]uuid.UUID{}, texts: map[string]string{}}
	t.Cleanup(func() {
		if err := cluster.Admin(t.Context(), "DROP ROLE IF EXISTS "+w.role); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	address := pgtest.URL(t)
	w.owner = pgtest.Open(t, address, "")
	w.must(cluster.Admin(t.Context(), "CREATE ROLE "+w.role+" LOGIN IN ROLE "+pg.Serve))
	u := value(url.Parse(address))(t)
	u.User = url.User(w.role)
	w.login = value(pg.Open(t.Context(), u.String(), pg.Options{Role: pg.Serve, Name: "thief", Conns: 4}))(t)
	t.Cleanup(w.login.Close)
	w.services()
	w.address = u.String()
	w.server = w.start()
	w.lines()
	w.organisations()
	w.persons()
	w.credentials()
	w.records()
	w.prepareBeacons()
	w.fields = w.written()
	w.fillTables()
	return w
}

// start starts the node, with limits that do not disturb the attempts.
func (w *thiefWorld) start() running {
	w.Helper()
	settings := []string{"LINEPROOF_PEPPERS=" + pgtest.Pepper, "LINEPROOF_ARGON2_MEMORY_KIB=64", "LINEPROOF_ARGON2_TIME=1", "LINEPROOF_ARGON2_QUEUE=1000", "LINEPROOF_SCAN_GUARD=watch"}
	for _, rate := range []string{"KEY", "ENTITY", "ADDRESS", "CLIENT", "SESSION"} {
		settings = append(settings, "LINEPROOF_"+rate+"_RATE=100000", "LINEPROOF_"+rate+"_BURST=100000")
	}
	for _, budget := range []string{"DAY_NUMBERS", "YEAR_NUMBERS", "SPONSOR_DAY_NUMBERS", "SPONSOR_YEAR_NUMBERS", "CLIENT_ONBOARDINGS"} {
		settings = append(settings, "LINEPROOF_"+budget+"=0")
	}
	return start(w.T, w.address, settings...)
}

func (w *thiefWorld) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// sql runs a statement of the preparation, as the service would.
func (w *thiefWorld) sql(statement string, args ...any) {
	w.Helper()
	if _, err := w.owner.Exec(w.Context(), statement, args...); err != nil {
		w.Fatalf("%s: %v", statement, err)
	}
}

// tx runs a function of the service in a transaction of the preparation.
func (w *thiefWorld) tx(fn func(pg.Tx) error) {
	w.Helper()
	w.must(pg.InTx(w.Context(), w.owner, fn))
}

func (w *thiefWorld) services() {
	w.Helper()
	w.peppers = value(secret.NewPeppers([]secret.Text{pgtest.Pepper}))(w)
	passwords := secret.NewPasswords(w.peppers, secret.Cost{MemoryKiB: 64, Time: 1, Threads: 1}, 2, 16)
	w.access = &access.Service{
		Pool: w.owner, Peppers: w.peppers, TokenLifetime: time.Hour, SessionLifetime: 8 * time.Hour, SessionIdle: time.Hour, Now: time.Now,
	}
	w.reg = &registry.Registry{Pool: w.owner, Region: value(phone.NewRegion("NG"))(w), Passwords: passwords, PasswordMin: 8, Now: time.Now}
	w.people = value(server.OpenPeople(config.Config{}, w.owner, w.peppers, w.access, w.reg, passwords))(w)
}

const thiefNumber = 234_803_100_0000 // the first of ten lines, every other of which had its SIM swapped

func (w *thiefWorld) lines() {
	w.Helper()
	rows := value(numbering.ReadCSV(strings.NewReader("prefix,network,name,allocated,withdrawn\n234803,COBALT,Cobalt,2001-01-01,\n234805,INDIGO,Indigo,2001-01-01,\n")))(w)
	value((&numbering.Service{Pool: w.owner, Now: time.Now}).Set(w.Context(), rows, "the tests", time.Time{}))(w)
	old, now := line.InstantOf(time.Now().AddDate(-3, 0, 0)), line.InstantOf(time.Now().Add(-time.Hour))
	for i := range int64(10) {
		column := []string{"newest", "sim_at"}[i%2]
		w.sql(`INSERT INTO line_now (number, version, baseline, network, state, bits, state_since, tenure_start, `+column+`)
			SELECT $1, 1, 1, id, $2, 0, $3, $3, $4 FROM network WHERE name = 'COBALT'`, thiefNumber+i, line.StateActive, old, now)
	}
	// Indigo has not supplied anything for a year.
	w.sql(`INSERT INTO supply_coverage (network, topic, known_since, supplied_through, updated_at)
		SELECT id, topic, now() - interval '2 years', CASE name WHEN 'COBALT' THEN now() ELSE now() - interval '1 year' END, now() FROM network, generate_series(1, 2) topic`)
	w.sql(`INSERT INTO line_now (number, version, baseline, network, state, bits, state_since, tenure_start, newest)
		SELECT 2348051000000, 1, 1, id, $1, 0, $2, $2, $2 FROM network WHERE name = 'INDIGO'`, line.StateActive, old)
}

// organisations: harbour is the thief's own bank, delta is robbed, closed is suspended,
// spent has used up its quota, and the guard has stopped halted.
func (w *thiefWorld) organisations() {
	w.Helper()
	ctx := w.Context()
	for i, name := range []string{"Harbour Bank", "Delta Bank", "Closed Bank", "Spent Bank", "Halted Bank"} {
		e := value(w.reg.CreateRelyingParty(ctx, name, "RC "+string(rune('1'+i)), access.Operator, uuid.Nil))(w)
		w.ids[strings.ToLower(strings.Fields(name)[0])] = e.ID
	}
	telco := value(w.access.CreateClient(ctx, access.ClientForm{Name: "Telco", Scopes: []string{"entity:onboard", "document:upload"}}, access.Operator, uuid.Nil))(w)
	feeder := value(w.access.CreateClient(ctx, access.ClientForm{Name: "Delta feeder", Scopes: []string{"line:supply"}, Network: "COBALT"}, access.Operator, uuid.Nil))(w)
	w.ids["telco"], w.ids["feeder"] = telco.ID, feeder.ID
	w.texts["telco secret"], w.texts["feeder secret"] = telco.Secret.Reveal(), feeder.Secret.Reveal()
	for name, c := range map[string]access.NewClient{"telco": telco, "feeder": feeder, "old": telco} {
		token := value(w.access.IssueToken(ctx, c.ID.String(), c.Secret, nil))(w)
		w.texts[name+" token"] = token.Text.Reveal()
	}
	w.must(w.access.RevokeToken(ctx, telco.ID.String(), telco.Secret, secret.Text(w.texts["old token"]), w.from(), uuid.Nil))
	gone := value(w.access.AddSecret(ctx, telco.ID, "", access.Operator, uuid.Nil))(w)
	w.texts["old secret"], w.ids["old secret"] = gone.Text.Reveal(), gone.ID
	w.must(w.access.RevokeSecret(ctx, telco.ID, gone.ID, access.Operator, uuid.Nil))
}

// person creates an account with a password.
func (w *thiefWorld) person(name, kind, entity, role string) {
	w.Helper()
	id := uuid.New()
	hash := value(w.reg.HashPassword(w.Context(), id, "password", thiefPassword))(w)
	email := strings.ReplaceAll(name, " ", ".") + "@bank.example"
	w.sql(`INSERT INTO account (id, kind, entity_id, role, name, email, email_key, password_hash, verified_at, verified_by, created_at)
		VALUES ($1, $2, $3, nullif($4, ''), $5, $6, $6, $7, now(), 'email', now())`, id, kind, pg.ID(w.ids[entity]), role, name, email, hash)
	w.ids[name], w.texts[name+" email"] = id, email
}

func (w *thiefWorld) persons() {
	w.Helper()
	w.person("ada", "staff", "", "administrator")
	w.person("bola", "staff", "", "administrator")
	w.person("rita", "staff", "", "reviewer")
	w.person("member", "member", "harbour", "")
	w.person("admin", "admin", "harbour", "")
	w.person("leaver", "member", "harbour", "")
	w.person("delta admin", "admin", "delta", "")
	w.person("closed admin", "admin", "closed", "")
	w.person("guarded", "member", "harbour", "") // the thief has the password and not the authenticator
	for _, name := range []string{"guarded", "ada", "bola"} {
		w.factor(name)
	}
	a := value(w.reg.Account(w.Context(), w.owner, w.ids["leaver"]))(w)
	w.texts["leaver session"] = w.session("leaver", false)
	w.must(w.people.DisableAccount(w.Context(), a, "left", access.Operator, uuid.Nil))
}

// factor enables two-factor authentication of a person.
func (w *thiefWorld) factor(name string) {
	w.Helper()
	who := access.Principal{Kind: access.Session, Account: w.ids[name]}
	e := value(w.people.BeginFactor(w.Context(), who, uuid.Nil))(w)
	w.texts[name+" factor"] = e.Secret.Reveal()
	codes := value(w.people.ConfirmFactor(w.Context(), who, w.code(name, 0), uuid.Nil))(w)
	w.texts[name+" recovery"] = codes[0].Reveal()
}

// session opens a session of a person, of the portal or the API.
func (w *thiefWorld) session(name string, portal bool) string {
	w.Helper()
	var s access.NewSession
	w.tx(func(tx pg.Tx) (err error) {
		s, err = w.access.OpenSession(w.Context(), tx, access.SessionForm{Account: w.ids[name], Portal: portal, From: w.from()})
		return err
	})
	w.ids[name+" session"] = s.ID
	return s.Text.Reveal()
}
