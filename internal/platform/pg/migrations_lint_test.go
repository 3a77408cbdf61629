package pg_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// firstAfterRelease is the number of the first migration after release 0.1.0. Those before it made
// the tables of the release and never run on data; those from it on run while nodes serve, on
// hundreds of millions of rows, beside the program of the release before.
const firstAfterRelease = 25

// largeTables have more rows than can be read or locked while nodes serve.
var largeTables = []string{
	"line_now", "line_event", "line_change", "line_open", "line_timer", "journal_entry", "journal_batch", "log_entry", "feed_entry", "hook_attempt",
	"watch_block", "refused_request", "guard_seen", "guard_entered", "supply_refused", "usage_key", "impact_notice",
}

// partitionedTables have partitions.
var partitionedTables = []string{"line_event", "journal_entry", "journal_batch", "log_entry", "feed_entry", "refused_request"}

// A migration rule finds what a statement must not do.
type migrationRule struct {
	bad  *regexp.Regexp
	good *regexp.Regexp // excuses it; may be nil
	all  bool           // also for small tables
	why  string
}

func pattern(s string) *regexp.Regexp { return regexp.MustCompile(`(?is)` + s) }

const tableOf = `(?:ONLY\s+)?(?:public\.)?"?(\w+)"?`

var migrationRules = []migrationRule{
	{pattern(`CREATE\s+(?:UNIQUE\s+)?INDEX\s+.*?\bON\s+` + tableOf), pattern(`INDEX\s+CONCURRENTLY|\bON\s+ONLY\b`), false, "builds an index and blocks writes meanwhile; use CREATE INDEX CONCURRENTLY, or ON ONLY for a partitioned table"},
	{pattern(`ALTER\s+TABLE\s+` + tableOf + `.*\bADD\s+(?:COLUMN\s+)?\w+\s+[^,;]*\bDEFAULT\s+\(?\s*(?:gen_random_uuid|random|clock_timestamp|nextval|uuid_generate\w*)`), nil, false, "rewrites the table, because the default differs from row to row"},
	{pattern(`ALTER\s+TABLE\s+` + tableOf + `.*\bADD\s+(?:COLUMN\s+)?[^,;]*\bGENERATED\b`), nil, false, "rewrites the table for a generated column"},
	{pattern(`ALTER\s+TABLE\s+` + tableOf + `.*\bALTER\s+(?:COLUMN\s+)?\w+\s+(?:SET\s+DATA\s+)?TYPE\b`), nil, false, "may rewrite the table; add a column and fill it instead"},
	{pattern(`ALTER\s+TABLE\s+` + tableOf + `.*\bADD\s+(?:CONSTRAINT\s+\w+\s+)?(?:CHECK|FOREIGN\s+KEY)\b`), pattern(`\bNOT\s+VALID\b`), false, "reads the whole table under a lock; add it NOT VALID, and validate it in the next migration"},
	{pattern(`ALTER\s+TABLE\s+` + tableOf + `.*\bADD\s+(?:CONSTRAINT\s+\w+\s+)?(?:UNIQUE|PRIMARY\s+KEY)\b`), pattern(`USING\s+INDEX`), false, "builds an index under a lock; build it CONCURRENTLY, and add the constraint USING INDEX"},
	{pattern(`ALTER\s+TABLE\s+` + tableOf + `.*\bSET\s+NOT\s+NULL\b`), nil, false, "reads the whole table under a lock; add CHECK (… IS NOT NULL) NOT VALID"},
	{pattern(`ALTER\s+TABLE\s+` + tableOf + `.*\bADD\s+(?:COLUMN\s+)?\w+\s+[^,;]*\bNOT\s+NULL\b`), pattern(`\bDEFAULT\b`), true, "adds a column without a default that must not be null: the program of the release before does not fill it"},
	{pattern(`(?:ALTER\s+TABLE\s+` + tableOf + `.*\b(?:DROP\s+COLUMN|DROP\s+CONSTRAINT|RENAME)\b)`), nil, true, "removes or renames what the program of the release before uses"},
	{pattern(`DROP\s+(?:TABLE|VIEW|FUNCTION|TYPE)\s+(?:IF\s+EXISTS\s+)?` + tableOf), nil, true, "removes what the program of the release before uses"},
	{pattern(`(?:UPDATE|DELETE\s+FROM|INSERT\s+INTO\s+\w+[^;]*\bFROM)\s+` + tableOf), nil, false, "writes or reads a whole table in one transaction; let a job do it in batches"},
	{pattern(`(?:TRUNCATE|VACUUM\s+FULL|CLUSTER|LOCK\s+TABLE|LOCK)\s+(?:TABLE\s+)?` + tableOf), nil, true, "locks the table"},
	{pattern(`REINDEX\s+(?:TABLE|INDEX)\s+` + tableOf), pattern(`CONCURRENTLY`), true, "locks the table; use REINDEX CONCURRENTLY"},
}

