package journal

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Run is consecutive numbers of an epoch that all have a batch.
type Run struct {
	Node         string
	Epoch        int64
	First, Last  int64
	Since, Until time.Time // the earliest and the latest time of its batches
}

// selectRuns finds the runs of the batches that meet a condition. A number that occurs
// twice makes no gap.
func selectRuns(where string) string {
	return `SELECT node, epoch, min(n), max(n), min(at), max(at)
		FROM (SELECT node, epoch, n, at, n - dense_rank() OVER (PARTITION BY node, epoch ORDER BY n) AS run FROM journal_batch` + where + `) b
		GROUP BY node, epoch, run`
}

const selectKeptRuns = `SELECT node, epoch, first, last, first_at, last_at FROM journal_archive_run`

// RunsOfDay returns the numbers of the batches of a day that is in the database.
func RunsOfDay(ctx context.Context, from pg.DB, day time.Time) ([]Run, error) {
	return readRuns(ctx, from, selectRuns(whereDay(day)))
}

// RunsOfEpoch returns the numbers of the batches of an epoch, archived or not.
func RunsOfEpoch(ctx context.Context, from pg.DB, node string, epoch int64) ([]Run, error) {
	const where = ` WHERE node = $1 AND epoch = $2`
	return readRuns(ctx, from, selectRuns(where)+` UNION ALL `+selectKeptRuns+where, node, epoch)
}

// ArchivedRuns returns the numbers of the batches of all archived days but the given ones.
func ArchivedRuns(ctx context.Context, from pg.DB, except []time.Time) ([]Run, error) {
	return readRuns(ctx, from, selectKeptRuns+` WHERE day <> ALL ($1::date[])`, except)
}

func readRuns(ctx context.Context, from pg.DB, sql string, args ...any) ([]Run, error) {
	runs, err := pg.Collect(ctx, from, pgx.RowToStructByPos[Run], sql, args...)
	return runs, fault.Wrap(err, "journal: read the numbers of batches")
}

// keepRuns stores the numbers of a day's batches, so that they are known when the day has
// left the database; it may have left it already.
func keepRuns(ctx context.Context, tx pg.Tx, day time.Time) error {
	_, err := tx.Exec(ctx, `DELETE FROM journal_archive_run WHERE day = $1 AND EXISTS (SELECT FROM journal_batch`+whereDay(day)+`)`, day)
	if err == nil {
		_, err = tx.Exec(ctx, `INSERT INTO journal_archive_run (day, node, epoch, first, last, first_at, last_at) SELECT $1, r.* FROM (`+selectRuns(whereDay(day))+`) r`, day)
	}
	return fault.Wrap(err, "journal: keep the numbers of a day")
}
