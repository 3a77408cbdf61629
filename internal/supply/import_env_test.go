package supply_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/policy"
	"github.com/lineproof/lineproof/internal/supply"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

const (
	snapshotHeader = "number,tenureStart,simChangedAt,state,stateSince\n"
	eventsHeader   = "id,number,type,effectiveAt,network,level,reason,churnAt,voids,note\n"
)

// console is the regulator's staff at the command line.
var console = audit.Actor{Kind: audit.Operator}

// importEnv is an env for imports of files. Admin may read and delete everything.
type importEnv struct {
	*env

	admin *pgxpool.Pool
	chunk int // rows in one transaction; 0 leaves it to the service
}

func newImportEnv(t *testing.T) *importEnv {
	t.Helper()
	s := newEnv(t)
	return &importEnv{env: s, admin: pgtest.Open(t, s.Pool.Config().ConnString(), "")}
}

// at returns the time some days before now.
func (k *importEnv) at(days int) time.Time { return k.clock.AddDate(0, 0, -days) }

// snapshotOf returns a snapshot file with these rows.
func snapshotOf(rows ...string) string { return snapshotHeader + strings.Join(rows, "\n") + "\n" }

// eventsOf returns an events file with these rows.
func eventsOf(rows ...string) string { return eventsHeader + strings.Join(rows, "\n") + "\n" }

// active is the row of an ACTIVE line whose tenure began on a date.
func active(i int, since string) string { return number(i) + "," + since + ",,ACTIVE," }

// actives are the rows of count ACTIVE lines, starting with the number of index
// from.
func actives(from, count int) []string {
	rows := make([]string, count)
	for i := range rows {
		rows[i] = active(from+i, "2024-02-03")
	}
	return rows
}

// source is a file with this content.
func (k *importEnv) source(content string) supply.Source {
	return supply.Source{Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }}.InChunks(k.chunk)
}

// create creates an import of MTN, which must succeed.
func (k *importEnv) create(f supply.ImportForm) supply.Import {
	k.t.Helper()
	im, err := k.Begin(k.t.Context(), operator("MTN"), f, "cli")
	if err != nil {
		k.t.Fatal(err)
	}
	return im
}

// run runs an import, which must then be in a state.
func (k *importEnv) run(im supply.Import, content, want string) supply.Import {
	k.t.Helper()
	im, err := k.Run(k.t.Context(), im.ID, k.source(content), nil)
	if err != nil {
		k.t.Fatal(err)
	}
	if im.State != want {
		k.t.Fatalf("the import is %s (%s), want %s: %+v", im.State, im.Reason, want, im.Counts)
	}
	return im
}

// importFile creates an import and runs it until it is applied. Staff confirms it
// if it is held.
func (k *importEnv) importFile(f supply.ImportForm, content string) supply.Import {
	k.t.Helper()
	im, err := k.Run(k.t.Context(), k.create(f).ID, k.source(content), nil)
	if err != nil {
		k.t.Fatal(err)
	}
	if im.State == supply.Held {
		if im, err = k.Confirm(k.t.Context(), im.ID, console); err != nil {
			k.t.Fatal(err)
		}
	}
	return k.run(im, content, supply.Finished)
}

// cancel cancels an import that is held or stopped.
func (k *importEnv) cancel(im supply.Import) {
	k.t.Helper()
	im, err := k.Cancel(k.t.Context(), im.ID, console)
	if err != nil || im.State != supply.Cancelled || im.Finished.IsZero() {
		k.t.Fatalf("cancel: %s, %v", im.State, err)
	}
}

// wantCounts compares the counts of an import.
func (k *importEnv) wantCounts(im supply.Import, want supply.Counts) {
	k.t.Helper()
	if diff := cmp.Diff(want, im.Counts); diff != "" {
		k.t.Errorf("counts (-want +got):\n%s", diff)
	}
}

