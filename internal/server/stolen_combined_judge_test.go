package server_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access/rowmac"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

// thiefStep is a statement of the thief, or something that they do with requests.
type thiefStep struct {
	sql  string
	args []any
	do   func(*thiefWorld) (gain string) // instead of a statement; what was gained, or ""
}

// thiefAttempt is a row of the table: statements, all requests, statements, all requests.
type thiefAttempt struct {
	family, name  string
	before, after []thiefStep
	as            *pgxpool.Pool // nil is the stolen login
	tables        []string      // that it changes; none means any
}

func (a *thiefAttempt) String() string { return a.family + ": " + a.name }

// thiefVerdict is what an attempt led to.
type thiefVerdict struct {
	attempt *thiefAttempt
	refused error    // by the database
	gains   []string // what the credentials could not do before
	found   []string // by the service's own checks
}

// run tries an attempt, judges it, and restores the database.
func (w *thiefWorld) run(a *thiefAttempt) thiefVerdict {
	w.Helper()
	v := thiefVerdict{attempt: a}
	for _, steps := range [][]thiefStep{a.before, a.after} {
		if v.refused != nil || steps == nil {
			break
		}
		for i := range steps {
			gain, err := w.step(a, &steps[i])
			if err != nil {
				v.refused = err
				break
			}
			v.add(gain)
		}
		w.settle()
		for i, reply := range w.probeAll() {
			v.add(w.gained(&w.probes[i], w.baseline[i], reply))
		}
	}
	if len(v.gains) > 0 {
		v.found = slices.DeleteFunc(w.found(), func(text string) bool { return slices.Contains(w.noise, text) })
	}
	if len(v.gains) > 0 || len(a.tables) == 0 {
		w.restore()
	} else {
		w.restore(a.tables...)
	}
	if len(v.gains) > 0 || a.family == "old row" || a.family == "chain" {
		w.noise = w.found() // the audit trail keeps what an attempt ended, and the row is restored
	}
	return v
}

func (v *thiefVerdict) add(gain string) {
	if gain != "" && !slices.Contains(v.gains, gain) {
		v.gains = append(v.gains, gain)
	}
}

func (w *thiefWorld) step(a *thiefAttempt, s *thiefStep) (gain string, err error) {
	w.Helper()
	if s.do != nil {
		return s.do(w), nil
	}
	pool := w.login
	if a.as != nil {
		pool = a.as
	}
	_, err = pool.Exec(w.Context(), s.sql, s.args...)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "42601" {
		w.Fatalf("%s: %s: %v", a, s.sql, err) // the attempt is wrong
	}
	return "", err
}

// gained says what a reply has that its sender could not have before.
func (w *thiefWorld) gained(p *thiefProbe, was, is thiefReply) string {
	switch {
	case p.readable: // with the login alone
	case is.good() && !was.good():
		return p.name + ": allowed"
	case is.good() && !p.listed && strings.Contains(is.body, thiefCanary) && !strings.Contains(was.body, thiefCanary):
		return p.name + ": shows what belongs to another organisation"
	case is.good() && p.heard && is.body != was.body:
		return p.name + ": another answer about a line"
	}
	return ""
}

// found returns what the commands that look for changes would report: doctor and rows
// check, audit check, journal check and lines check.
func (w *thiefWorld) found() (found []string) {
	w.Helper()
	ctx := w.Context()
	for _, t := range value(rowmac.Check(ctx, w.owner, w.peppers))(w) {
		if len(t.Broken)+len(t.Old) > 0 {
			found = append(found, fmt.Sprintf("rows check: %d of %s, %d old", len(t.Broken), t.Name, len(t.Old)))
		}
	}
	missing, added, err := pg.UnplannedRights(ctx, w.owner)
	w.must(err)
	if len(missing)+len(added) > 0 {
		found = append(found, fmt.Sprintf("doctor: rights %v, %v", missing, added))
	}
	if r := value(audit.CheckChain(ctx, w.owner))(w); len(r.Found) > 0 {
		found = append(found, "audit check: "+r.Found[0].What)
	}
	if r := value((&journal.Checker{Pool: w.owner, Limit: 1}).Check(ctx, time.Time{}, time.Time{}))(w); !r.OK() {
		found = append(found, "journal check")
	}
	if r := value(linestore.Replay(ctx, w.owner, func(linestore.ReplayReport) {}))(w); !r.OK() {
		found = append(found, "lines check")
	}
	return found
}

