package journal

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/archivefile"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Archive is the database's record of an archived day.
type Archive = archivefile.Archive

// Archives lists the archives of the days from one to another, both included,
// by day and age. The zero time is no limit. A day has two if something
// was written to it after the first.
func Archives(ctx context.Context, db pg.DB, from, to time.Time) ([]Archive, error) {
	limit := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		t = dayOf(t)
		return &t
	}
	all, err := pg.Collect(ctx, db, func(row pgx.CollectableRow) (a Archive, err error) {
		var sum []byte
		err = row.Scan(&a.Day, &a.Manifest, &sum, &a.Batches, &a.Entries, &a.Logged, &a.Bytes, &a.Root, &a.At)
		a.Day, a.At = a.Day.UTC(), a.At.UTC()
		copy(a.SHA256[:], sum)
		return a, err
	}, `SELECT day::timestamptz, manifest, sha256, batches, entries, logged, bytes, root, archived_at FROM journal_archive
		WHERE day >= coalesce($1::timestamptz::date, '-infinity') AND day <= coalesce($2::timestamptz::date, 'infinity') ORDER BY day, archived_at`,
		limit(from), limit(to))
	return all, fault.Wrap(err, "journal: list archives")
}

// Find returns the record of a request from the database or, if its day was
// archived, from the archive. A record that does not match its hash is
// an error, and so is a missing archive: that a record cannot be read does not
// mean that there is none.
func Find(ctx context.Context, pool *pgxpool.Pool, files blob.Store, requestID uuid.UUID) (record.Entry, error) {
	e, err := Get(ctx, pool, requestID)
	if !errors.Is(err, ErrNotFound) {
		return e, err
	}
	at, ok := record.TimeOf(requestID)
	if !ok {
		return record.Entry{}, ErrNotFound
	}
	archives, err := Archives(ctx, pool, at, at)
	if err != nil {
		return record.Entry{}, err
	}
	for i := range archives {
		found, err := archives[i].Find(ctx, files, requestID, at)
		if err != nil {
			return record.Entry{}, err
		}
		if found != nil {
			return found.Entry, nil
		}
	}
	return record.Entry{}, ErrNotFound
}
