package operate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access/rowmac"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/server/config"
	"github.com/lineproof/lineproof/internal/server/nodes"
	"github.com/lineproof/lineproof/internal/values/secret"
)

const (
	minServer     = 150000 // PostgreSQL 15, in the format of server_version_num
	minDaysAhead  = 2
	clockReadings = 3
)

// databaseChecks checks a database that can be reached.
type databaseChecks struct {
	*report

	pool *pgxpool.Pool
	cfg  config.Config
}

func (d *databaseChecks) run(ctx context.Context) {
	d.server(ctx)
	d.durability(ctx)
	d.standby(ctx, commitTimeout)
	d.archive(ctx)
	d.transactionIDs(ctx, idAge)
	d.slots(ctx, slotBytes)
	d.clock(ctx)
	d.role(ctx)
	d.reader(ctx, maxLag)
	var running []nodes.Node
	if d.schema(ctx) {
		running = d.running(ctx)
		d.rights(ctx)
		d.plannedRights(ctx)
		if peppers := d.pepper(ctx); peppers != nil {
			d.rows(ctx, peppers)
			d.nodes(running, peppers)
		}
		d.partitions(ctx)
		d.databaseDisk(ctx)
	}
	d.connections(ctx, running)
}

// failQuery reports a query that failed.
func (d *databaseChecks) failQuery(check string, err error) {
	d.fail(check, err.Error(), "see the database's log")
}

// pepper checks that the credentials in the database were hashed with the
// configured pepper, which it returns if so.
func (d *databaseChecks) pepper(ctx context.Context) (peppers *secret.Peppers) {
	const check = "credentials"
	if d.cfg.HasPepper() {
		list, err := d.cfg.Peppers()
		if err != nil {
			return nil // already reported by the check of the machine
		}
		if peppers, err = secret.NewPeppers(list); err != nil {
			d.fail(check, err.Error(), "correct LINEPROOF_PEPPERS")
			return nil
		}
	}
	switch err := rowmac.CheckPeppers(ctx, d.pool, peppers); {
	case errors.Is(err, rowmac.ErrPepper):
		d.fail(check, "they were hashed with another pepper, so none of them will be accepted",
			"restore LINEPROOF_DATA/pepper, or set LINEPROOF_PEPPERS to the same list on every node")
	case err != nil:
		d.failQuery(check, err)
	default:
		d.ok(check, "they were hashed with this pepper, or no pepper was used before")
		return peppers
	}
	return nil
}

func (d *databaseChecks) server(ctx context.Context) {
	const check = "database"
	var number int
	var name string
	err := d.pool.QueryRow(ctx, `SELECT current_setting('server_version_num')::int, current_setting('server_version')`).Scan(&number, &name)
	switch {
	case err != nil:
		d.failQuery(check, err)
	case number < minServer:
		d.fail(check, "the server is PostgreSQL "+name, "upgrade it to 15 or newer")
	default:
		d.ok(check, "reachable; PostgreSQL "+name)
	}
}

// durability checks that committed data survives a crash; every guarantee of
// the service depends on it.
func (d *databaseChecks) durability(ctx context.Context) {
	const check = "durability"
	var fsync, pages, commit string
	err := d.pool.QueryRow(ctx, `SELECT current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit')`).
		Scan(&fsync, &pages, &commit)
	switch {
	case err != nil:
		d.failQuery(check, err)
	case fsync != "on" || pages != "on" || commit == "off":
		d.fail(check, fmt.Sprintf("fsync is %s, full_page_writes is %s, synchronous_commit is %s: a crash could lose recorded answers", fsync, pages, commit),
			"set all three to on in postgresql.conf and reload")
	case commit == "local":
		d.warn(check, "synchronous_commit is local: losing the primary could lose recorded answers", "set it to on")
	default:
		d.ok(check, "fsync is on, synchronous_commit is "+commit)
	}
}

