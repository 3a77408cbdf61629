package server_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
)

// thiefColumn is a column that the login may write, by the database's own catalogue.
type thiefColumn struct {
	table, name, kind string
	update            bool // otherwise it can only be inserted
	nullable          bool // or the database gives it a value
	live              bool // the running node has the end of the table in memory
}

func (c *thiefColumn) String() string { return c.table + "." + c.name }

// thiefLive are the tables that cannot be replaced while a node runs, because it has their
// end in memory: what was done to them is undone row by row.
const thiefLive = `^(audit|journal|log_|river|running|feed_|guard_seen|outbox_mark)`

// written returns every column that the login may update or insert.
func (w *thiefWorld) written() (all []thiefColumn) {
	w.Helper()
	rows, err := w.owner.Query(w.Context(), `SELECT c.relname, a.attname, format_type(a.atttypid, NULL),
			has_column_privilege('lineproof_serve', c.oid, a.attnum, 'UPDATE'), NOT a.attnotnull OR a.attidentity <> '', c.relname ~ $1 OR c.relkind = 'p'
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
		WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped
		AND has_column_privilege('lineproof_serve', c.oid, a.attnum, 'UPDATE, INSERT') ORDER BY 1, a.attnum`, thiefLive)
	w.must(err)
	defer rows.Close()
	for rows.Next() {
		var c thiefColumn
		w.must(rows.Scan(&c.table, &c.name, &c.kind, &c.update, &c.nullable, &c.live))
		all = append(all, c)
	}
	w.must(rows.Err())
	return all
}

// columns are attempts to change each column that the login may change and, where rows are
// signed, to change it back before anybody looks; and to insert a row with such a value
// where the login may do no more.
func (w *thiefWorld) columns() (attempts []thiefAttempt) {
	w.Helper()
	for i := range w.fields {
		c := &w.fields[i]
		for _, to := range w.values(c) {
			a := thiefAttempt{family: "column", name: w.named(fmt.Sprintf("%s = %s", c, to)), tables: []string{c.table}, column: c}
			a.before = []thiefStep{{sql: fmt.Sprintf(`UPDATE %s SET %s = %s`, c.table, c.name, to)}}
			switch {
			case !c.update:
				a.family = "inserted column"
				a.before = []thiefStep{{sql: w.inserted(c, to)}}
			case slices.Contains(pg.SignedTables, c.table):
				a.family = "column and back"
				a.after = []thiefStep{w.putBack(c.table)}
			}
			attempts = append(attempts, a)
		}
	}
	return attempts
}

// thiefFresh are the values of columns that have to differ from row to row.
var thiefFresh = map[string]string{
	"id": "gen_random_uuid()", "approval_id": "(SELECT a.id FROM approval a WHERE a.kind = 'entity.restore')",
	"n": "n + 1000", "idx": "idx + 1000", "seq": "seq + 1000", "version": "version + 1000", "at": "now()", "effective_at": "now()",
}

// inserted returns a statement that stores a copy of a row with a value in one column, under
// a new id, or a row of its own in a table that has none.
func (w *thiefWorld) inserted(c *thiefColumn, to string) string {
	w.Helper()
	changes, some := "", false
	w.must(w.owner.QueryRow(w.Context(), `SELECT EXISTS (SELECT FROM `+c.table+`)`).Scan(&some))
	columns, values := []string{c.name}, []string{to}
	for i := range w.fields {
		o := &w.fields[i]
		switch fresh := thiefFresh[o.name]; {
		case o.table != c.table || o.name == c.name:
		case !some && (!o.nullable || thiefPlain[o.String()] != ""):
			columns, values = append(columns, o.name), append(values, w.plain(o))
		case some && fresh != "" && (o.kind == "uuid") == strings.HasSuffix(o.name, "id"):
			changes += o.name + " = " + fresh + "; "
		}
	}
	if some {
		return w.copyRow(c.table, changes+c.name+" = "+to) + ` LIMIT 1`
	}
	return fmt.Sprintf(`INSERT INTO %s (%s) SELECT %s`, c.table, strings.Join(columns, ", "), strings.Join(values, ", "))
}

// thiefOwners are the ids that columns of a name refer to in the thief's own organisation,
// which is what other columns of ids have.
var thiefOwners = map[string]string{
	"account_id": "member", "key_id": "key", "client_id": "telco", "endpoint_id": "hook", "job": "file", "document_id": "document",
	"request_id": "answer",
	"asked_by":   "ada", "released_by": "ada",
}

// thiefPlain are harmless values of types, as SQL.
var thiefPlain = map[string]string{
	"boolean": "false", "text": "'x'", "bytea": "sha256('x')", "date": "current_date", "jsonb": "'{}'", "inet": "'192.0.2.1'", "xid8": "'3'",
	"pg_snapshot": "'3:3:'", "timestamp with time zone": "now()",

	"document_move.from_state": "'clean'", "document_move.to_state": "'accepted'",
	"guard_alert.entity_id": "{halted}", "guard_alert.kind": "'density'", "guard_alert.level": "'stopped'",
	"legal_hold.number": "2348031000001", "line_change.number": "2348031000001", "numbering_draft.digits": "10",
	"supply_announced.ends_at": "now() + interval '1 day'", "tally_mark.only_one": "true", "erasure.number": "2348031000001",
	"supply_import.log_nonce": "decode(md5('x'), 'hex')",
	"line_open.outcome":       "7",
}

