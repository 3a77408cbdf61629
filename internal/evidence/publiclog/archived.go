package publiclog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/evidence/archivefile"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/logentry"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// ErrUnlogged reports a batch that must be in the log before its day is archived.
var ErrUnlogged = fault.New(fault.IncompatibleState, "The public log does not have every batch of that day yet. Start the service with LINEPROOF_LOG_ORIGIN, wait a minute, and run the command again.")

// Indexes returns the indexes of the batches of a period that are in the database. Those
// from before the log was turned on have none.
func Indexes(ctx context.Context, from pg.DB, since, until time.Time) (map[archivefile.BatchKey]int64, error) {
	all := map[archivefile.BatchKey]int64{}
	h, err := ReadHead(ctx, from)
	if errors.Is(err, ErrOff) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	var key archivefile.BatchKey
	var at time.Time
	var index *int64
	err = pg.ForEach(ctx, from, []any{&key.Epoch, &key.N, &at, &index}, func() error {
		switch {
		case index != nil:
			all[key] = *index
		case at.After(h.Began.Add(MergeDelay)):
			return ErrUnlogged
		}
		return nil
	}, `SELECT b.epoch, b.n, b.at, l.idx FROM journal_batch b LEFT JOIN log_entry l ON l.epoch = b.epoch AND l.n = b.n AND l.at = b.at AND l.at >= $1 AND l.at < $2
		WHERE b.at >= $1 AND b.at < $2`, since, until)
	return all, fault.Wrap(err, "publiclog: read the indexes")
}

// Drop removes the entries about the batches of archived days from the database, and
// returns how many. Their bytes can be made from the archives, which have their indexes.
// The pool must have the rights of the owner.
func Drop(ctx context.Context, from pg.DB) (dropped int64, err error) {
	days, err := pg.Collect(ctx, from, pgx.RowTo[time.Time], `SELECT DISTINCT day::timestamptz FROM journal_archive WHERE logged > 0 ORDER BY 1`)
	if err != nil {
		return 0, fmt.Errorf("publiclog: list archived days: %w", err)
	}
	for _, day := range days {
		there, err := countBatches(ctx, from, day)
		if err != nil {
			return dropped, err
		}
		if there == 0 {
			continue
		}
		var n int64
		if err := from.QueryRow(ctx, `SELECT log_drop_day($1::timestamptz::date)`, day).Scan(&n); err != nil {
			return dropped, fmt.Errorf("publiclog: drop the entries of %s: %w", day.UTC().Format(time.DateOnly), err)
		}
		dropped += n
	}
	return dropped, nil
}

// countBatches returns how many entries about batches of a day the database has.
func countBatches(ctx context.Context, from pg.DB, day time.Time) (n int64, err error) {
	err = from.QueryRow(ctx, `SELECT count(*) FROM log_entry WHERE at >= $1 AND at < $2 AND kind = 1 AND NOT lost`, day, day.AddDate(0, 0, 1)).Scan(&n)
	return n, fault.Wrap(err, "publiclog: count the entries of a day")
}

// archiveReader reads the entries that the database does not have any more from the
// archives of the journal, in the order of the days, which is about that of the entries.
type archiveReader struct {
	from  pg.DB
	files blob.Store
	days  map[time.Time]bool // that were read
	parts []archivedPart     // to be read
	ahead map[int64][]byte   // entries that were read and not yet taken
}

type archivedPart struct {
	archivefile.Part

	day    string
	number int
}

// maxAhead is how many entries may be read before one that is missing is given up: far
// more than the order of batches in an archive differs from that in the log.
const maxAhead = 2_000_000

// take returns an entry, or nil if no archive has it.
func (r *archiveReader) take(ctx context.Context, index int64) ([]byte, error) {
	for {
		if entry, ok := r.ahead[index]; ok {
			delete(r.ahead, index)
			return entry, nil
		}
		if len(r.ahead) > maxAhead {
			return nil, nil
		}
		if len(r.parts) == 0 {
			if err := r.nextDay(ctx); err != nil || len(r.parts) == 0 {
				return nil, err
			}
		}
		if err := r.readPart(ctx); err != nil {
			return nil, err
		}
	}
}

// nextDay opens the next archive whose entries are not in the database.
func (r *archiveReader) nextDay(ctx context.Context) error {
	archives, err := journal.Archives(ctx, r.from, time.Time{}, time.Time{})
	if err != nil {
		return err
	}
	for i, a := range archives {
		replaced := i+1 < len(archives) && archives[i+1].Day.Equal(a.Day)
		if a.Logged == 0 || replaced || r.days[a.Day] {
			continue
		}
		there, err := countBatches(ctx, r.from, a.Day)
		if err != nil {
			return err
		}
		if there >= a.Logged {
			continue
		}
		m, err := a.Open(ctx, r.files)
		if err != nil {
			return err
		}
		r.days[a.Day] = true
		for i, p := range m.Parts {
			r.parts = append(r.parts, archivedPart{p, m.Day, i + 1})
		}
		return nil
	}
	return nil
}

func (r *archiveReader) readPart(ctx context.Context) error {
	p := r.parts[0]
	r.parts = slices.Delete(r.parts, 0, 1)
	none := func(*archivefile.Entry) bool { return false }
	return p.ReadWanted(ctx, r.files, p.day, p.number, none, func(b *archivefile.Batch) error {
		if b.Log == archivefile.NotLogged {
			return nil
		}
		e := logentry.Batch{At: b.At, Epoch: b.Epoch, N: b.N, Count: int32(b.Count), Root: merkle.Hash(b.Root)} //nolint:gosec // a batch is small
		r.ahead[b.Log] = e.Encode()
		return nil
	})
}
