package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
)

// unsignedColumns are the columns of signed tables that decide nothing.
var unsignedColumns = map[string]string{
	"account": "name", "session": "from_addr agent last_seen_at", "entity": "cac_class cac_digits status_reason status_since", "entity_limit": "updated_at",
	"mandate": "ended_by", "api_key": "name preview last_used_at last_used_from expiry_notice leak_notice_at revoked_by", "client": "name", "client_secret": "preview last_used_at",
}

// newValues are what the thief writes into a column, by its type. A value that a column
// has already is no attempt.
var newValues = map[string]string{
	"uuid": "gen_random_uuid()", "text": "'administrator'", "boolean": "NOT %s", "timestamp with time zone": "now() + interval '1 year'", "bytea": `sha256('x')`,
	"bigint": "coalesce(%s, 0) + 1000000", "integer": "coalesce(%s, 0) + 1000", "double precision": "coalesce(%s, 0) + 1000", "ARRAY": "'{}'", "jsonb": `'{"role":"administrator"}'`, "inet": "'192.0.2.1'",
}

type attackedColumn struct {
	Table, Name, Type string
	Nullable          bool
}

// Somebody who stole the database login of the service tries more than two hundred
// statements: every column of every row that decides access, new rows, deleted rows, rights,
// triggers, evidence, notifications and jobs. Each is refused by PostgreSQL, is found by
// doctor, or has no effect on access.
func TestStolenServiceLogin(t *testing.T) {
	t.Parallel()
	w := newTheft(t)
	for name, gained := range w.gains {
		if gained() {
			t.Fatalf("%s is given without any attempt", name)
		}
	}
	w.putBack()
	for _, c := range w.columns() {
		w.tryColumn(c)
	}
	for _, table := range pg.SignedTables {
		w.tryRows(table)
	}
	for _, sql := range handWritten {
		w.try(sql)
	}
	for _, sql := range mustBeRefused() {
		if got := w.try(sql); got != byDatabase {
			t.Errorf("%s\nis %s, not %s", sql, got, byDatabase)
		}
	}
	if w.tried < 200 {
		t.Errorf("only %d attempts", w.tried)
	}
	t.Logf("%d attempts: %v", w.tried, w.outcome)
}

func (w *theft) columns() []attackedColumn {
	w.Helper()
	rows, err := w.super.Query(w.Context(), `SELECT table_name::text, column_name::text, data_type::text, is_nullable = 'YES' FROM information_schema.columns
		WHERE table_schema = 'public' AND table_name = ANY($1) ORDER BY table_name, ordinal_position`, pg.SignedTables)
	if err != nil {
		w.Fatal(err)
	}
	return value(pgx.CollectRows(rows, pgx.RowToStructByPos[attackedColumn]))(w.T)
}

// tryColumn writes another value, and none, into a column of every row.
func (w *theft) tryColumn(c attackedColumn) {
	w.Helper()
	other, known := newValues[c.Type]
	if !known {
		w.Fatalf("no value for the type %s of %s.%s", c.Type, c.Table, c.Name)
	}
	if strings.Contains(other, "%s") {
		other = fmt.Sprintf(other, c.Name)
	}
	attempts := []string{fmt.Sprintf(`UPDATE %s SET %s = %s`, c.Table, c.Name, other)}
	if c.Nullable {
		attempts = append(attempts, fmt.Sprintf(`UPDATE %s SET %s = NULL`, c.Table, c.Name))
	}
	if c.Type == "timestamp with time zone" {
		attempts = append(attempts, fmt.Sprintf(`UPDATE %s SET %s = now() - interval '40 days'`, c.Table, c.Name))
	}
	decides := !slices.Contains(strings.Fields(unsignedColumns[c.Table]), c.Name) && c.Name != "row_sum"
	for _, sql := range attempts {
		got := w.try(sql)
		same := strings.HasSuffix(sql, "= NULL") || c.Type == "ARRAY" // may be what is there
		if decides && got == harmless && !same {
			w.Errorf("%s goes unnoticed", sql)
		}
	}
}

