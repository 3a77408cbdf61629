package server_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

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
	column        *thiefColumn  // that it writes, if it is about one
}

func (a *thiefAttempt) String() string { return a.family + ": " + a.name }

// thiefVerdict is what an attempt led to.
type thiefVerdict struct {
	attempt *thiefAttempt
	refused error    // by the database
	gains   []string // what the credentials could not do before
	found   []string // by the service's own checks
	rows    int64    // that the thief's statements changed
}

// run tries an attempt, judges it, and restores the database.
func (w *thiefWorld) run(a *thiefAttempt) thiefVerdict {
	w.Helper()
	if a.column != nil && a.column.live {
		return w.runLive(a)
	}
	v := thiefVerdict{attempt: a}
	for _, steps := range [][]thiefStep{a.before, a.after} {
		if v.refused != nil || steps == nil {
			break
		}
		for i := range steps {
			gain, rows, err := w.step(a, &steps[i])
			v.rows += rows
			if err != nil {
				v.refused = err
				break
			}
			v.add(gain)
		}
		if a.column != nil && v.rows == 0 {
			return v // refused, or there is no such row: nothing has changed
		}
		w.judge(&v)
	}
	w.look(&v)
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

// judge sends every request, and adds what is gained.
func (w *thiefWorld) judge(v *thiefVerdict) {
	w.Helper()
	w.settle()
	if c := v.attempt.column; c != nil && slices.Contains(thiefRead, c.table) {
		pause.For(w.Context(), 2500*time.Millisecond)
	}
	for i, reply := range w.probeAll() {
		v.add(w.gained(&w.probes[i], w.baseline[i], reply))
	}
}

// look runs the checks, if something was gained.
func (w *thiefWorld) look(v *thiefVerdict) {
	w.Helper()
	if len(v.gains) > 0 {
		v.found = w.newlyFound()
	}
}

// newlyFound is what the checks find, and did not without an attempt.
func (w *thiefWorld) newlyFound() []string {
	w.Helper()
	return slices.DeleteFunc(w.found(), func(text string) bool { return slices.Contains(w.noise, text) })
}

func (v *thiefVerdict) add(gain string) {
	if gain != "" && !slices.Contains(v.gains, gain) {
		v.gains = append(v.gains, gain)
	}
}

func (w *thiefWorld) step(a *thiefAttempt, s *thiefStep) (gain string, rows int64, err error) {
	w.Helper()
	if s.do != nil {
		return s.do(w), 0, nil
	}
	pool := w.login
	if a.as != nil {
		pool = a.as
	}
	tag, err := pool.Exec(w.Context(), s.sql, s.args...)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "23505" && a.family != "inserted column" && a.column != nil {
		// A value that only one row can have.
		tag, err = pool.Exec(w.Context(), fmt.Sprintf(`%s WHERE ctid = (SELECT max(ctid) FROM %s)`, s.sql, a.column.table), s.args...)
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "42601" {
		w.Fatalf("%s: %s: %v", a, s.sql, err) // the attempt is wrong
	}
	return "", tag.RowsAffected(), err
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
	see := func(command string, nothing bool, err error) { // a row that it cannot read is a finding, too
		if !nothing {
			found = append(found, fmt.Sprint(command, ": ", err))
		}
	}
	for _, t := range value(rowmac.Check(ctx, w.owner, w.peppers))(w) {
		broken, old := w.notBeacons(t.Broken), w.notBeacons(t.Old)
		if len(broken)+len(old) > 0 {
			found = append(found, fmt.Sprintf("rows check: %d of %s, %d old", len(broken), t.Name, len(old)))
		}
	}
	missing, added, err := pg.UnplannedRights(ctx, w.owner)
	w.must(err)
	if len(missing)+len(added) > 0 {
		found = append(found, fmt.Sprintf("doctor: rights %v, %v", missing, added))
	}
	chain, err := audit.CheckChain(ctx, w.owner)
	see("audit check", err == nil && len(chain.Found) == 0, err)
	entries, err := (&journal.Checker{Pool: w.owner, Limit: 1}).Check(ctx, time.Time{}, time.Time{})
	see("journal check", err == nil && entries.OK(), err)
	lines, err := linestore.Replay(ctx, w.owner, func(linestore.ReplayReport) {})
	see("lines check", err == nil && lines.OK(), err)
	return found
}

// thiefTables are those that the service may change and that can be restored while it runs.
const thiefTables = `SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND NOT c.relispartition
	AND (has_table_privilege('lineproof_serve', c.oid, 'UPDATE') OR has_any_column_privilege('lineproof_serve', c.oid, 'UPDATE')
		OR has_table_privilege('lineproof_serve', c.oid, 'DELETE') OR has_table_privilege('lineproof_serve', c.oid, 'INSERT'))
	AND c.relname !~ '` + thiefLive + `' ORDER BY 1`

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
