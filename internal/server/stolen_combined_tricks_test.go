package server_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pause"
)

// wholeRows are attempts to delete all rows of a table, or to store a copy of each that
// belongs to somebody else.
func (w *thiefWorld) wholeRows() (attempts []thiefAttempt) {
	w.Helper()
	for _, table := range w.tables() {
		attempts = append(attempts, thiefAttempt{
			family: "delete", name: table, before: []thiefStep{{sql: `DELETE FROM ` + table}}, tables: []string{table},
		})
		var columns []string
		rows, err := w.owner.Query(w.Context(), `SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped
			AND atttypid = 'uuid'::regtype`, table)
		w.must(err)
		for rows.Next() {
			var name string
			w.must(rows.Scan(&name))
			columns = append(columns, name)
		}
		w.must(rows.Err())
		fresh := ""
		for _, c := range columns {
			if c == "id" {
				fresh = "id = gen_random_uuid(); "
			}
		}
		for _, c := range columns {
			for _, owner := range []string{"harbour", "ada"} {
				if c == "id" {
					continue
				}
				attempts = append(attempts, thiefAttempt{
					family: "copy", name: fmt.Sprintf("%s.%s = %s", table, c, owner), tables: []string{table},
					before: []thiefStep{{sql: w.fill(w.copyRow(table, fresh+c+" = {"+owner+"}; mac = sha256('"+c+"'); email_key = 'x'; phone = NULL; seq = seq + 1000")) + ` LIMIT 1`}},
				})
			}
		}
	}
	return append(attempts, w.liveRows()...)
}

// liveRows are attempts to delete the rows of the tables of which the node has the end.
func (w *thiefWorld) liveRows() (attempts []thiefAttempt) {
	w.Helper()
	rows, err := w.owner.Query(w.Context(), `SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
		AND relname ~ $1 AND has_table_privilege('lineproof_serve', oid, 'DELETE') ORDER BY 1`, thiefLive)
	for _, table := range value(pgx.CollectRows(rows, pgx.RowTo[string]))(w) {
		attempts = append(attempts, thiefAttempt{
			family: "delete", name: table, before: []thiefStep{{sql: `DELETE FROM ` + table}},
			column: &thiefColumn{table: table, name: "*", update: true, live: true},
		})
	}
	w.must(err)
	return attempts
}

// tricks are statements that change no row by themselves: settings of the login, objects of
// its own, locks, notifications, other sessions, files of the server, and jobs.
func (w *thiefWorld) tricks() (attempts []thiefAttempt) {
	w.Helper()
	add := func(family, name string, sql ...string) *thiefAttempt {
		a := thiefAttempt{family: family, name: name, tables: []string{"session"}}
		for _, s := range sql {
			a.before = append(a.before, thiefStep{sql: w.fill(s)})
		}
		attempts = append(attempts, a)
		return &attempts[len(attempts)-1]
	}
	// A new connection of the service begins with what its login is set to.
	for _, set := range []string{
		"search_path = 'pg_temp, public'", "client_min_messages = error", "timezone = 'Pacific/Kiritimati'", "datestyle = 'German'", "intervalstyle = 'sql_standard'",
		"bytea_output = escape", "extra_float_digits = -15", "default_transaction_isolation = 'read uncommitted'", "row_security = off", "standard_conforming_strings = off",
		"synchronous_commit = off", "transform_null_equals = on", "session_replication_role = replica", "check_function_bodies = off", "role = 'lineproof_owner'",
		"session_authorization = 'postgres'", "quote_all_identifiers = on", "backslash_quote = on", "lo_compat_privileges = on",
	} {
		a := add("login", set, `ALTER ROLE `+w.role+` SET `+set)
		a.before = append(a.before, thiefStep{sql: `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = session_user AND application_name <> 'thief' AND pid <> pg_backend_pid()`},
			thiefStep{do: func(w *thiefWorld) string { w.awaitService(); return "" }})
		a.after = []thiefStep{
			{sql: `ALTER ROLE ` + w.role + ` RESET ALL`},
			{sql: `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = session_user AND application_name <> 'thief' AND pid <> pg_backend_pid()`},
			{do: func(w *thiefWorld) string { w.awaitService(); return "" }},
		}
	}
	for _, sql := range []string{
		`CREATE TEMP TABLE session (LIKE public.session)`, `CREATE TABLE public.session2 (a int)`, `CREATE SCHEMA thief`, `CREATE EXTENSION dblink`,
		`CREATE FUNCTION public.now() RETURNS timestamptz LANGUAGE sql AS 'SELECT timestamptz ''2000-01-01'''`, `CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE sql AS 'SELECT 1'`,
		`CREATE RULE r AS ON INSERT TO audit DO INSTEAD NOTHING`, `CREATE TRIGGER t BEFORE INSERT ON session FOR EACH ROW EXECUTE FUNCTION row_summed()`,
		`ALTER TABLE session DISABLE TRIGGER ALL`, `ALTER TABLE session DISABLE TRIGGER row_summed`, `DROP TRIGGER row_summed ON session`, `ALTER FUNCTION row_summed() SET search_path = public`,
		`GRANT lineproof_owner TO CURRENT_USER`, `SET ROLE lineproof_owner`, `SET SESSION AUTHORIZATION postgres`, `SET session_replication_role = replica`,
		`GRANT ALL ON session TO PUBLIC`, `CREATE POLICY p ON session`, `TRUNCATE audit`, `DELETE FROM audit`, `UPDATE audit SET at = now()`, `UPDATE journal_entry SET at = now()`,
		`COPY session TO PROGRAM 'cat'`, `COPY session FROM '/etc/passwd'`, `SELECT pg_read_file('/etc/passwd')`, `SELECT lo_import('/etc/passwd')`, `SELECT pg_ls_dir('.')`,
		`SELECT pg_reload_conf()`, `ALTER SYSTEM SET fsync = off`, `CREATE PUBLICATION p FOR ALL TABLES`, `SELECT pg_create_logical_replication_slot('x', 'pgoutput')`,
		`SELECT journal_drop_day(current_date)`, `SELECT log_drop_day(current_date)`, `SELECT journal_make_day(current_date + 9000)`, `SELECT log_note_all()`, `CREATE DATABASE thief`,
		`SELECT setval('line_event_seq', 1)`, `SELECT setval('journal_epoch', 1)`, `SELECT line_delete_baselines(1, 0, 9000000000000)`, `PREPARE TRANSACTION 'x'`,
		`UPDATE access_channel SET name = 'x'`, `UPDATE guard_key SET key = '\x00'`, `INSERT INTO feed_epoch VALUES (false, 1, now())`, `UPDATE journal_erased SET at = now()`,
		`INSERT INTO supplier SELECT * FROM supplier LIMIT 1`, `SECURITY LABEL ON ROLE postgres IS 'x'`, `SELECT pg_promote()`, `SELECT pg_switch_wal()`, `SELECT lo_create(4711)`,
	} {
		add("object", sql, sql)
	}
	for _, payload := range []string{"session:{admin session}", "account:{ada}", "entity:{delta}", "key:{old key}", "client:{telco}", "token:{telco}", "x", "session:"} {
		add("notify", payload, `SELECT pg_notify(name, $$`+payload+`$$) FROM access_channel`)
	}
	for _, channel := range []string{"river_control", "river_insert", "river_leadership", "river_queue", "lineproof_lines"} {
		for _, payload := range []string{"", `{"action":"pause","queue":"*"}`, `{"action":"cancel","job_id":1}`} {
			add("notify", channel+" "+payload, `SELECT pg_notify('`+channel+`', '`+payload+`')`)
		}
	}
	for _, lock := range []string{"lineproof policy", "lineproof schema", "lineproof journal partitions", "lineproof partitions of refused requests"} {
		attempts = append(attempts, thiefAttempt{family: "lock", name: lock, tables: []string{"session"}, before: []thiefStep{{do: func(w *thiefWorld) string { return w.holdLock(lock) }}}})
	}
	return append(attempts, w.jobs()...)
}

