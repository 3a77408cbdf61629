package supply_test

import (
	"fmt"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/line/linestore"
)

// lineTables are the tables that reports change. Columns that differ from run to run
// are left out; the order of the events is that within each number.
var lineTables = map[string]string{
	"line_now": `SELECT * FROM line_now ORDER BY number`,
	"line_event": `SELECT number, row_number() OVER (PARTITION BY number ORDER BY seq) AS n, effective, supplier, import, kind, authority, network, peer,
		code, bits, hold, until, ended_after, base_import, base_network, base_state, base_bits, base_since, base_tenure, base_sim, base_until,
		target IS NULL, event_id, note FROM line_event ORDER BY number, n`,
	"line_open":       `SELECT number, row_number() OVER (PARTITION BY number ORDER BY seq) AS n, outcome, hold, network FROM line_open ORDER BY number, n`,
	"supply_coverage": `SELECT network, topic, known_since, complete_since, supplied_through, doubtful FROM supply_coverage ORDER BY network, topic`,
	"network_lines":   `SELECT network, lines FROM network_lines WHERE lines <> 0 ORDER BY network`,
	"supply_day":      `SELECT * FROM supply_day ORDER BY network, day, kind`,
}

// importTables are the tables about imports.
var importTables = map[string]string{
	"supply_import": `SELECT id, network, supplier, kind, as_of, state, phase, reason, rows, file_digest, added, changed, unchanged, ended, duplicates,
		no_effect, waiting, ported_out, refused, voided FROM supply_import ORDER BY id`,
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

// wantUnchangedLines is wantUnchanged for the lines and their events alone.
func (k *importEnv) wantUnchangedLines(fn func()) {
	k.t.Helper()
	tables := map[string]string{"line_now": lineTables["line_now"], "line_event": lineTables["line_event"], "line_open": lineTables["line_open"]}
	before := k.dump(tables)
	fn()
	if diff := cmp.Diff(before, k.dump(tables)); diff != "" {
		k.t.Errorf("a line has changed (-before +after):\n%s", diff)
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
	audit, err := linestore.Replay(k.t.Context(), k.Pool, func(linestore.ReplayReport) {})
	if err != nil || !audit.OK() {
		return fmt.Sprintf("the replay finds %+v, %v", audit, err)
	}
	wrong := k.count(`SELECT count(*) FROM (SELECT network, count(*) AS lines FROM line_now WHERE state BETWEEN 1 AND 4 GROUP BY network) l
		FULL JOIN (SELECT network, lines FROM network_lines WHERE lines <> 0) c USING (network) WHERE l.lines IS DISTINCT FROM c.lines`)
	if wrong > 0 {
		return fmt.Sprintf("the lines of %d networks are not counted correctly", wrong)
	}
	return ""
}

// reset deletes everything that was reported.
func (k *importEnv) reset() {
	k.t.Helper()
	// The tables have few rows: deleting them is faster than creating a new database.
	_, err := k.admin.Exec(k.t.Context(), `DELETE FROM line_now; DELETE FROM line_event; DELETE FROM line_open; DELETE FROM supplier; DELETE FROM supply_coverage;
		DELETE FROM supply_coverage_history; DELETE FROM line_order; DELETE FROM network_lines; DELETE FROM supply_day; DELETE FROM supply_import; DELETE FROM supply_refused; ALTER TABLE supplier ALTER id RESTART; ALTER TABLE supply_import ALTER id RESTART`)
	if err != nil {
		k.t.Fatal(err)
	}
}