// tryRows copies a row, gives a row the HMAC of another, and deletes all.
func (w *theft) tryRows(table string) {
	w.Helper()
	id := pg.RowID(table)
	copied := fmt.Sprintf(`INSERT INTO %[1]s SELECT (jsonb_populate_record(x, jsonb_build_object('%[2]s', gen_random_uuid(), 'mac', '\x' || encode(sha256('y'), 'hex'),
		'email', 'z@example', 'email_key', 'z@example', 'phone', NULL, 'revoked_at', NULL, 'replaces', NULL, 'kind', x_kind.kind))).* FROM (SELECT * FROM %[1]s LIMIT 1) x,
		LATERAL (SELECT coalesce(to_jsonb(x) ->> 'kind', '') AS kind) x_kind`, table, id)
	if got := w.try(copied); got == harmless {
		w.Errorf("a copied row of %s goes unnoticed", table)
	}
	w.try(fmt.Sprintf(`UPDATE %[1]s SET row_mac = (SELECT row_mac FROM %[1]s ORDER BY %[2]s DESC LIMIT 1)`, table, id))
	w.try(fmt.Sprintf(`UPDATE %[1]s SET row_mac = (SELECT row_mac FROM account LIMIT 1)`, table))
	w.try(`DELETE FROM ` + table)
}

// handWritten are attempts at what a thief would want first.
var handWritten = []string{
	`UPDATE account SET password_hash = (SELECT password_hash FROM account WHERE email = 'gone@regulator.example')`,
	`UPDATE account SET password_hash = (SELECT password_hash FROM account WHERE email = 'gone@regulator.example'), row_mac = (SELECT row_mac FROM account WHERE email = 'gone@regulator.example') WHERE email = 'bola@regulator.example'`,
	`UPDATE account SET disabled_at = NULL`,
	`UPDATE account SET role = 'administrator' WHERE kind = 'staff'`,
	`UPDATE account SET makes_keys = true, kind = 'admin' WHERE kind = 'member'`,
	`UPDATE account SET supplies = true WHERE kind = 'member'`,
	`UPDATE account SET has_factor = false`,
	`UPDATE account SET email = 'thief@example.com', email_key = 'thief@example.com' WHERE email = 'ada@regulator.example'`,
	`DELETE FROM second_factor`,
	`UPDATE second_factor SET confirmed_at = NULL`,
	`UPDATE second_factor SET account_id = (SELECT id FROM account WHERE email = 'gone@regulator.example') WHERE account_id = (SELECT id FROM account WHERE email = 'ada@regulator.example')`,
	`WITH f AS (DELETE FROM second_factor RETURNING account_id) UPDATE account SET has_factor = true`,
	`UPDATE second_factor SET wrong_codes = 0, locked_at = NULL, last_step = 0`,
	`UPDATE session SET revoked_at = NULL, expires_at = now() + interval '1 year', limited = false, proved_at = now()`,
	`UPDATE session SET account_id = (SELECT id FROM account WHERE email = 'ada@regulator.example')`,
	`UPDATE api_key SET revoked_at = NULL`,
	`UPDATE api_key SET mac = sha256(mac), entity_id = (SELECT id FROM entity WHERE status = 'Approved' LIMIT 1)`,
	`UPDATE api_key SET mode = 'test'`,
	`UPDATE api_key SET networks = '{}', rate = 100000, burst = 100000`,
	`UPDATE entity SET status = 'Approved'`,
	`UPDATE entity SET client_id = NULL, created_at = now() - interval '5 years'`,
	`UPDATE entity_limit SET day_numbers = 0, year_numbers = 0`,
	`UPDATE mandate SET ended_at = NULL`,
	`UPDATE client SET scopes = '{line:supply,line:order}', network = 'MTN', vouches = true, suspended_at = NULL`,
	`UPDATE client_secret SET waits = false`,
	`UPDATE access_token SET revoked_at = NULL, expires_at = now() + interval '1 year', scopes = '{line:order}'`,
	`UPDATE account_link SET used_at = NULL`,
	`UPDATE account_link SET used_at = NULL, account_id = (SELECT id FROM account WHERE email = 'ada@regulator.example')`,
	`UPDATE approval SET asked_by = (SELECT id FROM account WHERE email = 'bola@regulator.example')`,
	`UPDATE approval SET asked_kind = 'operator', asked_by = NULL`,
	`UPDATE approval SET state = 'given', decided_kind = 'account', decided_by = (SELECT id FROM account WHERE email = 'bola@regulator.example'), decided_at = now()`,
	`UPDATE approval SET subject_id = gen_random_uuid(), details = '{"role":"administrator"}', kind = 'staff.role'`,
	`INSERT INTO break_glass (approval_id, reason, at) SELECT id, 'Nobody is here', now() - interval '2 days' FROM approval ON CONFLICT DO NOTHING`,
	`INSERT INTO access_given (subject_id, by_id, how, before_staff, at) SELECT subject_id, by_id, 'cosigned', false, now() FROM access_given`,
	`INSERT INTO access_given (subject_id, by_id, how, before_staff, at) SELECT subject_id, by_id, 'founder', true, now() FROM access_given`,
	`SELECT pg_notify(name, 'key:' || gen_random_uuid()) FROM access_channel`,
	`NOTIFY lineproof, 'x'`,
	`INSERT INTO river_job (kind, args, max_attempts, queue, state, priority, scheduled_at) VALUES ('send_email', '{}', 5, 'default', 'available', 1, now())`,
	`DELETE FROM login_trouble`,
	`SET client_min_messages = error`,
}

