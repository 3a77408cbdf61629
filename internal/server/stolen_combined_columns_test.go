package server_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lineproof/lineproof/internal/platform/pg"
)

// thiefColumn is a column that the login may write.
type thiefColumn struct{ table, name, kind string }

// columns are attempts to change each column of each table that the login may change, and,
// where rows are signed, to change it back before anybody looks.
func (w *thiefWorld) columns() (attempts []thiefAttempt) {
	w.Helper()
	rows, err := w.owner.Query(w.Context(), `SELECT c.relname, a.attname, format_type(a.atttypid, NULL) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
		WHERE c.relname = ANY($1) AND c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped
		AND has_column_privilege('lineproof_serve', c.oid, a.attnum, 'UPDATE') ORDER BY 1, a.attnum`, w.tables())
	w.must(err)
	defer rows.Close()
	var all []thiefColumn
	for rows.Next() {
		var c thiefColumn
		w.must(rows.Scan(&c.table, &c.name, &c.kind))
		all = append(all, c)
	}
	w.must(rows.Err())
	for _, c := range all {
		if c.name == "row_sum" {
			continue
		}
		for _, to := range w.values(c) {
			a := thiefAttempt{family: "column", name: w.named(fmt.Sprintf("%s.%s = %s", c.table, c.name, to)), tables: []string{c.table}}
			a.before = []thiefStep{{sql: fmt.Sprintf(`UPDATE %s SET %s = %s`, c.table, c.name, to)}}
			if slices.Contains(pg.SignedTables, c.table) {
				a.family = "column and back"
				a.after = []thiefStep{w.putBack(c.table)}
			}
			attempts = append(attempts, a)
		}
	}
	return attempts
}

// putBack is the step by which the thief covers their tracks: they have read the rows before.
func (w *thiefWorld) putBack(table string) thiefStep {
	w.Helper()
	var was string
	w.must(w.owner.QueryRow(w.Context(), `SELECT coalesce(jsonb_agg(t), '[]')::text FROM `+table+` t`).Scan(&was))
	var set strings.Builder
	set.WriteString(`row_mac = o.row_mac`)
	rows, err := w.owner.Query(w.Context(), `SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped
		AND has_column_privilege('lineproof_serve', attrelid, attnum, 'UPDATE') AND attname NOT IN ('row_sum', 'row_mac', 'id')`, table)
	w.must(err)
	defer rows.Close()
	for rows.Next() {
		var name string
		w.must(rows.Scan(&name))
		fmt.Fprintf(&set, `, %[1]s = o.%[1]s`, name)
	}
	w.must(rows.Err())
	id := pg.RowID(table)
	return thiefStep{
		sql:  fmt.Sprintf(`UPDATE %[1]s t SET %[2]s FROM jsonb_populate_recordset(NULL::%[1]s, $1::jsonb) o WHERE t.%[3]s = o.%[3]s`, table, set.String(), id),
		args: []any{was},
	}
}

// values are what a column is set to, as SQL: what lifts limits, what belongs to somebody
// else, and the value of another row.
func (w *thiefWorld) values(c thiefColumn) []string {
	quote := func(name string) string { return "'" + w.ids[name].String() + "'" }
	other := fmt.Sprintf(`(SELECT o.%[1]s FROM %[2]s o WHERE o.%[1]s IS DISTINCT FROM %[2]s.%[1]s LIMIT 1)`, c.name, c.table)
	switch c.kind {
	case "boolean":
		return []string{"NOT " + c.name}
	case "smallint", "integer", "bigint", "double precision":
		return []string{"30000", "0", "NULL"}
	case "timestamp with time zone":
		return []string{"now() + interval '2 years'", "NULL", "now() - interval '2 years'"}
	case "uuid":
		return []string{quote("harbour"), quote("ada"), quote("delta"), other}
	case "text[]":
		return []string{"'{}'", `'{watch,feed,jobs,entity:onboard,document:upload,line:supply,line:order}'`}
	case "bytea":
		return []string{other, `'\x00'`}
	case "text":
		return []string{other, "''", "NULL"}
	case "cidr[]":
		return []string{"'{}'"}
	case "jsonb":
		return []string{"'{}'"}
	}
	return []string{other}
}

// named writes names for ids, so that an attempt has the same name every time.
func (w *thiefWorld) named(text string) string {
	for name, id := range w.ids {
		text = strings.ReplaceAll(text, id.String(), name)
	}
	return text
}