// refused returns the report of rejected rows, one string for each.
func (k *importEnv) refused(im supply.Import) []string {
	k.t.Helper()
	var b bytes.Buffer
	if err := k.RefusedRows(k.t.Context(), im, &b); err != nil {
		k.t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) == 0 || strings.Join(rows[0], ",") != "line,column,reason" {
		k.t.Fatalf("the report is not CSV with a header: %v, %v", rows, err)
	}
	list := []string{}
	for _, r := range rows[1:] {
		list = append(list, strings.Join(r, " "))
	}
	return list
}

// wantRefused compares the report of rejected rows of an import.
func (k *importEnv) wantRefused(im supply.Import, want ...string) {
	k.t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), k.refused(im)); diff != "" {
		k.t.Errorf("rejected rows (-want +got):\n%s", diff)
	}
}

// events returns the stored events of a number, in the order in which they were
// reported: the kind, the time, the code, and for an inferred end the time after
// which it was.
func (k *importEnv) events(written string) []string {
	k.t.Helper()
	list := []string{}
	for _, e := range k.history(written).Events {
		words := e.Kind.String() + " " + e.Effective.Time().Format(time.RFC3339)
		if e.Code != 0 {
			words += " " + e.Code.String()
		}
		if e.EndedAfter != line.Never {
			words += " after " + e.EndedAfter.Time().Format(time.RFC3339)
		}
		list = append(list, words)
	}
	return list
}

func (k *importEnv) history(written string) *line.History {
	k.t.Helper()
	n := k.parse(written)
	h, err := line.Histories(k.t.Context(), k.Pool, []phone.Number{n}, map[phone.Number]line.Row{n: k.row(written)})
	if err != nil {
		k.t.Fatal(err)
	}
	return h[n]
}

// wantEvents compares the stored events of a number.
func (k *importEnv) wantEvents(written string, want ...string) {
	k.t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), k.events(written)); diff != "" {
		k.t.Errorf("events of %s (-want +got):\n%s", written, diff)
	}
}

// lineTables are the tables that reports change. Columns that differ from run to run
// are left out; the order of the events is that within each number.
var lineTables = map[string]string{
	"line_now": `SELECT * FROM line_now ORDER BY number`,
	"line_event": `SELECT number, row_number() OVER (PARTITION BY number ORDER BY seq) AS n, effective, supplier, import, kind, authority, network, peer,
		code, base_network, base_state, until, after, base_import, base_tenure, base_sim, base_since, voids IS NULL, event_id, note
		FROM line_event ORDER BY number, n`,
	"supply_coverage": `SELECT network, known_since, complete_since, supplied_through, lines FROM supply_coverage ORDER BY network`,
	"supply_day":      `SELECT * FROM supply_day ORDER BY network, day, kind`,
}

// importTables are the tables about imports.
var importTables = map[string]string{
	"supply_import": `SELECT id, network, supplier, kind, as_of, state, phase, reason, rows, file_digest, added, changed, unchanged, ended, duplicates,
		no_effect, ported_out, refused FROM supply_import ORDER BY id`,
	"supply_refused": `SELECT * FROM supply_refused ORDER BY import, place, field`,
}

// dump returns the content of tables.
func (k *importEnv) dump(of map[string]string) map[string][]string {
	k.t.Helper()
	all := map[string][]string{}
	for name, statement := range of {
		rows, err := k.admin.Query(k.t.Context(), statement)
		if err != nil {
			k.t.Fatal(err)
		}
		all[name], err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
			values, err := row.Values()
			return fmt.Sprint(values...), err
		})
		if err != nil {
			k.t.Fatal(err)
		}
	}
	return all
}

// wantUnchanged runs fn, which must not change lineTables.
func (k *importEnv) wantUnchanged(what string, fn func()) {
	k.t.Helper()
	before := k.dump(lineTables)
	fn()
	if diff := cmp.Diff(before, k.dump(lineTables)); diff != "" {
		k.t.Errorf("%s changed something (-before +after):\n%s", what, diff)
	}
}

