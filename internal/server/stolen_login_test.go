package server_test

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/access/rowmac"
	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// theft is a service whose database login was stolen, with credentials that must not be
// accepted however the database is changed.
type theft struct {
	*twoPeople
	stolen  *pgxpool.Pool // a real login with the rights of the service and without its keys
	super   *pgxpool.Pool
	peppers *secret.Peppers
	gains   map[string]func() bool // what must never be true
	saved   []string               // tables that are put back after each attempt
	tried   int
	outcome map[string]int
}

// What became of an attempt.
const (
	byDatabase = "refused by PostgreSQL"
	byDoctor   = "found by doctor"
	harmless   = "without effect on access"
)

const knownPassword = "quiet-harbour-94"

func newTheft(t *testing.T) *theft {
	t.Helper()
	w := &theft{twoPeople: newTwoPeople(t, nil), outcome: map[string]int{}}
	w.peppers = value(secret.NewPeppers([]secret.Text{pgtest.Pepper}))(t)
	w.people.Access.SessionLifetime, w.people.Access.SessionIdle = time.Hour, time.Hour
	address := value(url.Parse(w.pool.Config().ConnString()))(t)
	w.super = value(pg.Open(t.Context(), address.String(), pg.Options{Conns: 2}))(t)
	t.Cleanup(w.super.Close)
	login := "thief_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	for _, sql := range []string{
		`CREATE ROLE ` + login + ` LOGIN IN ROLE lineproof_serve`,
		`ALTER TABLE journal_batch ENABLE TRIGGER journal_batch_time`, `ALTER TABLE audit ENABLE TRIGGER audit_time`, `CREATE SCHEMA saved`,
	} {
		value(w.super.Exec(t.Context(), sql))(t)
	}
	address.User = url.User(login)
	w.stolen = value(pg.Open(t.Context(), address.String(), pg.Options{Conns: 2}))(t)
	t.Cleanup(func() {
		w.stolen.Close()
		_ = pgtest.Server(t).Admin(t.Context(), `DROP ROLE IF EXISTS `+login)
	})
	w.prepare()
	w.saved = append(slices.Clone(pg.SignedTables), "second_factor", "recovery_code", "row_signed")
	for _, table := range w.saved {
		value(w.super.Exec(t.Context(), fmt.Sprintf(`CREATE TABLE saved.%[1]s AS TABLE public.%[1]s`, table)))(t)
	}
	return w
}