// mustBeRefused are statements that PostgreSQL has to refuse.
func mustBeRefused() []string {
	list := []string{
		`SET ROLE lineproof_owner`, `SET session_replication_role = replica`, `CREATE TABLE public.x (i int)`, `CREATE SCHEMA x`,
		`CREATE FUNCTION public.row_summed() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'`, `CREATE OR REPLACE FUNCTION public.row_changed() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
		`ALTER FUNCTION row_summed() RESET ALL`, `DROP FUNCTION row_summed() CASCADE`, `DROP FUNCTION factor_changed() CASCADE`, `DROP TRIGGER factor_changed ON second_factor`,
		`GRANT lineproof_owner TO CURRENT_USER`, `ALTER ROLE lineproof_serve SUPERUSER`, `CREATE ROLE thief LOGIN`, `ALTER DATABASE postgres SET search_path = x`,
		`COPY account TO PROGRAM 'cat'`, `SELECT pg_read_file('/etc/passwd')`, `SELECT lo_import('/etc/passwd')`, `CREATE EXTENSION pgcrypto`,
		`INSERT INTO audit SELECT (jsonb_populate_record(x, jsonb_build_object('id', gen_random_uuid(), 'at', now() - interval '1 hour'))).* FROM (SELECT * FROM audit LIMIT 1) x`,
		`INSERT INTO audit SELECT (jsonb_populate_record(x, jsonb_build_object('id', gen_random_uuid(), 'at', now() + interval '1 hour'))).* FROM (SELECT * FROM audit LIMIT 1) x`,
		`ALTER TABLE audit DISABLE TRIGGER ALL`, `ALTER TABLE journal_batch DISABLE TRIGGER ALL`, `ALTER TABLE audit DETACH PARTITION x`,
		`UPDATE mandate SET until = now() + interval '1 year', principal = 'Other Bank'`,
	}
	for _, table := range []string{"audit", "journal_entry", "journal_batch"} {
		list = append(list, `DELETE FROM `+table, `UPDATE `+table+` SET at = now()`, `DROP TABLE `+table)
	}
	for _, table := range append(slices.Clone(pg.SignedTables), "second_factor", "audit", "audit_hour", "journal_entry", "journal_batch", "policy", "numbering_plan", "pepper_check", "access_channel") {
		list = append(list, `TRUNCATE `+table, `ALTER TABLE `+table+` DISABLE TRIGGER USER`)
	}
	for _, table := range pg.SignedTables {
		list = append(list, `DROP TRIGGER row_summed ON `+table, `ALTER TABLE `+table+` DROP COLUMN row_mac`)
	}
	return list
}