// thiefTables are those that the service may change and that can be restored while it runs:
// not the append-only ones, nor those of which the running node has the end in memory.
const thiefTables = `SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND NOT c.relispartition
	AND (has_table_privilege('lineproof_serve', c.oid, 'UPDATE') OR has_any_column_privilege('lineproof_serve', c.oid, 'UPDATE')
		OR has_table_privilege('lineproof_serve', c.oid, 'DELETE') OR has_table_privilege('lineproof_serve', c.oid, 'INSERT'))
	AND c.relname !~ '^(audit|journal|log_|river|running|feed_head|guard_seen|outbox_mark)' ORDER BY 1`

func (w *thiefWorld) tables() (names []string) {
	w.Helper()
	rows, err := w.owner.Query(w.Context(), thiefTables)
	w.must(err)
	defer rows.Close()
	for rows.Next() {
		var name string
		w.must(rows.Scan(&name))
		names = append(names, name)
	}
	w.must(rows.Err())
	return names
}

// keep remembers the whole database, and what the credentials can do alone.
func (w *thiefWorld) keep() {
	w.Helper()
	w.sql(`CREATE SCHEMA kept`)
	w.kept = w.tables()
	for _, table := range w.kept {
		w.sql(fmt.Sprintf(`CREATE TABLE kept.%[1]s AS TABLE public.%[1]s`, table))
	}
	w.baseline = w.probeAll()
	w.restore()
	for i, again := range w.probeAll() {
		if gain := w.gained(&w.probes[i], w.baseline[i], again); gain != "" || again.status != w.baseline[i].status {
			w.Fatalf("%s answers differently without an attempt: %d %s\n%v\n%v", w.probes[i].name, again.status, gain, w.baseline[i], again)
		}
	}
	w.restore()
}

// thiefTouched are the tables that requests change.
var thiefTouched = []string{
	"session", "account", "api_key", "client_secret", "access_token", "account_link", "login_trouble", "login_device", "idempotency", "message", "usage_day",
	"row_signed",
}

// restore makes tables as they were, all of them for none, without triggers, and lets the
// node read them again.
func (w *thiefWorld) restore(tables ...string) {
	w.Helper()
	if len(tables) == 0 {
		tables = w.kept
	} else {
		tables = append(tables, thiefTouched...)
	}
	var sql strings.Builder
	sql.WriteString(`SET LOCAL session_replication_role = replica;`)
	for _, table := range tables {
		fmt.Fprintf(&sql, `DELETE FROM public.%[1]s; INSERT INTO public.%[1]s OVERRIDING SYSTEM VALUE SELECT * FROM kept.%[1]s;`, table)
	}
	if _, err := w.owner.Exec(w.Context(), `BEGIN;`+sql.String()+`COMMIT`); err != nil {
		w.Fatal(err)
	}
	ids := make([]string, 0, len(w.ids))
	for _, id := range w.ids {
		ids = append(ids, id.String())
	}
	w.sql(`SELECT pg_notify(name, 'entity:' || id) FROM access_channel, unnest($1::text[]) id`, ids)
	w.settle()
	w.quotaIsSpent()
}

// quotaIsSpent waits until the node refuses the spent key. It reads the usage of the day every
// few seconds, and not when it is notified: what one attempt made of it would be a gain of the next.
func (w *thiefWorld) quotaIsSpent() {
	w.Helper()
	spent := thiefProbe{method: "POST", path: thiefVerify, bearer: w.texts["spent key"], body: `{"phoneNumber":"+2348031000000"}`}
	for begin := time.Now(); w.probe(&spent).good(); pause.For(w.Context(), 100*time.Millisecond) {
		if time.Since(begin) > 30*time.Second {
			w.Fatal("an organisation that has used up its quota is answered")
		}
	}
}

// settle waits until the node has read the notifications of what was done: one that is sent
// now is read after them.
func (w *thiefWorld) settle() {
	w.Helper()
	w.sql(`SELECT pg_notify(name, 'entity:' || $1::text) FROM access_channel`, uuid.Nil.String())
	pause.For(w.Context(), 4*time.Millisecond)
}
