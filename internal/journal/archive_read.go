package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/archivefile"
	"github.com/lineproof/lineproof/internal/blob"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/record"
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
	rows, err := db.Query(ctx, `SELECT day::timestamptz, manifest, sha256, batches, entries, bytes, root, archived_at FROM journal_archive
		WHERE day >= coalesce($1::timestamptz::date, '-infinity') AND day <= coalesce($2::timestamptz::date, 'infinity') ORDER BY day, archived_at`,
		limit(from), limit(to))
	if err != nil {
		return nil, fmt.Errorf("journal: list archives: %w", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (a Archive, err error) {
		var sum []byte
		err = row.Scan(&a.Day, &a.Manifest, &sum, &a.Batches, &a.Entries, &a.Bytes, &a.Root, &a.At)
		a.Day, a.At = a.Day.UTC(), a.At.UTC()
		copy(a.SHA256[:], sum)
		return a, err
	})
	if err != nil {
		return nil, fmt.Errorf("journal: list archives: %w", err)
	}
	return all, nil
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
		if e, err = find(ctx, &archives[i], files, requestID, at); !errors.Is(err, ErrNotFound) {
			return e, err
		}
	}
	return record.Entry{}, ErrNotFound
}

// find reads the parts whose period includes a time. There are few of them,
// because records are stored roughly in the order in which they were written.
func find(ctx context.Context, a *Archive, files blob.Store, requestID uuid.UUID, at time.Time) (record.Entry, error) {
	m, err := a.Open(ctx, files)
	if err != nil {
		return record.Entry{}, err
	}
	var found []archivefile.Entry
	text := at.Format(archivefile.TimeFormat)
	for i, p := range m.Parts {
		if p.Entries == 0 || text < p.First || text > p.Last {
			continue
		}
		wanted := func(e *archivefile.EntryLine) bool { return e.RequestID == requestID }
		err := p.ReadWanted(ctx, files, m.Day, i+1, wanted, func(b *archivefile.Batch) error {
			found = append(found, b.Entries...)
			return nil
		})
		if err != nil {
			return record.Entry{}, err
		}
	}
	switch {
	case len(found) == 0:
		return record.Entry{}, ErrNotFound
	case len(found) > 1:
		return record.Entry{}, fmt.Errorf("%w: %d records share one request id", archivefile.ErrDamaged, len(found))
	}
	if hash := found[0].Hash(); !bytes.Equal(hash[:], found[0].StoredHash) {
		return record.Entry{}, fmt.Errorf("%w: the record does not match its hash", archivefile.ErrDamaged)
	}
	return found[0].Entry, nil
}
