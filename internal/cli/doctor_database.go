package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/config"
	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/secret"
)

const (
	oldestServer  = 150000 // PostgreSQL 15, as server_version_num writes it
	fewDaysAhead  = 2
	clockReadings = 3
)

// databaseCheckup checks a database that answers.
type databaseCheckup struct {
	*checkup

	pool *pgxpool.Pool
	cfg  config.Config
}

func (d *databaseCheckup) examine(ctx context.Context) {
	d.server(ctx)
	d.durability(ctx)
	d.clock(ctx)
	d.role(ctx)
	if d.schema(ctx) {
		d.rights(ctx)
		d.pepper(ctx)
		d.partitions(ctx)
	}
}

// broke reports a question that the database did not answer.
func (d *databaseCheckup) broke(check string, err error) {
	d.fail(check, err.Error(), "see the database's own log")
}

// pepper holds the pepper against the credentials that the database has.
func (d *databaseCheckup) pepper(ctx context.Context) {
	const check = "credentials"
	var peppers *secret.Peppers
	if d.cfg.HasPepper() {
		list, err := d.cfg.Peppers()
		if err != nil {
			return // said before, about the machine
		}
		if peppers, err = secret.NewPeppers(list); err != nil {
			d.fail(check, err.Error(), "correct LINEPROOF_PEPPERS")
			return
		}
	}
	switch err := access.CheckPeppers(ctx, d.pool, peppers); {
	case errors.Is(err, access.ErrPepper):
		d.fail(check, "they were hashed under another pepper, and none of them will be accepted",
			"restore LINEPROOF_DATA/pepper, or set LINEPROOF_PEPPERS to the same list on every node")
	case err != nil:
		d.broke(check, err)
	default:
		d.ok(check, "the pepper is the one that they were hashed under, or the first")
	}
}

func (d *databaseCheckup) server(ctx context.Context) {
	const check = "database"
	var number int
	var name string
	err := d.pool.QueryRow(ctx, `SELECT current_setting('server_version_num')::int, current_setting('server_version')`).Scan(&number, &name)
	switch {
	case err != nil:
		d.broke(check, err)
	case number < oldestServer:
		d.fail(check, "it is PostgreSQL "+name, "the service needs 15 or newer: upgrade it")
	default:
		d.ok(check, "it answers; PostgreSQL "+name)
	}
}

// durability checks that what was committed survives a crash: every promise of
// the service stands on that.
func (d *databaseCheckup) durability(ctx context.Context) {
	const check = "durability"
	var fsync, pages, commit string
	err := d.pool.QueryRow(ctx, `SELECT current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit')`).
		Scan(&fsync, &pages, &commit)
	switch {
	case err != nil:
		d.broke(check, err)
	case fsync != "on" || pages != "on" || commit == "off":
		d.fail(check, fmt.Sprintf("fsync is %s, full_page_writes is %s, synchronous_commit is %s: a crash could lose answers that were given", fsync, pages, commit),
			"set all three to on in postgresql.conf and reload")
	case commit == "local":
		d.warn(check, "synchronous_commit is local: the loss of the primary could lose answers that were given", "set it to on")
	default:
		d.ok(check, "fsync is on, synchronous_commit is "+commit)
	}
}

// clock compares the clocks by the reading with the shortest way, which is the
// most exact.
func (d *databaseCheckup) clock(ctx context.Context) {
	const check = "clock"
	var skew, shortest time.Duration
	for i := range clockReadings {
		reading, way, err := pg.ClockSkew(ctx, d.pool)
		if err != nil {
			d.broke(check, err)
			return
		}
		if i == 0 || way < shortest {
			skew, shortest = reading, way
		}
	}
	if skew.Abs() > pg.MaxClockSkew {
		d.fail(check, fmt.Sprintf("it differs from the database's by %s", skew.Round(time.Millisecond)), "set both clocks by NTP")
		return
	}
	d.ok(check, fmt.Sprintf("within %s of the database's", pg.MaxClockSkew))
}

func (d *databaseCheckup) role(ctx context.Context) {
	const check = "role"
	login, role, tooMuch, err := pg.SessionRole(ctx, d.pool)
	if err != nil {
		d.broke(check, err)
		return
	}
	if tooMuch {
		d.fail(check, "the service runs as "+role+", which may change the schema or make roles", "set LINEPROOF_DATABASE_ROLE="+pg.Serve)
	} else {
		d.ok(check, "the service runs as "+role)
	}
	// Whoever breaks into the service can leave its role for whatever the login
	// may be.
	var more bool
	err = d.pool.QueryRow(ctx, `SELECT rolsuper OR rolcreaterole OR rolcreatedb
			OR EXISTS (SELECT FROM pg_roles o WHERE o.rolname = $1 AND pg_has_role(session_user, o.oid, 'MEMBER'))
		FROM pg_roles WHERE rolname = session_user`, pg.Owner).Scan(&more)
	switch {
	case err != nil:
		d.broke("login", err)
	case more:
		d.warn("login", login+" may do more than the service needs", "give the service a login of its own that is granted "+pg.Serve+" and nothing else")
	default:
		d.ok("login", login+" may do no more than the service needs")
	}
}

func (d *databaseCheckup) schema(ctx context.Context) bool {
	have, want, err := pg.SchemaVersion(ctx, d.pool)
	switch {
	case err != nil:
		d.broke("schema", err)
	case have < want:
		d.fail("schema", fmt.Sprintf("it has version %d, this program needs %d", have, want), "run: lineproof migrate")
	default:
		d.ok("schema", fmt.Sprintf("it has version %d", have))
		return true
	}
	return false
}

// rights checks that the service can write its evidence and cannot alter it.
func (d *databaseCheckup) rights(ctx context.Context) {
	const check = "rights"
	var enough, tooMany bool
	err := d.pool.QueryRow(ctx, `SELECT
			bool_and(has_table_privilege(t, 'SELECT') AND has_table_privilege(t, 'INSERT')),
			bool_or(has_table_privilege(t, 'UPDATE') OR has_table_privilege(t, 'DELETE') OR has_table_privilege(t, 'TRUNCATE'))
		FROM unnest(ARRAY['journal_entry', 'journal_batch', 'audit']) t`).Scan(&enough, &tooMany)
	switch {
	case err != nil:
		d.broke(check, err)
	case !enough:
		d.fail(check, "the service may not write the journal or the audit trail", "run: lineproof migrate, and grant "+pg.Serve+" to the login")
	case tooMany:
		d.fail(check, "the service may alter what it has recorded", "set LINEPROOF_DATABASE_ROLE="+pg.Serve)
	default:
		d.ok(check, "the service may add to the journal and the audit trail, and may alter neither")
	}
}

func (d *databaseCheckup) partitions(ctx context.Context) {
	const check = "partitions"
	ahead, err := journal.DaysAhead(ctx, d.pool, time.Now())
	switch {
	case err != nil:
		d.broke(check, err)
	case ahead < 0:
		d.fail(check, "the journal has none for today", "run: lineproof migrate")
	case ahead < min(fewDaysAhead, d.cfg.JournalDaysAhead):
		d.fail(check, fmt.Sprintf("the journal has them for %d days ahead", ahead), "run: lineproof migrate; a running service makes them by itself, so look for its job make_partitions")
	default:
		d.ok(check, fmt.Sprintf("the journal has them for %d days ahead", ahead))
	}
}
