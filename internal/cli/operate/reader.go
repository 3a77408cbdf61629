package operate

import (
	"context"
	"fmt"
	"time"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// maxLag is how far a standby may be behind before that is worth a word: archives wait
// for it, and searches miss the newest records.
const maxLag = time.Minute

// reader checks the database that is only read, if one is set. It may lag behind by so
// much.
func (d *databaseChecks) reader(ctx context.Context, lagAllowed time.Duration) {
	const check = "reader"
	pool, err := backend.ConnectReader(ctx, d.cfg)
	if err != nil {
		d.fail(check, err.Error(), "check the login, and that the server runs and can be reached from here")
		return
	}
	if pool == nil {
		return
	}
	defer pool.Close()
	have, want, err := pg.SchemaVersion(ctx, pool)
	if err != nil {
		d.failQuery(check, err)
		return
	}
	var standby bool
	// In seconds. With nothing to replay, a standby is not behind; if it has replayed nothing
	// since its start, it is behind since then.
	var lag float64
	err = pool.QueryRow(ctx, `SELECT pg_is_in_recovery(), extract(epoch FROM clock_timestamp() - coalesce(pg_last_xact_replay_timestamp(), pg_postmaster_start_time()))::float8
		* (pg_last_wal_receive_lsn() IS DISTINCT FROM pg_last_wal_replay_lsn())::int`).Scan(&standby, &lag)
	behind := time.Duration(lag * float64(time.Second)).Round(time.Millisecond)
	switch {
	case err != nil:
		d.failQuery(check, err)
	case have < want: // it may be newer, during an upgrade
		d.fail(check, fmt.Sprintf("schema version %d, but this program needs %d", have, want), "check that LINEPROOF_READ_DATABASE_URL names a standby of the database")
	case !standby:
		d.warn(check, "it is no standby, so that checks and searches load a primary", "name a standby in LINEPROOF_READ_DATABASE_URL")
	case behind > lagAllowed:
		d.warn(check, fmt.Sprintf("it is %s behind: archives wait for it, and searches miss the newest records", behind), "see the standby's log")
	default:
		d.ok(check, "a standby that follows")
	}
}