// listed returns the values that the check of a column allows, if it lists them.
func (w *thiefWorld) listed(c *thiefColumn) []string {
	w.Helper()
	rows, err := w.owner.Query(w.Context(), `SELECT quote_literal((regexp_matches(pg_get_constraintdef(k.oid), '''([^'']+)''::text', 'g'))[1])
		FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid AND k.conkey = ARRAY[a.attnum]
		WHERE k.contype = 'c' AND k.conrelid = $1::regclass AND a.attname = $2 AND pg_get_constraintdef(k.oid) ~ 'ARRAY'`, c.table, c.name)
	w.must(err)
	return value(pgx.CollectRows(rows, pgx.RowTo[string]))(w)
}

// plain returns a harmless value of a column, as SQL: the first that its check lists, or one
// of its type that belongs to the thief's own organisation.
func (w *thiefWorld) plain(c *thiefColumn) string {
	w.Helper()
	listed := w.listed(c)
	switch {
	case thiefPlain[c.String()] != "":
		return w.fill(thiefPlain[c.String()])
	case len(listed) > 0:
		return listed[0]
	case c.kind == "uuid" && c.name == "id":
		return "gen_random_uuid()"
	case c.kind == "uuid" && thiefOwners[c.name] != "":
		return w.fill("{" + thiefOwners[c.name] + "}")
	case c.kind == "uuid":
		return w.fill("{harbour}")
	case strings.HasSuffix(c.kind, "[]"):
		return "'{}'"
	case thiefPlain[c.kind] != "":
		return thiefPlain[c.kind]
	}
	return "1"
}

// putBack is the step by which the thief covers their tracks: they have read the rows before.
func (w *thiefWorld) putBack(table string) thiefStep {
	w.Helper()
	var set strings.Builder
	set.WriteString(`row_mac = o.row_mac`)
	for i := range w.fields {
		c := &w.fields[i]
		if c.table == table && c.update && !slices.Contains([]string{"row_sum", "row_mac", "id"}, c.name) {
			fmt.Fprintf(&set, `, %[1]s = o.%[1]s`, c.name)
		}
	}
	id := pg.RowID(table)
	return thiefStep{
		sql:  fmt.Sprintf(`UPDATE %[1]s t SET %[2]s FROM jsonb_populate_recordset(NULL::%[1]s, $1::jsonb) o WHERE t.%[3]s = o.%[3]s`, table, set.String(), id),
		args: []any{w.snapshot(table)},
	}
}

// snapshot returns all rows of a table.
func (w *thiefWorld) snapshot(table string) (rows string) {
	w.Helper()
	w.must(w.owner.QueryRow(w.Context(), `SELECT coalesce(jsonb_agg(t), '[]')::text FROM `+table+` t`).Scan(&rows))
	return rows
}

// thiefValues are what a column of a type is set to, besides the value of another row: what
// lifts limits, what is at the other end of a scale, and what belongs to somebody else.
var thiefValues = map[string][]string{
	"smallint": {"30000", "0", "NULL"}, "integer": {"30000", "0", "NULL"}, "bigint": {"30000", "0", "NULL"}, "double precision": {"30000", "0", "NULL"},
	"timestamp with time zone": {"now() + interval '2 years'", "NULL", "now() - interval '2 years'"},
	"date":                     {"current_date + 700", "NULL", "current_date - 700"},
	"uuid":                     {"{harbour}", "{ada}", "{delta}"},
	"text[]":                   {"'{}'", `'{watch,feed,jobs,entity:onboard,document:upload,line:supply,line:order}'`},
	"bytea":                    {`'\x00'`}, "text": {"''", "NULL"}, "cidr[]": {"'{}'"}, "jsonb": {"'{}'"}, "xid8": {"'3'"},
}

// values are what a column is set to, as SQL.
func (w *thiefWorld) values(c *thiefColumn) (list []string) {
	other := fmt.Sprintf(`(SELECT o.%[1]s FROM %[2]s o WHERE o.%[1]s IS DISTINCT FROM %[2]s.%[1]s LIMIT 1)`, c.name, c.table)
	if !c.update {
		other = fmt.Sprintf(`(SELECT o.%[1]s FROM %[2]s o ORDER BY o.%[1]s DESC LIMIT 1)`, c.name, c.table)
	}
	switch {
	case c.name == "row_sum":
		return []string{`'\x00'`} // a trigger computes it whatever is written
	case c.kind == "boolean" && c.update:
		return []string{"NOT " + c.name}
	case c.kind == "boolean":
		return []string{"true", "false"}
	}
	for _, v := range thiefValues[c.kind] {
		if v != "NULL" || c.nullable {
			list = append(list, w.fill(v))
		}
	}
	if c.kind == "text" {
		if listed := w.listed(c); len(listed) > 0 {
			return listed
		}
	}
	if c.kind != "timestamp with time zone" && !strings.HasSuffix(c.kind, "int") && c.kind != "integer" {
		list = append(list, other)
	}
	return list
}

// named writes names for ids, so that an attempt has the same name every time.
func (w *thiefWorld) named(text string) string {
	for name, id := range w.ids {
		text = strings.ReplaceAll(text, id.String(), name)
	}
	return text
}