// wantConsistent checks that every row is what its events make, and that the lines of
// every network are counted correctly.
func (k *importEnv) wantConsistent() {
	k.t.Helper()
	if wrong := k.inconsistency(); wrong != "" {
		k.t.Error(wrong)
	}
}

// inconsistency returns what wantConsistent finds wrong, or nothing.
func (k *importEnv) inconsistency() string {
	k.t.Helper()
	audit, err := line.Replay(k.t.Context(), k.Pool, func(line.ReplayReport) {})
	if err != nil || !audit.OK() {
		return fmt.Sprintf("the replay finds %+v, %v", audit, err)
	}
	wrong := k.count(`SELECT count(*) FROM (SELECT network, count(*) AS lines FROM line_now WHERE state BETWEEN 1 AND 4 GROUP BY network) l
		FULL JOIN (SELECT network, lines FROM supply_coverage WHERE lines <> 0) c USING (network) WHERE l.lines IS DISTINCT FROM c.lines`)
	if wrong > 0 {
		return fmt.Sprintf("the lines of %d networks are not counted correctly", wrong)
	}
	return ""
}

// reset deletes everything that was reported.
func (k *importEnv) reset() {
	k.t.Helper()
	// The tables have few rows: deleting them is faster than creating a new database.
	_, err := k.admin.Exec(k.t.Context(), `DELETE FROM line_now; DELETE FROM line_event; DELETE FROM supplier; DELETE FROM supply_coverage; DELETE FROM supply_day;
		DELETE FROM supply_import; DELETE FROM supply_refused; ALTER TABLE supplier ALTER id RESTART; ALTER TABLE supply_import ALTER id RESTART`)
	if err != nil {
		k.t.Fatal(err)
	}
}

// raiseHoldLimit lets a snapshot change almost half of the lines before it is held.
func (k *importEnv) raiseHoldLimit() {
	k.t.Helper()
	p := policy.Defaults()
	p.HoldPercent, p.Note = 49, "for a test"
	policies := &policy.Service{Pool: k.Pool, Now: func() time.Time { return k.clock }}
	if _, err := policies.Set(k.t.Context(), p); err != nil {
		k.t.Fatal(err)
	}
}

// coverage returns the coverage of MTN.
func (k *importEnv) coverage() line.Coverage {
	k.t.Helper()
	n, _ := k.plan.Network("MTN")
	lookup, err := k.Lines.Lookup(k.t.Context(), k.Pool, k.parse(number(0)), k.clock)
	if err != nil {
		k.t.Fatal(err)
	}
	return lookup.Coverage(n)
}

// withClock returns the service with a clock that calls fn whenever it is read.
func (k *importEnv) withClock(fn func()) *supply.Service {
	d := *k.Service
	d.Now = func() time.Time { fn(); return k.clock }
	return &d
}

// stopAfter runs an import until the clock has been read reads times, and reports
// whether the run was stopped before it ended.
func (k *importEnv) stopAfter(im supply.Import, src supply.Source, reads int) (supply.Import, bool) {
	k.t.Helper()
	ctx, stop := context.WithCancel(k.t.Context())
	defer stop()
	d := k.withClock(func() {
		if reads--; reads == 0 {
			stop()
		}
	})
	got, err := d.Run(ctx, im.ID, src, nil)
	if err != nil && ctx.Err() == nil {
		k.t.Fatal(err)
	}
	return got, err != nil
}

// item returns an event from "TYPE date REASON".
func (k *importEnv) item(number, words string) supply.Item {
	k.eventCount++
	i := supply.Item{ID: fmt.Sprint("w", k.eventCount), PhoneNumber: number}
	for n, word := range strings.Fields(words) {
		switch n {
		case 0:
			i.Type = word
		case 1:
			i.EffectiveAt = word
		case 2:
			i.Reason = word
		}
	}
	return i
}