// publishedRows are tables of which the public log has the hash of every row with all of its
// columns (log_policy_text and log_plan_text): with a column more, the rows that were published
// would have another hash.
var publishedRows = []string{"policy", "numbering_plan"}

var (
	addsColumn  = pattern(`ALTER\s+TABLE\s+` + tableOf + `\s+(?:.*,\s*)?ADD\s+(?:COLUMN\s+)?(\w+)`)
	dropCheck   = pattern(`\bDROP\s+CONSTRAINT\s+(\w+)\s*,\s*ADD\s+CONSTRAINT\s+(\w+)\s+CHECK\b[^;]*\bNOT\s+VALID\s*$`)
	buildsIndex = pattern(`CREATE\s+(?:UNIQUE\s+)?INDEX\s+CONCURRENTLY\s+(?:IF\s+NOT\s+EXISTS\s+)?(\w+)\s+ON\s+` + tableOf)
	dropsIndex  = pattern(`DROP\s+INDEX\s+CONCURRENTLY\s+IF\s+EXISTS\s+(\w+)`)
	comments    = regexp.MustCompile(`(?m)--.*$`)
	bodies      = regexp.MustCompile(`(?s)\$(\w*)\$.*?\$(\w*)\$`)
	noTx        = regexp.MustCompile(`(?m)^-- \+goose NO TRANSACTION`)
	concurrent  = regexp.MustCompile(`(?i)\bCONCURRENTLY\b`)
	createTable = regexp.MustCompile(`(?is)^CREATE\s+(?:UNLOGGED\s+)?TABLE\s+` + tableOf)
)

// lintMigration returns what is wrong with a migration.
func lintMigration(text string) (found []string) {
	up, _, _ := strings.Cut(text, "-- +goose Down")
	plain := bodies.ReplaceAllString(comments.ReplaceAllString(up, ""), "''") // functions are judged when they are called
	if concurrent.MatchString(plain) && !noTx.MatchString(text) {
		found = append(found, "CONCURRENTLY does not work in a transaction; begin the file with -- +goose NO TRANSACTION")
	}
	var made []string    // tables that this migration creates, which are empty
	var dropped []string // indexes that it drops if they exist
	for statement := range strings.SplitSeq(plain, ";") {
		statement = strings.TrimSpace(statement)
		if m := createTable.FindStringSubmatch(statement); m != nil {
			made = append(made, m[1])
			continue
		}
		found = append(found, lintEvidence(statement)...)
		if m := dropsIndex.FindStringSubmatch(statement); m != nil {
			dropped = append(dropped, m[1])
		}
		found = append(found, lintConcurrent(statement, dropped)...)
		if m := dropCheck.FindStringSubmatch(statement); m != nil && m[1] == m[2] {
			continue // another form of the same check, which a review must find to be wider
		}
		for _, r := range migrationRules {
			m := r.bad.FindStringSubmatch(statement)
			if m == nil || r.good != nil && r.good.MatchString(statement) {
				continue
			}
			if table := m[1]; !slices.Contains(made, table) && (r.all || slices.Contains(largeTables, table)) {
				found = append(found, table+": "+r.why)
			}
		}
	}
	return found
}

// lintEvidence finds columns that would change the hash of what was published.
func lintEvidence(statement string) []string {
	m := addsColumn.FindStringSubmatch(statement)
	if m == nil || strings.EqualFold(m[2], "CONSTRAINT") || strings.EqualFold(m[2], "CHECK") || !slices.Contains(publishedRows, m[1]) {
		return nil
	}
	return []string{m[1] + ": the public log has the hash of its rows with all columns; add a table beside it"}
}

// lintConcurrent finds indexes that cannot be built concurrently, or only once.
func lintConcurrent(statement string, dropped []string) (found []string) {
	m := buildsIndex.FindStringSubmatch(statement)
	if m == nil {
		return nil
	}
	if slices.Contains(partitionedTables, m[2]) {
		found = append(found, m[2]+": is partitioned, where PostgreSQL builds nothing concurrently; use ON ONLY, and for fixed partitions build theirs concurrently and attach them")
	}
	if !slices.Contains(dropped, m[1]) {
		found = append(found, m[1]+": an interrupted build leaves an invalid index, and the next attempt fails; begin with DROP INDEX CONCURRENTLY IF EXISTS "+m[1])
	}
	return found
}