// clock compares this machine's clock with the database's. Of several readings
// it uses the one with the shortest round trip, which is the most exact.
func (d *databaseChecks) clock(ctx context.Context) {
	const check = "clock"
	var skew, shortest time.Duration
	for i := range clockReadings {
		reading, roundTrip, err := pg.ClockSkew(ctx, d.pool)
		if err != nil {
			d.failQuery(check, err)
			return
		}
		if i == 0 || roundTrip < shortest {
			skew, shortest = reading, roundTrip
		}
	}
	if skew.Abs() > pg.MaxClockSkew {
		d.fail(check, fmt.Sprintf("it differs from the database's clock by %s", skew.Round(time.Millisecond)), "synchronise both clocks with NTP")
		return
	}
	d.ok(check, fmt.Sprintf("within %s of the database's clock", pg.MaxClockSkew))
}

func (d *databaseChecks) role(ctx context.Context) {
	const check = "role"
	login, role, tooMuch, err := pg.SessionRole(ctx, d.pool)
	if err != nil {
		d.failQuery(check, err)
		return
	}
	if tooMuch {
		d.fail(check, "the service runs as "+role+", which may change the schema or create roles", "set LINEPROOF_DATABASE_ROLE="+pg.Serve)
	} else {
		d.ok(check, "the service runs as "+role)
	}
	// An attacker inside the service can leave its role and use every right of
	// the login.
	var more bool
	err = d.pool.QueryRow(ctx, `SELECT rolsuper OR rolcreaterole OR rolcreatedb
			OR EXISTS (SELECT FROM pg_roles o WHERE o.rolname = $1 AND pg_has_role(session_user, o.oid, 'MEMBER'))
		FROM pg_roles WHERE rolname = session_user`, pg.Owner).Scan(&more)
	switch {
	case err != nil:
		d.failQuery("login", err)
	case more:
		d.warn("login", login+" has more privileges than the service needs", "give the service its own login with only the role "+pg.Serve)
	default:
		d.ok("login", login+" has only the privileges that the service needs")
	}
}

func (d *databaseChecks) schema(ctx context.Context) bool {
	have, want, err := pg.SchemaVersion(ctx, d.pool)
	switch {
	case err != nil:
		d.failQuery("schema", err)
	case have < want:
		d.fail("schema", fmt.Sprintf("version %d, but this program needs %d", have, want), "run: lineproof migrate")
	case have > want:
		d.ok("schema", fmt.Sprintf("version %d, of a newer release; this program needs %d", have, want))
		return true
	default:
		d.ok("schema", fmt.Sprintf("version %d", have))
		return true
	}
	return false
}

// rights checks that the service can add to its evidence and cannot change it.
func (d *databaseChecks) rights(ctx context.Context) {
	const check = "rights"
	var enough, tooMany bool
	err := d.pool.QueryRow(ctx, `SELECT
			bool_and(has_table_privilege(t, 'SELECT') AND has_table_privilege(t, 'INSERT')),
			bool_or(has_table_privilege(t, 'UPDATE') OR has_table_privilege(t, 'DELETE') OR has_table_privilege(t, 'TRUNCATE'))
		FROM unnest(ARRAY['journal_entry', 'journal_batch', 'audit']) t`).Scan(&enough, &tooMany)
	switch {
	case err != nil:
		d.failQuery(check, err)
	case !enough:
		d.fail(check, "the service cannot write the journal or the audit trail", "run: lineproof migrate, and grant "+pg.Serve+" to the login")
	case tooMany:
		d.fail(check, "the service can change what it has recorded", "set LINEPROOF_DATABASE_ROLE="+pg.Serve)
	default:
		d.ok(check, "the service can add to the journal and the audit trail, and can change neither")
	}
}

func (d *databaseChecks) partitions(ctx context.Context) {
	const check = "partitions"
	ahead, err := journal.DaysAhead(ctx, d.pool, time.Now())
	switch {
	case err != nil:
		d.failQuery(check, err)
	case ahead < 0:
		d.fail(check, "the journal has no partition for today", "run: lineproof migrate")
	case ahead < min(minDaysAhead, d.cfg.JournalDaysAhead):
		d.fail(check, fmt.Sprintf("the journal has partitions for only %d days ahead", ahead), "run: lineproof migrate; a running service creates them, so check its job make_partitions")
	default:
		d.ok(check, fmt.Sprintf("the journal has partitions for %d days ahead", ahead))
	}
}