// session opens a session of an account.
func (w *theft) session(account uuid.UUID, limited bool) (s access.NewSession) {
	w.Helper()
	err := pg.InTx(w.Context(), w.pool, func(tx pg.Tx) (err error) {
		s, err = w.people.Access.OpenSession(w.Context(), tx, access.SessionForm{Account: account, Limited: limited})
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return s
}

// prepare makes one of each credential that is not accepted, and what must not be gained.
func (w *theft) prepare() {
	w.Helper()
	t, ctx, a, operator := w.T, w.Context(), w.people.Access, access.Operator
	here := netip.MustParseAddr("192.0.2.1")
	accepted := func(text secret.Text) func() bool {
		return func() bool { _, err := a.Authenticate(ctx, text.Reveal(), here); return err == nil }
	}
	logsIn := func(email string, password secret.Text) func() bool {
		return func() bool {
			_, err := w.people.LogIn(ctx, people.Attempt{Email: email, Password: password, From: here}, uuid.Nil)
			return err == nil
		}
	}
	w.people.EntityFactor = true // as it is by default
	w.exec(`INSERT INTO second_factor (account_id, sealed, confirmed_at, created_at) VALUES ($1, 'x', now(), now())`, w.ada.ID)
	auditor := audit.Actor{Kind: audit.Account, ID: w.account("auditor")}
	gone := value(w.people.Registry.CreateStaff(ctx, registry.StaffForm{Name: "Gone", Email: "gone@regulator.example", Role: "auditor", Password: knownPassword}, operator, uuid.Nil))(t)
	w.exec(`UPDATE account SET disabled_at = now() WHERE id = $1`, gone.ID)
	member := uuid.New()
	w.exec(`INSERT INTO account (id, kind, entity_id, name, email, email_key, verified_at, verified_by, created_at) VALUES ($1, 'member', $2, 'M', 'm@bank.example', 'm@bank.example', now(), 'email', now())`, member, w.entity)
	puppet := w.puppet(w.ada)
	ended, limited, late := w.session(w.bola.ID, false), w.session(w.bola.ID, true), w.session(w.bola.ID, false)
	w.exec(`UPDATE session SET revoked_at = now() WHERE id = $1`, ended.ID)
	w.exec(`UPDATE session SET expires_at = now() - interval '1 minute', proved_at = now() - interval '1 hour' WHERE id = $1`, late.ID)

	key := func(entity uuid.UUID, name string) access.NewKey {
		return value(a.CreateKey(ctx, access.KeyForm{Entity: entity, Name: name, Mode: access.Live}, operator, uuid.Nil))(t)
	}
	suspended := value(w.people.Registry.CreateRelyingParty(ctx, "Suspended Bank", "RC 8", operator, uuid.Nil))(t).ID
	good, revoked, stopped := key(w.entity, "good"), key(w.entity, "revoked"), key(suspended, "of a suspended organisation")
	w.exec(`UPDATE api_key SET revoked_at = now() WHERE id = $1`, revoked.ID)
	w.exec(`UPDATE entity SET status = 'Suspended' WHERE id = $1`, suspended)
	w.exec(`INSERT INTO entity_limit (entity_id, day_numbers, updated_at) VALUES ($1, 10, now())`, w.entity)
	w.exec(`INSERT INTO mandate (id, entity_id, principal, purposes, until, document, created_at, ended_at) VALUES ($1, $2, 'Delta Bank', '{}', now() + interval '1 day', 'Letter 7', now(), now())`, uuid.New(), w.entity)

	client := value(a.CreateClient(ctx, access.ClientForm{Name: "Client", Scopes: []string{"entity:onboard"}}, operator, uuid.Nil))(t)
	dead := value(a.IssueToken(ctx, client.ID.String(), client.Secret, nil))(t)
	w.exec(`UPDATE access_token SET revoked_at = now()`)
	w.exec(`UPDATE client_secret SET waits = true`)
	w.exec(`INSERT INTO approval (id, kind, subject_id, entity_id, details, reason, state, asked_kind, asked_by, asked_at, expires_at)
		VALUES ($1, 'entity.restore', $2, $2, '{}', 'A mistake', 'waiting', 'account', $3, now(), now() + interval '7 days')`, uuid.New(), suspended, w.ada.ID)
	other := uuid.New()
	w.exec(`INSERT INTO approval (id, kind, subject_id, details, reason, state, asked_kind, asked_at, expires_at) VALUES ($1, 'staff.remove', $2, '{}', 'Left', 'waiting', 'operator', now(), now() + interval '7 days')`, other, w.bola.ID)
	w.exec(`INSERT INTO break_glass (approval_id, reason, at) VALUES ($1, 'Nobody is here', now())`, other)
	w.exec(`INSERT INTO account_link (id, account_id, kind, mac, expires_at, used_at, created_at) VALUES ($1, $2, 'reset', $3, now() + interval '1 hour', now(), now())`,
		uuid.New(), w.bola.ID, w.peppers.Sign(secret.ForLinks, "a link that was used"))
	var waiting uuid.UUID
	if err := w.pool.QueryRow(ctx, `SELECT id FROM approval WHERE kind = 'entity.restore'`).Scan(&waiting); err != nil {
		t.Fatal(err)
	}
	w.gains = map[string]func() bool{
		"a revoked key":                   accepted(revoked.Text),
		"the key of a suspended entity":   accepted(stopped.Text),
		"a session that ended":            accepted(ended.Text),
		"a session that expired":          accepted(late.Text),
		"a revoked token":                 accepted(dead.Text),
		"a password without the code":     logsIn("ada@regulator.example", "quiet-river-9"),
		"a password of another":           logsIn("bola@regulator.example", knownPassword),
		"the login of a disabled account": logsIn("gone@regulator.example", knownPassword),
		"a secret that waits":             func() bool { _, err := a.IssueToken(ctx, client.ID.String(), client.Secret, nil); return err == nil },
		"an auditor who is administrator": func() bool { return registry.CheckAdministrator(ctx, w.pool, auditor) == nil },
		"a puppet who is a second person": func() bool { return registry.CheckIndependent(ctx, w.pool, w.ada, puppet) == nil },
		"one's own request confirmed":     func() bool { _, err := w.approvals.Confirm(ctx, waiting, w.ada, uuid.Nil); return err == nil },
		"a member who creates live keys":  func() bool { return w.people.CheckKeyMaker(ctx, w.pool, member) == nil },
		"a member who supplies lines":     func() bool { return w.people.CheckSupplier(ctx, w.pool, member) == nil },
		"a member without a factor":       func() bool { return w.people.CheckFactor(ctx, member, stepup.Invite) == nil },
		"a link that was used": func() bool {
			return w.people.CompleteReset(ctx, "a link that was used", "quiet-harbour-95", audit.Actor{From: here}, uuid.Nil) == nil
		},
		"a limited session without a factor": func() bool {
			who, err := a.Authenticate(ctx, limited.Text.Reveal(), here)
			return err == nil && !who.Limited
		},
		"a higher limit": func() bool {
			who, err := a.Authenticate(ctx, good.Text.Reveal(), here)
			return err == nil && (who.Limits.DayNumbers != 10 || who.Mode != access.Live)
		},
		"a mandate that ended": func() bool {
			who, err := a.Authenticate(ctx, good.Text.Reveal(), here)
			return err == nil && a.CheckMandate(&who, "Delta Bank") == nil
		},
	}
}

// try lets the thief run a statement, and says what became of it.
func (w *theft) try(sql string) string {
	w.Helper()
	w.tried++
	if _, err := w.stolen.Exec(w.Context(), sql); err != nil {
		if !pg.Refused(err) {
			w.Fatalf("%s: %v", sql, err)
		}
		w.outcome[byDatabase]++
		return byDatabase
	}
	defer w.putBack()
	for name, gained := range w.gains {
		if gained() {
			w.Errorf("%s\ngives: %s", sql, name)
		}
	}
	result := harmless
	for _, table := range value(rowmac.Check(w.Context(), w.super, w.peppers))(w.T) {
		if len(table.Broken)+len(table.Old) > 0 {
			result = byDoctor
		}
	}
	w.outcome[result]++
	return result
}

// putBack restores the tables, without triggers.
func (w *theft) putBack() {
	w.Helper()
	err := pg.InTx(w.Context(), w.super, func(tx pg.Tx) error {
		var sql strings.Builder
		sql.WriteString(`SET LOCAL session_replication_role = replica; DELETE FROM login_trouble; DELETE FROM login_device;`)
		for _, table := range w.saved {
			fmt.Fprintf(&sql, ` DELETE FROM public.%[1]s; INSERT INTO public.%[1]s SELECT * FROM saved.%[1]s;`, table)
		}
		_, err := tx.Exec(w.Context(), sql.String())
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
}