// awaitService waits until the service has connections again.
func (w *thiefWorld) awaitService() {
	w.Helper()
	p := thiefProbe{method: "GET", path: thiefStaff + "/sessions", bearer: w.texts["admin session"]}
	for range 100 {
		if status, _ := w.send(&p); status < 500 {
			return
		}
		pause.For(w.Context(), 50*time.Millisecond)
	}
}

// holdLock holds an advisory lock of the service while the requests are sent.
func (w *thiefWorld) holdLock(name string) string {
	w.Helper()
	tx, err := w.login.Begin(w.Context())
	w.must(err)
	defer func() { w.must(tx.Rollback(context.WithoutCancel(w.Context()))) }()
	_, err = tx.Exec(w.Context(), `SELECT pg_advisory_xact_lock(hashtextextended('`+name+`', 0))`)
	w.must(err)
	for i, reply := range w.probeAll() {
		if gain := w.gained(&w.probes[i], w.baseline[i], reply); gain != "" {
			return gain
		}
	}
	return ""
}

// jobs are jobs that the thief queues for the workers of the service.
func (w *thiefWorld) jobs() (attempts []thiefAttempt) {
	w.Helper()
	for _, kind := range []string{
		"scan_document", "count_answers", "chain_audit", "renew_rows", "sweep_documents", "notify_work", "make_partitions", "scan_waiting", "forget_expired", "notify_expiry",
		"record_failures", "note_reach", "send_letter", "accept_rows", "exec",
	} {
		for _, args := range []string{`{}`, `{"document":"{delta document}","account":"{ada}","letter":"reset","message":"{delta document}"}`} {
			args = strings.NewReplacer("{ada}", w.ids["ada"].String(), "{delta document}", w.ids["delta document"].String()).Replace(args)
			attempts = append(attempts, thiefAttempt{family: "job", name: kind + " " + w.named(args), tables: []string{"session"}, before: []thiefStep{
				{sql: `UPDATE session SET account_id = account_id`}, // something that renew_rows must not sign
				{sql: `INSERT INTO river_job (kind, args, max_attempts, queue, state, scheduled_at) VALUES ($1, $2, 1, 'default', 'available', now())`, args: []any{kind, args}},
				{sql: `SELECT pg_notify('river_insert', '{"queue":"default"}')`},
				{do: func(w *thiefWorld) string { pause.For(w.Context(), 30*time.Millisecond); return "" }},
			}})
		}
	}
	return attempts
}
