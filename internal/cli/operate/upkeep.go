package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// commitTimeout is how long a commit may take before the service would have refused.
const commitTimeout = 5 * time.Second

// standby checks that a second machine has every record before its answer is sent. A commit
// tells whether that machine confirms: with a name in synchronous_standby_names, PostgreSQL
// waits for it without end.
func (d *databaseChecks) standby(ctx context.Context, atMost time.Duration) {
	const check = "synchronous standby"
	var names string
	if err := d.pool.QueryRow(ctx, `SELECT current_setting('synchronous_standby_names')`).Scan(&names); err != nil {
		d.failQuery(check, err)
		return
	}
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	// An entry in the log that nothing reads, so that there is something to confirm.
	_, err := d.pool.Exec(limited, `SELECT pg_logical_emit_message(true, 'lineproof doctor', '')`)
	took := time.Since(began).Round(100 * time.Microsecond)
	switch {
	case err != nil && ctx.Err() == nil && errors.Is(limited.Err(), context.DeadlineExceeded):
		d.fail(check, fmt.Sprintf("a commit was not confirmed within %s; synchronous_standby_names is %q", atMost, names), "start a standby that is named there: until then nothing is answered")
	case err != nil:
		d.failQuery(check, err)
	case names == "":
		d.risk(check, "synchronous_standby_names is empty: what was recorded since the last archived log is lost with the machine", "run a standby and name it there, see docs/how-to/high-availability.md")
	default:
		d.ok(check, fmt.Sprintf("it confirmed a commit within %s", took))
	}
}

// archive checks that the log is archived, without which no moment can be restored.
func (d *databaseChecks) archive(ctx context.Context) {
	const check = "archive"
	const set = "set up pgBackRest, see docs/how-to/back-up-and-restore.md"
	var mode, command, library string
	var failing bool
	var failed string
	err := d.pool.QueryRow(ctx, `SELECT current_setting('archive_mode'), current_setting('archive_command'), coalesce(current_setting('archive_library', true), ''),
			coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false), coalesce(last_failed_wal, '')
		FROM pg_stat_archiver`).Scan(&mode, &command, &library, &failing, &failed)
	program, _, _ := strings.Cut(strings.TrimSpace(command), " ")
	program = program[strings.LastIndex(program, "/")+1:]
	switch {
	case err != nil:
		d.failQuery(check, err)
	case mode == "off":
		d.risk(check, "archive_mode is off: no moment after the last backup can be restored", set)
	case library == "" && (program == "" || program == "true" || program == ":" || command == "(disabled)"):
		d.risk(check, "archive_command keeps nothing: no moment after the last backup can be restored", set)
	case failing:
		d.fail(check, "the last attempt failed, of "+failed+": the log stays on the database's disk until that is full", "see the database's log, and the repository of the backups")
	default:
		d.ok(check, "the log is archived")
	}
}

// ageLimits are the ages of the oldest transaction id at which to say something. At 2,147
// million PostgreSQL refuses to write.
type ageLimits struct{ warn, fail int64 }

var idAge = ageLimits{warn: 600e6, fail: 1500e6}

// transactionIDs checks that old rows are frozen in time. Autovacuum does so at 200 million,
// unless something holds it back.
func (d *databaseChecks) transactionIDs(ctx context.Context, at ageLimits) {
	const check = "transaction ids"
	const do = "end old transactions and prepared ones (pg_stat_activity, pg_prepared_xacts), drop dead replication slots, and run VACUUM (FREEZE)"
	var age int64
	var where string
	err := d.pool.QueryRow(ctx, `SELECT greatest(age(datfrozenxid)::bigint, mxid_age(datminmxid)::bigint) AS age, datname FROM pg_database ORDER BY age DESC LIMIT 1`).Scan(&age, &where)
	found := fmt.Sprintf("the oldest is %d million old, in %s; at 2,147 million PostgreSQL refuses to write", age/1e6, where)
	switch {
	case err != nil:
		d.failQuery(check, err)
	case age > at.fail:
		d.fail(check, found, do)
	case age > at.warn:
		d.warn(check, found, do)
	default:
		d.ok(check, fmt.Sprintf("the oldest is %d million old, in %s", age/1e6, where))
	}
}

// slotLimits are the bytes of log held back for a replication slot at which to say something.
type slotLimits struct{ warn, fail int64 }

var slotBytes = slotLimits{warn: 4 << 30, fail: 32 << 30}

// slots checks that no replication slot holds the log back until the disk is full.
func (d *databaseChecks) slots(ctx context.Context, at slotLimits) {
	const check = "replication slots"
	rows, err := d.pool.Query(ctx, `SELECT slot_name, active, coalesce(wal_status, ''), coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0)::bigint FROM pg_replication_slots ORDER BY 4 DESC, 1`)
	if err != nil {
		d.failQuery(check, err)
		return
	}
	defer rows.Close()
	total, before := 0, len(d.findings)
	for rows.Next() {
		var name, status string
		var active bool
		var held int64
		if err := rows.Scan(&name, &active, &status, &held); err != nil {
			d.failQuery(check, err)
			return
		}
		total++
		state := "its standby is behind"
		if !active {
			state = "nobody reads from it"
		}
		found := fmt.Sprintf("%s holds %d MiB of the log back, and %s", name, held>>20, state)
		do := "repair the standby, or drop the slot: SELECT pg_drop_replication_slot('" + name + "')"
		switch {
		case status == "lost":
			d.risk(check, name+" has lost its place in the log: its standby has to be copied anew", do)
		case held > at.fail:
			d.fail(check, found, do)
		case held > at.warn:
			d.warn(check, found, do)
		}
	}
	if err := rows.Err(); err != nil {
		d.failQuery(check, err)
		return
	}
	if len(d.findings) == before {
		d.ok(check, fmt.Sprintf("%d, none holds much of the log back", total))
	}
}