// From the release on, a migration runs while the program of the release before serves, on large
// tables.
func TestMigrationsAfterTheReleaseLetNodesServe(t *testing.T) {
	t.Parallel()
	schema, err := os.ReadFile("../../../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range largeTables {
		if !strings.Contains(string(schema), "CREATE TABLE public."+table+" (") {
			t.Errorf("there is no table %s", table)
		}
	}
	for _, m := range regexp.MustCompile(`(?s)CREATE TABLE public\.(\w+) \([^;]*?\)\nPARTITION BY`).FindAllStringSubmatch(string(schema), -1) {
		if !slices.Contains(partitionedTables, m[1]) {
			t.Errorf("%s is partitioned, and not in partitionedTables", m[1])
		}
	}
	files, err := filepath.Glob("migrations/*.sql")
	next, err2 := filepath.Glob("testdata/next/*.sql") // those that the test of upgrades applies
	if err != nil || err2 != nil || len(files) == 0 || len(next) == 0 {
		t.Fatal("there are no migrations", err, err2)
	}
	files = append(files, next...)
	for _, file := range files {
		number, err := strconv.Atoi(filepath.Base(file)[:5])
		if err != nil {
			t.Fatal(err)
		}
		if number < firstAfterRelease {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, finding := range lintMigration(string(text)) {
			t.Errorf("%s: %s", file, finding)
		}
	}
}

// The check above refuses what blocks or breaks a node that serves, and lets pass what does not.
func TestBadMigrationsAreRefused(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		`CREATE INDEX line_event_at ON line_event (at);`,
		`CREATE INDEX CONCURRENTLY line_now_at ON line_now (newest);`,                                                                             // in a transaction
		"-- +goose NO TRANSACTION\nCREATE INDEX CONCURRENTLY line_now_at ON line_now (newest);",                                                   // not repeatable
		"-- +goose NO TRANSACTION\nDROP INDEX CONCURRENTLY IF EXISTS line_event_at;\nCREATE INDEX CONCURRENTLY line_event_at ON line_event (at);", // partitioned
		`ALTER TABLE policy ADD COLUMN grace_days smallint;`,
		`ALTER TABLE numbering_plan ADD note text;`,
		`ALTER TABLE supply_import DROP CONSTRAINT supply_import_kind_check;`,
		`ALTER TABLE supply_import DROP CONSTRAINT supply_import_kind_check, ADD CONSTRAINT other CHECK (kind <> '') NOT VALID;`,
		`ALTER TABLE line_now ADD COLUMN id uuid DEFAULT gen_random_uuid();`,
		`ALTER TABLE journal_entry ADD COLUMN day date GENERATED ALWAYS AS (at::date) STORED;`,
		`ALTER TABLE public.line_now ALTER COLUMN number TYPE numeric;`,
		`ALTER TABLE line_event ADD CONSTRAINT late CHECK (at > '2000-01-01');`,
		`ALTER TABLE journal_entry ADD CONSTRAINT of_entity FOREIGN KEY (entity_id) REFERENCES entity (id);`,
		`ALTER TABLE line_now ADD CONSTRAINT once UNIQUE (number, network);`,
		`ALTER TABLE journal_entry ALTER COLUMN correlator SET NOT NULL;`,
		`ALTER TABLE entity ADD COLUMN region text NOT NULL;`,
		`ALTER TABLE entity DROP COLUMN name;`,
		`ALTER TABLE entity RENAME COLUMN name TO title;`,
		`DROP TABLE message;`,
		`UPDATE line_now SET network = 1;`,
		`INSERT INTO message (text) SELECT number::text FROM line_now;`,
		`LOCK TABLE entity IN EXCLUSIVE MODE;`,
		`TRUNCATE feed_entry;`,
		`REINDEX TABLE line_event;`,
	} {
		if len(lintMigration("-- +goose Up\n"+bad+"\n-- +goose Down\n")) == 0 {
			t.Errorf("passes: %s", bad)
		}
	}
	for _, good := range []string{
		"-- +goose NO TRANSACTION\n-- +goose Up\nDROP INDEX CONCURRENTLY IF EXISTS line_now_at;\nCREATE INDEX CONCURRENTLY line_now_at ON line_now (newest);",
		"-- +goose Up\nALTER TABLE policy ADD CONSTRAINT positive CHECK (version > 0) NOT VALID;",
		"-- +goose Up\nALTER TABLE supply_import DROP CONSTRAINT kinds, ADD CONSTRAINT kinds CHECK (kind IN ('a', 'b')) NOT VALID;",
		"-- +goose Up\nCREATE INDEX line_event_at ON ONLY line_event (at);",
		"-- +goose Up\nALTER TABLE line_now ADD COLUMN region text NOT NULL DEFAULT '';",
		"-- +goose Up\nALTER TABLE line_event ADD CONSTRAINT late CHECK (at > '2000-01-01') NOT VALID;",
		"-- +goose Up\nALTER TABLE line_event VALIDATE CONSTRAINT late;",
		"-- +goose Up\nCREATE TABLE region (id bigint PRIMARY KEY, name text NOT NULL);\nCREATE INDEX region_name ON region (name);\nALTER TABLE region ADD CHECK (id > 0);",
		"-- +goose Up\nCREATE INDEX ON entity (name);\n-- +goose Down\nDROP TABLE entity;",
		"-- +goose Up\n-- not: DROP TABLE entity;\nCREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN UPDATE line_now SET network = 1; END $$;",
	} {
		if found := lintMigration(good); len(found) > 0 {
			t.Errorf("does not pass: %s: %s", good, found)
		}
	}
}
