package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/archivefile"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// CheckedDay is a remembered check of a day that has ended.
type CheckedDay struct {
	Day     time.Time
	At      time.Time // when it was checked
	Batches int64
	Entries int64
	Erased  int64
	Found   int64 // the number of findings
}

// remember stores the result of a check of a day that has ended. It is no evidence: the
// owner of the database, who alone can change the journal, can change this, too.
func (c *Checker) remember(ctx context.Context, day time.Time, r *archivefile.Result, root [archivefile.HashBytes]byte) error {
	now := time.Now()
	if c.Remember == nil || now.Before(day.AddDate(0, 0, 1).Add(ArchiveDelay)) {
		return nil
	}
	_, err := c.Remember.Exec(ctx, `INSERT INTO journal_checked (day, checked_at, batches, entries, erased, root, findings) VALUES ($1::timestamptz::date, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (day) DO UPDATE SET checked_at = excluded.checked_at, batches = excluded.batches, entries = excluded.entries, erased = excluded.erased,
			root = excluded.root, findings = excluded.findings`,
		day, now, r.Batches, r.Entries, r.Erased, root[:], r.Found)
	if mayNotWrite(err) {
		return nil // a person who may only read can check, too
	}
	return fault.Wrap(err, "journal: remember the check of a day")
}

// mayNotWrite reports whether a login or a server may only read.
func mayNotWrite(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (e.Code == "42501" || e.Code == "25006")
}

// newDays divides days into those that must be checked and those that a remembered check
// has found whole and that have not changed since.
func (c *Checker) newDays(ctx context.Context, days []time.Time) (check []time.Time, skipped []CheckedDay, err error) {
	remembered := make(map[time.Time]CheckedDay)
	var d CheckedDay
	err = pg.ForEach(ctx, cmp.Or(c.Remember, c.Pool), []any{&d.Day, &d.At, &d.Batches, &d.Entries, &d.Erased, &d.Found}, func() error {
		d.Day, d.At = d.Day.UTC(), d.At.UTC()
		remembered[d.Day] = d
		return nil
	}, `SELECT day::timestamptz, checked_at, batches, entries, erased, findings FROM journal_checked`)
	if err != nil {
		return nil, nil, fmt.Errorf("journal: read remembered checks: %w", err)
	}
	for _, day := range days {
		last, found := remembered[day]
		if found && last.Found == 0 {
			if found, err = last.unchanged(ctx, c.Pool); err != nil {
				return nil, nil, err
			}
		}
		if found && last.Found == 0 {
			skipped = append(skipped, last)
		} else {
			check = append(check, day)
		}
	}
	return check, skipped, nil
}

// unchanged reports whether a day still has as many batches and records as when it was
// checked, and as many erased ones as are marked. Nothing is ever removed from a day, and
// no mark is, so that other batches or marks would be more.
func (d *CheckedDay) unchanged(ctx context.Context, pool *pgxpool.Pool) (bool, error) {
	var batches, entries, marked int64
	err := pool.QueryRow(ctx, `SELECT count(*), coalesce(sum(count), 0) FROM journal_batch`+whereDay(d.Day)).Scan(&batches, &entries)
	if err == nil {
		err = pool.QueryRow(ctx, `SELECT CASE WHEN EXISTS (SELECT FROM journal_erased_day WHERE day = $1::timestamptz::date) THEN $2
			ELSE (SELECT count(*) FROM journal_erased`+whereDay(d.Day)+`) END`, d.Day, entries).Scan(&marked)
	}
	if err != nil {
		return false, fmt.Errorf("journal: compare a day with its remembered check: %w", err)
	}
	return batches == d.Batches && entries == d.Entries && marked == d.Erased, nil
}
