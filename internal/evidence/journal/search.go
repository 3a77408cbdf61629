package journal

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"github.com/lineproof/lineproof/internal/evidence/archivefile"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// Search finds the records of live keys about some numbers, in the database and in the
// archives, each once. It reads every day once, in its order, and needs little memory.
type Search struct {
	Pool     *pgxpool.Pool
	Files    blob.Store // has the archives
	From, To time.Time  // From is included, To is not
	// Match, called by several goroutines, reports whether a record is looked for.
	Match func(number, version int64) bool
	// Numbers, if there are at most [MaxIndexed], are all that match, and are found by
	// the index of the database and by the filters of the archives. NumbersOn, if set,
	// returns those of a day instead; the day is not read if it returns none.
	Numbers    []int64
	NumbersOn  func(day time.Time) []int64
	EveryMode  bool                // also the records of test keys
	OnProgress func(records int64) // how many were read, or ruled out by a filter; may be nil
	OnErased   func(records int64) // called with erased records of the days that were read, whose number is gone; may be nil
}

// MaxIndexed is for how many numbers the index is used. Each number is looked for in all
// filters of a day; for more numbers it is faster to read the day.
const MaxIndexed = 20

// Run calls each for every record that is found, day by day, and never twice at the
// same time. A damaged record or archive is an error.
func (s *Search) Run(ctx context.Context, each func(*record.Entry) error) error {
	last := s.To.Add(-1)
	archives, err := Archives(ctx, s.Pool, s.From, last)
	days, daysErr := readableDays(ctx, s.Pool)
	if err := cmp.Or(err, daysErr); err != nil {
		return err
	}
	days = within(days, s.From, last)
	for i := range archives {
		days = append(days, archives[i].Day)
	}
	slices.SortFunc(days, time.Time.Compare)
	r := &searchRun{Search: s, each: each, numbers: s.Numbers}
	for _, day := range slices.CompactFunc(days, time.Time.Equal) {
		if s.NumbersOn != nil {
			if r.numbers = s.NumbersOn(day); len(r.numbers) == 0 {
				continue
			}
		}
		if err = r.readDay(ctx, day); errors.Is(err, ErrNoDay) {
			err = r.readArchive(ctx, day)
		}
		if err != nil {
			return fmt.Errorf("journal: search: %w", err)
		}
	}
	return EachReturned(ctx, s.Pool, s.From, s.To, func(e *Returned) error {
		if (s.EveryMode || e.Mode == "live") && !e.Erased() && s.Match(e.Number, e.LineVersion) {
			return each(&e.Entry)
		}
		return nil
	})
}

func (r *searchRun) indexed() bool { return len(r.numbers) > 0 && len(r.numbers) <= MaxIndexed }

// searchRun is one run of a search.
type searchRun struct {
	*Search

	numbers []int64 // of the day
	mu      sync.Mutex
	each    func(*record.Entry) error
	read    int64 // records
}

// found passes records on, and counts those that were read to find them.
func (r *searchRun) found(entries []archivefile.Entry, read int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range entries {
		e := &entries[i]
		if h := e.Hash(); !bytes.Equal(h[:], e.StoredHash) {
			return fmt.Errorf("record %s does not match its hash; it was changed after it was written", e.RequestID)
		}
		if err := r.each(&e.Entry); err != nil {
			return err
		}
	}
	if r.read += read; r.OnProgress != nil {
		r.OnProgress(r.read)
	}
	return nil
}

// readDay reads a day of the database, or returns ErrNoDay.
func (r *searchRun) readDay(ctx context.Context, day time.Time) error {
	return inDaySnapshot(ctx, r.Pool, day, func(tx pg.Tx) error {
		query, args := r.query(day)
		if !r.indexed() && !r.From.After(day) { // it reads the day from the first page to the last
			if _, err := tx.Exec(ctx, `SELECT set_config('enable_seqscan', 'on', true), set_config('synchronize_seqscans', 'off', true)`); err != nil {
				return err
			}
		}
		if r.OnErased != nil {
			var erased int64
			if err := tx.QueryRow(ctx, `SELECT count(*) FROM journal_entry`+whereDay(day)+` AND number = 0 AND mode = 'live'`).Scan(&erased); err != nil {
				return err
			}
			r.OnErased(erased)
		}
		rows, err := tx.Query(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		return r.readRows(rows)
	})
}

func (r *searchRun) query(day time.Time) (sql string, args []any) {
	sql, args = `SELECT `+entryColumns+` FROM journal_entry`+whereDay(day)+` AND at >= $1 AND at < $2`, []any{r.From, r.To}
	if !r.EveryMode {
		sql += ` AND mode = 'live'`
	}
	if r.indexed() {
		sql, args = sql+` AND number = ANY($3)`, append(args, r.numbers)
	}
	return sql, args
}

func (r *searchRun) readRows(rows pgx.Rows) error {
	const number, version, step = 19, 14, 10_000 // two places in entryColumns, and how many rows are passed on at a time
	var entries []archivefile.Entry
	read := int64(0)
	for rows.Next() {
		if read++; read == step {
			if err := r.found(entries, read); err != nil {
				return err
			}
			entries, read = entries[:0], 0
		}
		raw := rows.RawValues()                                                                                  // numbers are eight bytes, big-endian
		if !r.Match(int64(binary.BigEndian.Uint64(raw[number])), int64(binary.BigEndian.Uint64(raw[version]))) { //nolint:gosec // two's complement
			continue
		}
		e, err := scanEntry(rows)
		if err != nil {
			return err
		}
		entries = append(entries, e.Entry)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return r.found(entries, read)
}

// readArchive reads the newest archive of a day, a part on each core. The records of a
// part are passed on when the whole file has proved to be the one that was archived.
func (r *searchRun) readArchive(ctx context.Context, day time.Time) error {
	archives, err := Archives(ctx, r.Pool, day, day)
	if err != nil || len(archives) == 0 {
		return cmp.Or(err, error(ErrNotArchived))
	}
	m, err := archives[len(archives)-1].Open(ctx, r.Files)
	if err != nil {
		return err
	}
	from, to := r.From.UTC().Format(archivefile.TimeFormat), r.To.UTC().Format(archivefile.TimeFormat)
	wanted := func(e *archivefile.Entry) bool {
		return (r.EveryMode || e.Mode == "live") && !e.At.Before(r.From) && e.At.Before(r.To) && r.Match(e.Number, e.LineVersion)
	}
	var filters []archivefile.Filter
	if r.indexed() && !r.EveryMode { // the filters have no numbers of test keys
		// Without its filters the day is read as a whole: that is slow, and complete.
		filters, _ = m.ReadFilters(ctx, r.Files)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, p := range m.Parts {
		if p.Entries == 0 || p.Last < from || p.First >= to {
			continue
		}
		if r.OnErased != nil {
			r.OnErased(p.Erased)
		}
		if filters != nil && !slices.ContainsFunc(r.numbers, filters[i].MayHave) {
			if err := r.found(nil, p.Entries); err != nil {
				return err
			}
			continue
		}
		group.Go(func() error {
			var found []archivefile.Entry
			err := p.ReadWanted(ctx, r.Files, m.Day, i+1, wanted, func(b *archivefile.Batch) error {
				found = append(found, b.Entries...)
				return ctx.Err()
			})
			if err != nil {
				return err
			}
			return r.found(found, p.Entries)
		})
	}
	return group.Wait()
}
