package server_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pause"
)

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
	w.light()
	w.settle()
	w.allIsRead()
}

// thiefRead are the tables that the node reads every one or two seconds, and not when it is
// notified.
var thiefRead = []string{
	"usage_day", "guard_alert", "guard_year", "guard_entered", "policy", "numbering_plan", "numbering_network", "numbering_range",
}

// allIsRead waits until the node has read those tables again: what one attempt made of them
// would be a gain of the next. It refuses the keys of the organisation that has used up its
// quota and of the one that the guard stopped, and its answers are what they were.
func (w *thiefWorld) allIsRead() {
	w.Helper()
	until := func(what string, done func() bool) {
		w.Helper()
		for begin := time.Now(); !done(); pause.For(w.Context(), 100*time.Millisecond) {
			if time.Since(begin) > 30*time.Second {
				w.Fatalf("the node does not read that %s", what)
			}
		}
	}
	for _, key := range []string{"spent key", "halted key"} {
		p := thiefProbe{method: "POST", path: thiefVerify, bearer: w.texts[key], body: `{"phoneNumber":"+2348031000000"}`}
		until("the "+key+" is refused", func() bool { return !w.probe(&p).good() })
	}
	for i := range w.baseline {
		if p := &w.probes[i]; p.heard {
			until(p.name+" has its answer", func() bool { return w.probe(p) == w.baseline[i] })
		}
	}
}

// thiefBeacon is a credential that nobody attacks on purpose. That the node refuses it after
// it was revoked shows that the node has read every notification before that.
type thiefBeacon struct {
	name, table string
	probe       thiefProbe
	on          bool // the node has accepted it
}

// prepareBeacons makes one of each of two kinds: an attempt that breaks one leaves the other.
func (w *thiefWorld) prepareBeacons() {
	w.Helper()
	w.key("beacon key", "harbour", "live", "watch")
	w.person("beacon", "staff", "", "auditor")
	w.texts["beacon session"] = w.session("beacon", false)
	w.beacons = []*thiefBeacon{
		{name: "beacon key", table: "api_key", probe: thiefProbe{method: "GET", path: "/api/v1/watch-lists", bearer: w.texts["beacon key"]}},
		{name: "beacon session", table: "session", probe: thiefProbe{method: "GET", path: thiefStaff + "/sessions", bearer: w.texts["beacon session"]}},
	}
	w.light()
}

func (w *thiefWorld) notBeacons(ids []uuid.UUID) []uuid.UUID {
	return slices.DeleteFunc(ids, func(id uuid.UUID) bool { return id == w.ids["beacon key"] || id == w.ids["beacon session"] })
}

// light lets the node accept the beacons again, but for one that an attempt has broken.
func (w *thiefWorld) light() {
	w.Helper()
	for _, b := range w.beacons {
		w.sql(`UPDATE `+b.table+` SET revoked_at = NULL WHERE id = $1`, w.ids[b.name])
	}
	for begin, some := time.Now(), false; !some && time.Since(begin) < time.Second; {
		for _, b := range w.beacons {
			b.on = w.probe(&b.probe).good()
			some = some || b.on
		}
	}
}

// settle waits until the node has read the notifications of what was done.
func (w *thiefWorld) settle() {
	w.Helper()
	for _, b := range w.beacons {
		w.sql(`UPDATE `+b.table+` SET revoked_at = now() WHERE id = $1`, w.ids[b.name])
	}
	for _, b := range w.beacons {
		for begin := time.Now(); b.on; pause.For(w.Context(), time.Millisecond) {
			b.on = w.probe(&b.probe).good()
			if time.Since(begin) > 30*time.Second {
				w.Fatalf("the node does not notice that the %s was revoked", b.name)
			}
		}
	}
	w.light()
}

// runLive tries a statement about a table of which the node has the end in memory. It is
// undone row by row; a node that does not answer as before starts again.
func (w *thiefWorld) runLive(a *thiefAttempt) thiefVerdict {
	w.Helper()
	v, ctx := thiefVerdict{attempt: a}, w.Context()
	tx, err := w.login.Begin(ctx)
	w.must(err)
	defer func() { _ = tx.Rollback(ctx) }()
	var was, xact string
	both := `SELECT coalesce(jsonb_agg(t), '[]')::text, pg_current_xact_id()::xid::text FROM ` + a.column.table + ` t`
	w.must(tx.QueryRow(ctx, both).Scan(&was, &xact))
	tag, err := tx.Exec(ctx, a.before[0].sql)
	if err == nil && tag.RowsAffected() > 0 {
		err = tx.Commit(ctx)
	}
	if v.refused, v.rows = err, tag.RowsAffected(); err != nil || v.rows == 0 {
		return v
	}
	w.judge(&v)
	w.look(&v)
	w.undo(a.column, was, xact)
	w.restore("usage_day")
	if !w.asBefore() {
		w.revive()
	}
	if len(v.gains) > 0 {
		w.restore()
		w.noise = w.found()
	}
	return v
}

// undo takes back what a transaction did to a live table, and leaves what the node did.
func (w *thiefWorld) undo(c *thiefColumn, was, xact string) {
	w.Helper()
	var keys []string
	w.must(w.owner.QueryRow(w.Context(), `SELECT coalesce(array_agg(a.attname::text), '{}') FROM pg_index i
		JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey) WHERE i.indisprimary AND i.indrelid = $1::regclass`, c.table).Scan(&keys))
	rows := fmt.Sprintf(`jsonb_populate_recordset(NULL::%s, $1::jsonb) o`, c.table)
	w.must(pgx.BeginFunc(w.Context(), w.owner, func(tx pgx.Tx) (err error) {
		run := func(sql string, args ...any) {
			if err == nil {
				_, err = tx.Exec(w.Context(), sql, args...)
			}
		}
		run(`SET LOCAL session_replication_role = replica`)
		if c.update && len(keys) > 0 && !slices.Contains(keys, c.name) && c.name != "*" {
			same := make([]string, len(keys))
			for i, k := range keys {
				same[i] = "t." + k + " = o." + k
			}
			run(fmt.Sprintf(`UPDATE %[1]s t SET %[2]s = o.%[2]s FROM %[3]s WHERE %[4]s`, c.table, c.name, rows, strings.Join(same, " AND ")), was)
			return err
		}
		run(fmt.Sprintf(`DELETE FROM %s WHERE xmin::text = $1`, c.table), xact)
		if c.update {
			run(fmt.Sprintf(`INSERT INTO %s OVERRIDING SYSTEM VALUE SELECT o.* FROM %s ON CONFLICT DO NOTHING`, c.table, rows), was)
		}
		return err
	}))
}

// asBefore reports whether the node answers a verification and a session as it did.
func (w *thiefWorld) asBefore() bool {
	w.Helper()
	for begin := time.Now(); time.Since(begin) < 3*time.Second; pause.For(w.Context(), 50*time.Millisecond) {
		if is := w.probe(&w.probes[0]); is == w.baseline[0] && w.beacons[1].on {
			return true
		}
		w.light()
	}
	return false
}

// revive starts the node again, on the database as it was.
func (w *thiefWorld) revive() {
	w.Helper()
	w.revived++
	w.server.stop()
	if err := <-w.server.done; err != nil {
		w.Logf("the node ended with %v", err)
	}
	w.server = w.start()
	w.restore()
	if is := w.probe(&w.probes[0]); is != w.baseline[0] {
		w.Fatalf("the node does not answer as before after it was started again: %d %s", is.status, is.body)
	}
}
